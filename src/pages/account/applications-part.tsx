/** Account page with the reader's application memberships. */
import { AppWindow } from 'lucide';
import { useState } from 'preact/hooks';
import { failureOfCode } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { hyphenated } from '../../core/hyphenated.ts';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import type { Membership } from './account-api.ts';
import { useAccount } from './account-context.tsx';
import { dateText, joined } from './words.ts';

type Action = 'inactivate' | 'reactivate' | 'leave';

const STATUS_AFTER = { inactivate: 'inactivated', reactivate: 'active', leave: 'left' } as const;

/** Actions the API lets members take themselves; banned or paused members have none. */
const POSSIBLE: Readonly<Record<string, readonly Action[]>> = {
  active: ['inactivate', 'leave'],
  inactivated: ['reactivate', 'leave'],
  left: ['reactivate'],
};

interface Asked {
  readonly membership: Membership;
  readonly action: 'inactivate' | 'leave';
}

export function ApplicationsPart() {
  const text = useTexts();
  const toast = useToast();
  const { account, api, change, fail } = useAccount();
  const [asked, setAsked] = useState<Asked | null>(null);
  const { memberships, applicationId } = account;

  async function act({ applicationId: id, name: app }: Membership, action: Action): Promise<void> {
    const status = STATUS_AFTER[action];
    const shown = memberships.map((one) => (one.applicationId === id ? { ...one, status } : one));
    const outcome = await change({ memberships: shown }, () =>
      api.send('POST', `/api/account/${action}`, { applicationId: id }),
    );
    setAsked(null);
    if (!outcome.ok) {
      if (action === 'leave' && outcome.code === 'invalid_state')
        toast(text('account.application.workspaceMember', { app }), 'bad');
      return;
    }
    // Leaving this application ended the session of this page.
    if (id === applicationId) return fail(failureOfCode('revoked'));
    toast(text(`account.application.${DONE[action]}`, { app }));
  }

  return (
    <>
      <Section id="applications" lead={text('account.application.lead')}>
        {memberships.length === 0 && <Empty>{text('account.application.none')}</Empty>}
        <Rows>
          {memberships.map((membership) => (
            <MembershipRow
              key={membership.applicationId}
              membership={membership}
              isHere={membership.applicationId === applicationId}
              onAction={(action) =>
                action === 'reactivate' ? void act(membership, action) : setAsked({ membership, action })
              }
            />
          ))}
        </Rows>
      </Section>
      {asked && (
        <LeavingDialog
          {...asked}
          isHere={asked.membership.applicationId === applicationId}
          onConfirm={() => act(asked.membership, asked.action)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

const DONE = { inactivate: 'paused', reactivate: 'resumed', leave: 'left' } as const;

interface MembershipRowProps {
  readonly membership: Membership;
  readonly isHere: boolean;
  onAction(action: Action): void;
}

function MembershipRow({ membership, isHere, onAction }: MembershipRowProps) {
  const text = useTexts();
  const { name, status, username, joinedAt } = membership;
  const statusKey = `account.application.status.${status}`;
  const words = {
    inactivate: text('account.application.pause'),
    reactivate: text(status === 'left' ? 'account.application.rejoin' : 'account.application.resume'),
    leave: text('account.application.leave'),
  };
  return (
    <Row
      icon={<Icon of={AppWindow} />}
      title={
        <>
          {hyphenated(name)} {isHere && <span class="badge">{text('account.application.here')}</span>}
        </>
      }
      detail={joined(
        text.has(statusKey) && text(statusKey),
        username !== null && text('account.application.username', { username }),
        text('account.application.joined', { date: dateText(text, joinedAt) }),
      )}
      action={
        <div class="row-actions">
          {POSSIBLE[status]?.map((action) => (
            <Button
              key={action}
              look="small"
              data-action={action}
              aria-label={text('account.actionFor', { action: words[action], name })}
              onClick={() => onAction(action)}
            >
              {words[action]}
            </Button>
          ))}
        </div>
      }
    />
  );
}

interface LeavingDialogProps extends Asked {
  readonly isHere: boolean;
  onConfirm(): Promise<void>;
  onClose(): void;
}

/** Explains the consequences, which differ between pausing and leaving. */
function LeavingDialog({ membership, action, isHere, onConfirm, onClose }: LeavingDialogProps) {
  const text = useTexts();
  const verb = action === 'leave' ? 'leave' : 'pause';
  const values = { app: membership.name };
  return (
    <ConfirmDialog
      id="leaving-dialog"
      title={text(`account.application.${verb}Title`, values)}
      lead={text(`account.application.${verb}${isHere ? 'HereLead' : 'Lead'}`, values)}
      confirmText={text(`account.application.${verb}`)}
      busyText={text(verb === 'leave' ? 'account.application.leaving' : 'account.application.pausing')}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}
