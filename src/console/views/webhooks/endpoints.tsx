/** Endpoints of an application with their success rates. */
import { Plus } from 'lucide';
import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Icon } from '../../../pages/components/icon.tsx';
import { addresses } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../components/words.ts';
import { useCreation } from '../../creation.ts';
import { useListed, useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { ENDPOINT_WORDS, successWords } from './delivery-words.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { eventsWords } from './event-words.ts';
import { type NewWebhook, STATS_DAYS, type Webhook, webhookCalls } from './webhook-calls.ts';

export function Endpoints({ application: { id } }: ApplicationViewProps) {
  const calls = useMemo(() => webhookCalls(id), [id]);
  const [, navigate] = useLocation();
  const creation = useCreation();
  const [fresh, setFresh] = useState<NewWebhook | null>(null);
  const list = useListed<Webhook>(calls.list, [calls]);
  const stats = useLoaded(calls.stats, [calls]);

  const columns: readonly Column<Webhook>[] = [
    { key: 'url', title: 'Endpoint', render: ({ url }) => <span class="endpoint-url">{url}</span> },
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

  const add = (
    <Action id="add-webhook" look="primary" icon={<Icon of={Plus} size={16} />} onClick={creation.open}>
      Add webhook
    </Action>
  );
  return (
    <>
      <PageHead
        title="Webhooks"
        lead="Addresses of yours that are told what happens to people, signed, and again until they accept it."
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
          <Empty title="No webhooks yet" action={add}>
            Give an https address of your backend, and it is told when people sign in, are banned, change their profile,
            or whatever you choose.
          </Empty>
        }
      />
      {creation.isOpen && (
        <EndpointForm
          send={calls.create}
          onDone={(webhook) => {
            creation.close();
            setFresh(webhook);
          }}
          onClose={creation.close}
        />
      )}
      {fresh && (
        <SecretDialog
          id="signing-secret"
          title="The webhook is added"
          lead="Your endpoint proves with this secret that a delivery comes from here. Keep it with its other secrets."
          what="signing secret"
          value={fresh.signingSecret}
          onStored={() => {
            setFresh(null);
            navigate(addresses.application(id, 'webhooks', fresh.id));
          }}
        />
      )}
    </>
  );
}
