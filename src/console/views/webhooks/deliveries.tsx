/** Filtered deliveries of an endpoint, with a detail panel. */
import { useEffect, useMemo } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { useFilters, withSearch } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty, NoMatch } from '../../components/empty.tsx';
import { FilterFields } from '../../components/filters.tsx';
import { ListDetail } from '../../components/list-detail.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useListed, useLoaded } from '../../data.ts';
import { withNewest } from '../../newest.ts';
import { useEvery } from '../../refresh.ts';
import { useLiveEvents } from '../../shell/live.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import { DELIVERY_STATUSES, pollingOf, statusWords } from './delivery-words.ts';
import { EVENT_TYPES, TEST_EVENT } from './event-words.ts';
import type { Delivery, DeliveryStatus, OpenDelivery, Webhook, WebhookCalls } from './webhook-calls.ts';

interface DeliveriesProps {
  readonly webhook: Webhook;
  readonly calls: WebhookCalls;
  readonly open: string | null;
  /** Changes after deliveries were created here, to reload the list. */
  readonly revision: number;
  readonly listAddress: string;
  readonly addressOf: (deliveryId: string) => string;
  readonly onTest: () => unknown;
  /** Called after a reload: the endpoint may have changed too. */
  readonly onRefreshed: () => unknown;
  /** Called with the time of the newest delivery; null if there is none. */
  readonly onNewest: (createdAt: string | null) => unknown;
}

const columnsOf = (endpoint: Webhook['status']): readonly Column<Delivery>[] => [
  { key: 'event', title: 'Event', render: ({ eventType }) => <code>{eventType}</code> },
  {
    key: 'status',
    title: 'Status',
    render: (delivery) => {
      const { word, tone } = statusWords(delivery);
      return <Status tone={tone}>{word}</Status>;
    },
  },
  { key: 'attempts', title: 'Attempts', render: ({ attempts }) => attempts, isNumeric: true, isExtra: true },
  {
    key: 'next',
    title: 'Next attempt',
    render: ({ status, nextAttemptAt }) => {
      if (status === 'held') return <span class="muted">On release</span>;
      if (status === 'pending' && endpoint === 'disabled') return <span class="muted">When enabled</span>;
      if (nextAttemptAt === null) return <span class="muted">None</span>;
      return <Countdown to={nextAttemptAt} over="Now" />;
    },
    isExtra: true,
  },
  { key: 'created', title: 'Created', render: ({ createdAt }) => <Time at={createdAt} /> },
];

const TYPES = [...EVENT_TYPES, TEST_EVENT].map((type) => ({ value: type, label: type }));
const FILTERS = [
  { name: 'status', id: 'delivery-status', label: 'Status', any: 'Any status', choices: DELIVERY_STATUSES },
  { name: 'type', id: 'delivery-type', label: 'Event type', any: 'Any event', choices: TYPES },
] as const;
/** Delay until a new event's delivery appears. */
const SETTLING_MS = 800;

export function Deliveries(props: DeliveriesProps) {
  const { webhook, calls, open, revision, listAddress, addressOf, onTest, onRefreshed, onNewest } = props;
  const search = useSearch();
  const columns = useMemo(() => columnsOf(webhook.status), [webhook.status]);
  const [filters, setFilters] = useFilters(['status', 'type']);
  const query = { status: filters.status as DeliveryStatus | undefined, type: filters.type };
  const list = useListed<Delivery>(
    (cursor) => calls.deliveries(webhook.id, { ...query, cursor }),
    [webhook.id, filters.status, filters.type],
  );
  const detail = useLoaded<OpenDelivery | null>(
    async () => (open === null ? { ok: true, data: null } : calls.delivery(webhook.id, open)),
    [webhook.id, open, webhook.status],
  );
  const shown = detail.data;
  // The row of the open delivery is drawn from its detail, the newer of the two.
  const items = list.items?.map((item) => (shown?.id === item.id ? shown : item)) ?? null;
  const isFiltered = filters.status !== undefined || filters.type !== undefined;

  const newest = list.items?.[0]?.createdAt ?? null;
  useEffect(() => {
    if (list.items !== null && !isFiltered) onNewest(newest);
  }, [list.items === null, isFiltered, newest]);

  async function refresh(): Promise<void> {
    await Promise.all([list.renew(withNewest), open !== null && detail.reload()]);
    await onRefreshed();
  }

  useEvery(pollingOf([...(items ?? []), ...(shown ? [shown] : [])]), refresh);
  useEffect(() => {
    if (revision > 0) void refresh();
  }, [revision, webhook.status]);
  useLiveEvents(SETTLING_MS, refresh);

  return (
    <>
      <div class="toolbar">
        <FilterFields of={FILTERS} filters={filters} onChange={setFilters} />
      </div>
      <ListDetail
        list={
          <DataTable
            id="deliveries"
            label="Deliveries"
            list={{ ...list, items }}
            columns={columns}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => withSearch(addressOf(id), search)}
            open={open}
            empty={
              isFiltered ? (
                <NoMatch
                  title="No such deliveries"
                  clearText="Show all"
                  onClear={() => setFilters({ status: undefined, type: undefined })}
                >
                  Nothing of this status and event was sent by this webhook.
                </NoMatch>
              ) : (
                <Empty
                  title="Nothing sent yet"
                  action={
                    <Action id="first-test" isDisabled={webhook.status === 'disabled'} onClick={onTest}>
                      Send test event
                    </Action>
                  }
                >
                  Every event that this webhook sends is listed here, with each attempt and its answer.
                </Empty>
              )
            }
          />
        }
        detail={
          open && (
            <DeliveryDetail
              key={open}
              id={open}
              loaded={detail}
              webhook={webhook}
              calls={calls}
              closeTo={withSearch(listAddress, search)}
              addressOf={addressOf}
              onChanged={refresh}
            />
          )
        }
      />
    </>
  );
}
