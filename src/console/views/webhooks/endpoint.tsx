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
import { useTabInView } from '../../components/tabs-in-view.ts';
import { useDialog } from '../../components/use-dialog.tsx';
import { useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Deliveries } from './deliveries.tsx';
import { type EndpointAction, EndpointDialog } from './endpoint-dialogs.tsx';
import { EndpointFacts } from './endpoint-facts.tsx';
import { EventCatalogue } from './event-sample.tsx';
import type { EventType } from './event-words.ts';
import { Performance } from './performance.tsx';
import { Quarantine, ReleaseProgress } from './quarantine.tsx';
import { ReplayDialog, ReplayProgress, sentAgainWords } from './replay.tsx';
import { Signing } from './signing.tsx';
import { type NewWebhook, type Replay, webhookCalls } from './webhook-calls.ts';

interface EndpointProps extends ApplicationViewProps {
  readonly id: string;
  readonly deliveryId: string | null;
}

const TABS = [
  { show: null, label: 'Deliveries' },
  { show: 'performance', label: 'Latency and success' },
  { show: 'events', label: 'Event catalogue' },
  { show: 'signing', label: 'Signing and verification' },
] as const;

export function Endpoint({ application, id, deliveryId }: EndpointProps) {
  const calls = useMemo(() => webhookCalls(application.id), [application.id]);
  const webhook = useLoaded(() => calls.get(id), [id]);
  const [, navigate] = useLocation();
  const [filters] = useFilters(['show', 'status', 'type']);
  const [replaying, setReplaying] = useState<Replay | null>(null);
  const [releasing, setReleasing] = useState<number | null>(null);
  /** Changes after deliveries were created here, to reload the views. */
  const [revision, setRevision] = useState(0);
  const [newest, setNewest] = useState<string | null | undefined>(undefined);
  const report = useReport();
  const toast = useToast();
  const all = addresses.application(application.id, 'webhooks');
  const listAddress = addresses.application(application.id, 'webhooks', id);
  const addressOf = (delivery: string) => addresses.application(application.id, 'webhooks', id, delivery);
  const found = webhook.data;
  const secret = useDialog<NewWebhook>(({ signingSecret }) => (
    <SecretDialog
      id="signing-secret"
      title="The new signing secret"
      lead="For 24 hours every delivery is signed with this secret and with the previous one. Give your endpoint this one in that time."
      what="signing secret"
      value={signingSecret}
      onStored={webhook.reload}
    />
  ));
  const { open: ask, dialog } = useDialog<EndpointAction>(
    (act) =>
      found && (
        <EndpointDialog
          act={act}
          webhook={found}
          calls={calls}
          onChanged={(changed, message) => {
            webhook.set(changed);
            toast(message);
          }}
          onRotated={secret.open}
          onDeleted={() => {
            toast('The webhook is deleted.');
            navigate(all);
          }}
        />
      ),
  );

  const sent = () => setRevision((before) => before + 1);
  const replay = useDialog(() => (
    <ReplayDialog
      webhookId={id}
      calls={calls}
      onStarted={(started) => {
        sent();
        if (started.running) setReplaying(started);
        else toast(sentAgainWords(started));
      }}
    />
  ));

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

  async function test(type?: EventType): Promise<void> {
    const outcome = await calls.test(id, type);
    if (!report(outcome)) return;
    sent();
    navigate(addressOf(outcome.data.id));
  }

  async function enable(): Promise<void> {
    const outcome = await calls.update(id, { status: 'active' });
    if (report(outcome, 'Events are sent again.')) webhook.set(outcome.data);
  }

  const shown = deliveryId === null ? (TABS.find(({ show }) => show === filters.show)?.show ?? null) : null;
  const isListed = shown === null && filters.status === undefined && filters.type === undefined;
  const { host, pathname } = new URL(found.url);
  return (
    <>
      {back}
      <PageHead
        title={host + pathname}
        lead={found.description ?? undefined}
        actions={
          <>
            <Action id="edit-webhook" onClick={() => ask('change')}>
              Edit webhook
            </Action>
            <Action id="test-webhook" isDisabled={found.status === 'disabled'} onClick={() => test()}>
              Send test event
            </Action>
            <Menu label="More actions">
              {found.status === 'disabled' && <MenuEntry onClick={enable}>Enable</MenuEntry>}
              {found.status === 'active' && <MenuEntry onClick={() => ask('disable')}>Disable</MenuEntry>}
              {found.status !== 'disabled' && (
                <MenuEntry onClick={() => replay.open()}>Send failed events again</MenuEntry>
              )}
              <MenuEntry onClick={() => ask('rotate')}>Rotate signing secret</MenuEntry>
              <MenuEntry isDanger onClick={() => ask('delete')}>
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
            else toast('Released. Nothing was held.');
          }}
        />
      )}
      {releasing !== null && (
        <ReleaseProgress
          webhookId={id}
          calls={calls}
          total={releasing}
          onEnd={(message) => {
            setReleasing(null);
            sent();
            toast(message);
            void webhook.reload();
          }}
        />
      )}
      <ReplayProgress
        webhookId={id}
        calls={calls}
        started={replaying}
        onEnd={(message) => {
          setReplaying(null);
          sent();
          toast(message);
        }}
      />
      <EndpointFacts webhook={found} calls={calls} revision={revision} isListed={isListed} newest={newest} />
      <WebhookTabs address={listAddress} shown={shown} />
      {shown === 'performance' && <Performance webhookId={id} calls={calls} />}
      {shown === 'events' && (
        <EventCatalogue
          applicationId={application.id}
          subscribed={found.events}
          isDisabled={found.status === 'disabled'}
          onSend={test}
        />
      )}
      {shown === 'signing' && <Signing webhook={found} onRotate={() => ask('rotate')} />}
      {shown === null && (
        <Deliveries
          webhook={found}
          calls={calls}
          open={deliveryId}
          revision={revision}
          listAddress={listAddress}
          addressOf={addressOf}
          onTest={() => test()}
          onRefreshed={webhook.reload}
          onNewest={setNewest}
        />
      )}
      {dialog}
      {replay.dialog}
      {secret.dialog}
    </>
  );
}

interface WebhookTabsProps {
  /** Address of the deliveries. */
  readonly address: string;
  readonly shown: (typeof TABS)[number]['show'];
}

function WebhookTabs({ address, shown }: WebhookTabsProps) {
  const tabs = useTabInView(shown);
  return (
    <nav class="tabs" aria-label="Webhook" ref={tabs}>
      {TABS.map(({ show, label }) => (
        <Link
          key={label}
          href={show === null ? address : `${address}?show=${show}`}
          aria-current={shown === show ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
