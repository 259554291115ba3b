/** Lists browser sessions and ends them. */
import { type IconNode, Monitor, MonitorSmartphone, Smartphone, Tablet, Terminal } from 'lucide';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Checkbox } from '../components/checkbox.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { accountFailureText } from './failure-words.ts';
import { hyphenated } from '../../core/hyphenated.ts';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import type { DeviceType } from '../../core/device-name.ts';
import { useAccount } from './account-context.tsx';
import { IpAddress } from './ip-address.tsx';
import { More } from './more.tsx';
import { usePages } from './use-pages.ts';
import { countryOf, dateText, type NamedDevice, deviceText, joined, sinceText } from './words.ts';

interface OwnSession extends NamedDevice {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly application: { readonly id: string; readonly name: string };
  readonly deviceType: DeviceType | null;
  readonly ip: string | null;
  readonly ipCountry: string | null;
  readonly createdAt: string;
  readonly lastSeenAt: string;
}

const ICONS: Readonly<Record<DeviceType, IconNode>> = {
  phone: Smartphone,
  tablet: Tablet,
  computer: Monitor,
  program: Terminal,
};

const PATH = '/api/account/sessions';

interface SessionsSectionProps {
  /** Called when devices were disconnected with the sessions. */
  onDevicesEnded(): void;
}

export function SessionsSection({ onDevicesEnded }: SessionsSectionProps) {
  const text = useTexts();
  const toast = useToast();
  const { api, fail } = useAccount();
  const sessions = usePages<OwnSession>(PATH, true);
  const [isAsking, setIsAsking] = useState(false);
  const [isEndingDevices, setIsEndingDevices] = useState(true);
  const [warning, setWarning] = useState<string | null>(null);
  const { items } = sessions;
  const others = items?.filter(({ isCurrent }) => !isCurrent) ?? [];

  /** Removes the session optimistically, and restores it on failure. */
  async function end(session: OwnSession): Promise<void> {
    const before = items ?? [];
    sessions.set((shown) => shown.filter(({ id }) => id !== session.id));
    const outcome = await api.send('DELETE', `${PATH}/${session.id}`);
    // The session may have ended already.
    if (outcome.ok || outcome.code === 'not_found') return toast(text('account.sessionEnded'));
    sessions.set(() => before);
    fail(outcome);
  }

  async function endOthers(): Promise<void> {
    const path = isEndingDevices ? PATH : `${PATH}?devices=false`;
    const outcome = await api.send<{ revoked: number; devices: number }>('DELETE', path);
    if (!outcome.ok) return setWarning(accountFailureText(text, outcome));
    setIsAsking(false);
    sessions.set((shown) => shown.filter(({ isCurrent }) => isCurrent));
    const { revoked, devices } = outcome.data;
    const ended = text('account.othersEnded', { count: revoked });
    toast(devices > 0 ? `${ended} ${text('account.devicesEnded', { count: devices })}` : ended);
    if (devices > 0) onDevicesEnded();
    await sessions.reload();
  }

  function ask(): void {
    setWarning(null);
    setIsEndingDevices(true);
    setIsAsking(true);
  }

  return (
    <Section id="sessions" title={text('account.sessions')} lead={text('account.sessionsLead')}>
      {items === null && <RowsSkeleton />}
      {items?.length === 0 && <Empty>{text('account.sessionsNone')}</Empty>}
      {items && items.length > 0 && (
        <Rows>
          {items.map((session) => {
            const name = deviceText(text, session);
            return (
              <Row
                key={session.id}
                icon={<Icon of={session.deviceType ? ICONS[session.deviceType] : MonitorSmartphone} />}
                title={
                  <>
                    {hyphenated(name)} {session.isCurrent && <span class="badge">{text('account.thisSession')}</span>}
                  </>
                }
                detail={
                  <>
                    {joined(
                      hyphenated(session.application.name),
                      text('account.signedInOn', { date: dateText(text, session.createdAt) }),
                      !session.isCurrent && text('account.lastActive', { time: sinceText(text, session.lastSeenAt) }),
                      countryOf(session, text.locale),
                    )}
                    <IpAddress of={session.ip} />
                  </>
                }
                action={
                  !session.isCurrent && (
                    <Button
                      look="small"
                      aria-label={text('account.actionFor', { action: text('account.endSession'), name })}
                      onClick={() => void end(session)}
                    >
                      {text('account.endSession')}
                    </Button>
                  )
                }
              />
            );
          })}
        </Rows>
      )}
      <More pages={sessions} />
      {(others.length > 1 || sessions.hasMore) && (
        <div class="settings-actions">
          <Button id="end-others" look="small" onClick={ask}>
            {text('account.endOthers')}
          </Button>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog
          id="end-others-dialog"
          title={text('account.endOthersTitle')}
          lead={text('account.endOthersLead')}
          warning={warning}
          confirmText={text('account.endOthersConfirm')}
          busyText={text('account.ending')}
          onConfirm={endOthers}
          onClose={() => setIsAsking(false)}
        >
          <Checkbox
            id="end-others-devices"
            label={text('account.endOthersDevices')}
            isChecked={isEndingDevices}
            onChange={setIsEndingDevices}
          />
        </ConfirmDialog>
      )}
    </Section>
  );
}
