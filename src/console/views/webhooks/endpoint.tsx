/** An endpoint: state, deliveries, secret and actions. */
import { ArrowLeft } from 'lucide';
import { useMemo, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { useToast } from '../../../pages/components/toast.tsx';
import { Icon } from '../../../pages/components/icon.tsx';
import { addresses, useFilters } from '../../address.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Empty } from '../../components/empty.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Menu, MenuEntry } from '../../components/menu.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Deliveries } from './deliveries.tsx';
import { type EndpointAct, EndpointDialog } from './endpoint-dialogs.tsx';
import { EndpointFacts } from './endpoint-facts.tsx';
import { Quarantine, ReleaseProgress } from './quarantine.tsx';
import { Signing } from './signing.tsx';
import { type NewWebhook, webhookCalls } from './webhook-calls.ts';

interface EndpointProps extends ApplicationViewProps {
  readonly id: string;
  readonly deliveryId: string | null;
}

export function Endpoint({ application, id, deliveryId }: EndpointProps) {
  const calls = useMemo(() => webhookCalls(application.id), [application.id]);
  const webhook = useLoaded(() => calls.get(id), [id]);
  const [, navigate] = useLocation();
  const [filters] = useFilters(['show']);
  const [asked, setAsked] = useState<EndpointAct | null>(null);
  const [fresh, setFresh] = useState<NewWebhook | null>(null);
  const [releasing, setReleasing] = useState<number | null>(null);
  /** Changes after deliveries were created here, to reload the views. */
  const [turn, setTurn] = useState(0);
  const report = useReport();
  const toast = useToast();
  const all = addresses.application(application.id, 'webhooks');
  const here = addresses.application(application.id, 'webhooks', id);
  const addressOf = (delivery: string) => addresses.application(application.id, 'webhooks', id, delivery);
  const found = webhook.data;

  const sent = () => setTurn((before) => before + 1);

  const back = (
    <Link class="back" href={all}>
      <Icon of={ArrowLeft} size={16} /> Webhooks
    </Link>
  );
  if (!found) {
    const { failure } = webhook;
    return (
      <>
        {back}
        <PageHead title="Webhook" />
        {!failure && <div class="skeleton title" aria-busy="true" />}
        {failure?.status === 404 && <Empty title="There is no such webhook">It may have been deleted.</Empty>}
        {failure && failure.status !== 404 && <FailureNote failure={failure} onRetry={webhook.reload} />}
      </>
    );
  }

  async function test(): Promise<void> {
    const outcome = await calls.test(id);
    if (!report(outcome)) return;
    sent();
    navigate(addressOf(outcome.data.id));
  }

  async function enable(): Promise<void> {
    const outcome = await calls.update(id, { status: 'active' });
    if (report(outcome, 'Events are sent again.')) webhook.set(outcome.data);
  }

  const isSigning = filters.show === 'signing' && deliveryId === null;
  const { host, pathname } = new URL(found.url);
  return (
    <>
      {back}
      <PageHead
        title={host + pathname}
        lead={found.description ?? undefined}
        actions={
          <>
            <Action id="edit-webhook" onClick={() => setAsked('change')}>
              Change
            </Action>
            <Action id="test-webhook" isDisabled={found.status === 'disabled'} onClick={test}>
              Send test event
            </Action>
            <Menu label="More actions">
              {found.status === 'disabled' && <MenuEntry onClick={enable}>Enable</MenuEntry>}
              {found.status === 'active' && <MenuEntry onClick={() => setAsked('disable')}>Disable</MenuEntry>}
              <MenuEntry onClick={() => setAsked('rotate')}>Rotate signing secret</MenuEntry>
              <MenuEntry isDanger onClick={() => setAsked('delete')}>
                Delete
              </MenuEntry>
            </Menu>
          </>
        }
      />
      {found.status === 'quarantined' && (
        <Quarantine
          webhook={found}
          calls={calls}
          onReleased={(released) => {
            webhook.set(released);
            sent();
            if (released.released > 0) setReleasing(released.released);
            else toast('It is released. Nothing was held.');
          }}
        />
      )}
      {releasing !== null && (
        <ReleaseProgress
          webhookId={id}
          calls={calls}
          total={releasing}
          onEnd={(said) => {
            setReleasing(null);
            sent();
            toast(said);
            void webhook.reload();
          }}
        />
      )}
      <EndpointFacts webhook={found} calls={calls} turn={turn} />
      <nav class="tabs" aria-label="Of this webhook">
        <Link href={here} aria-current={isSigning ? undefined : 'page'}>
          Deliveries
        </Link>
        <Link href={`${here}?show=signing`} aria-current={isSigning ? 'page' : undefined}>
          Signing and verification
        </Link>
      </nav>
      {isSigning ? (
        <Signing webhook={found} onRotate={() => setAsked('rotate')} />
      ) : (
        <Deliveries
          webhook={found}
          calls={calls}
          open={deliveryId}
          turn={turn}
          here={here}
          addressOf={addressOf}
          onTest={test}
          onRefreshed={webhook.reload}
        />
      )}
      {asked && (
        <EndpointDialog
          act={asked}
          webhook={found}
          calls={calls}
          onChanged={(changed, said) => {
            setAsked(null);
            webhook.set(changed);
            toast(said);
          }}
          onRotated={(rotated) => {
            setAsked(null);
            setFresh(rotated);
          }}
          onDeleted={() => {
            toast('The webhook is deleted.');
            navigate(all);
          }}
          onClose={() => setAsked(null)}
        />
      )}
      {fresh && (
        <SecretDialog
          id="signing-secret"
          title="The new signing secret"
          lead="For 24 hours every delivery is signed with this secret and with the one before. Give your endpoint this one in that time."
          what="signing secret"
          value={fresh.signingSecret}
          onStored={() => {
            setFresh(null);
            void webhook.reload();
          }}
        />
      )}
    </>
  );
}
