/** Identity provider accounts the reader can sign in with. */
import { Link } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { failureOfCode } from '../browser/api.ts';
import { ProviderMark } from '../components/brand-marks.tsx';
import { Button } from '../components/button.tsx';
import { accountFailureText } from './failure-words.ts';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';
import { RemovalDialog } from './removal-dialog.tsx';
import { usePages } from './use-pages.ts';
import { useRemoval } from './use-removal.ts';
import { dateText, joined, usedText } from './words.ts';

interface Identity {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string;
}

const PATH = '/api/account/providers';
const LINKED = '#linked=provider';

const REASONS = {
  conflict: 'account.provider.taken',
  access_denied: 'account.provider.cancelled',
  provider_failed: 'account.provider.failed',
} as const;

export function ProvidersSection() {
  const text = useTexts();
  const toast = useToast();
  const { api, data, takeFailedReturn, withProof } = useAccount();
  const identities = usePages<Identity>(PATH, false);
  const removal = useRemoval();
  const [asked, setAsked] = useState<Identity | null>(null);
  const [error, setError] = useState(() => {
    const code = takeFailedReturn();
    if (code === null) return null;
    return Object.hasOwn(REASONS, code)
      ? text(REASONS[code as keyof typeof REASONS])
      : accountFailureText(text, failureOfCode(code));
  });
  const [isLeaving, setIsLeaving] = useState(false);
  const { items } = identities;
  const { provider } = data.methods;

  useEffect(() => {
    if (location.hash !== LINKED) return;
    history.replaceState(null, '', location.pathname + location.search);
    toast(text('account.provider.connected'));
  }, []);

  async function connect(): Promise<void> {
    if (isLeaving) return;
    setError(null);
    setIsLeaving(true);
    const returnTo = location.origin + location.pathname + location.search;
    const outcome = await withProof({ purpose: 'session' }, () =>
      api.send<{ authorizationUrl: string }>('POST', PATH, { returnTo }),
    );
    if (outcome?.ok) return location.assign(outcome.data.authorizationUrl);
    setIsLeaving(false);
    if (!outcome) return;
    setError(outcome.code === 'provider_failed' ? text('account.provider.failed') : accountFailureText(text, outcome));
  }

  async function disconnect({ id, name }: Identity): Promise<void> {
    if (!(await removal.remove(`${PATH}/${id}`, { purpose: 'provider_removal', target: id }))) return;
    setAsked(null);
    identities.set((shown) => shown.filter((identity) => identity.id !== id));
    toast(text('account.disconnected', { name }));
    // Fails if the current session depended on the removed provider.
    await identities.reload();
  }

  if (provider === null && !items?.length) return null;
  return (
    <Section id="providers" title={text('account.provider.title')} lead={text('account.provider.lead')}>
      {items === null && <RowsSkeleton count={1} />}
      {items?.length === 0 && <Empty>{text('account.provider.none')}</Empty>}
      {items && items.length > 0 && (
        <Rows>
          {items.map((identity) => (
            <Row
              key={identity.id}
              icon={<Icon of={Link} />}
              title={identity.name}
              detail={joined(
                identity.email,
                text('account.addedOn', { date: dateText(text, identity.createdAt) }),
                usedText(text, identity.lastUsedAt),
              )}
              action={
                <Button
                  look="small"
                  aria-label={text('account.actionFor', { action: text('account.disconnect'), name: identity.name })}
                  onClick={() => {
                    removal.reset();
                    setAsked(identity);
                  }}
                >
                  {text('account.disconnect')}
                </Button>
              }
            />
          ))}
        </Rows>
      )}
      {provider && (
        <div class="settings-actions">
          <Button
            id="connect-provider"
            look="small"
            icon={<ProviderMark name={provider.name} />}
            busyText={isLeaving && text('account.provider.connecting', { provider: provider.name })}
            onClick={() => void connect()}
          >
            {text('account.provider.connect', { provider: provider.name })}
          </Button>
        </div>
      )}
      <p class="field-error" id="provider-error" role="alert">
        {error}
      </p>
      {asked && (
        <RemovalDialog
          id="disconnect-provider"
          title={text('account.provider.disconnectTitle', { name: asked.name })}
          lead={text('account.provider.disconnectLead')}
          confirmText={text('account.disconnect')}
          busyText={text('account.disconnecting')}
          removal={removal}
          onConfirm={() => disconnect(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </Section>
  );
}
