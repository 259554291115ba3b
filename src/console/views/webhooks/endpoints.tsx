/** Endpoints of an application with their success rates. */
import { useMemo } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useCreateDialog, useDialog } from '../../components/use-dialog.tsx';
import { count } from '../../components/format.ts';
import { useListed, useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { ENDPOINT_WORDS, successWords } from './delivery-words.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { eventsWords } from './event-words.ts';
import { type NewWebhook, STATS_DAYS, type Webhook, webhookCalls } from './webhook-calls.ts';

export function Endpoints({ application: { id } }: ApplicationViewProps) {
  const calls = useMemo(() => webhookCalls(id), [id]);
  const [, navigate] = useLocation();
  const secret = useDialog<NewWebhook>(({ id: webhookId, signingSecret }) => (
    <SecretDialog
      id="signing-secret"
      title="The webhook is added"
      lead="Your endpoint uses this secret to check that a delivery comes from here. Keep it with its other secrets."
      what="signing secret"
      value={signingSecret}
      onStored={() => navigate(addresses.application(id, 'webhooks', webhookId))}
    />
  ));
  const {
    button: add,
    emptyButton,
    dialog: creation,
  } = useCreateDialog({ id: 'add-webhook', text: 'Add webhook' }, () => (
    <EndpointForm send={calls.create} onDone={secret.open} />
  ));
  const list = useListed<Webhook>(calls.list, [calls]);
  const stats = useLoaded(calls.stats, [calls]);

  const columns: readonly Column<Webhook>[] = [
    { key: 'url', title: 'Webhook', render: ({ url }) => <span class="endpoint-url">{url}</span> },
    {
      key: 'status',
      title: 'Status',
      render: ({ status }) => <Status tone={ENDPOINT_WORDS[status].tone}>{ENDPOINT_WORDS[status].word}</Status>,
    },
    { key: 'events', title: 'Events', render: ({ events }) => eventsWords(events), isExtra: true },
    {
      key: 'success',
      title: `Accepted, ${STATS_DAYS} days`,
      isNumeric: true,
      isExtra: true,
      render: ({ id }) => {
        const endpoint = stats.data?.webhooks.endpoints.find(({ webhookId }) => webhookId === id);
        const share = endpoint && successWords(endpoint);
        if (!endpoint || !share) return <span class="muted">None counted yet</span>;
        return (
          <>
            {share} <span class="muted">of {count(endpoint.delivered + endpoint.failedAttempts)}</span>
          </>
        );
      },
    },
    { key: 'created', title: 'Added', render: ({ createdAt }) => <Time at={createdAt} />, isExtra: true },
  ];

  return (
    <>
      <PageHead
        title="Webhooks"
        lead="Your endpoints receive signed events about people, retried until they accept them."
        actions={add}
      />
      <DataTable
        id="webhooks"
        label="Webhooks"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={(webhook) => addresses.application(id, 'webhooks', webhook.id)}
        empty={
          <Empty title="No webhooks yet" action={emptyButton}>
            Add an https address of your backend to be notified when people sign in, are banned, change their profile,
            or whatever you choose.
          </Empty>
        }
      />
      {creation}
      {secret.dialog}
    </>
  );
}
