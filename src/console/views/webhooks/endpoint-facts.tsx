/** State of an endpoint in a strip above its tabs. */
import { useEffect } from 'preact/hooks';
import type { Page } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { count } from '../../components/format.ts';
import { useLoaded } from '../../data.ts';
import { ENDPOINT_WORDS, successWords } from './delivery-words.ts';
import { eventsWords } from './event-words.ts';
import { type Delivery, STATS_DAYS, type Webhook, type WebhookCalls } from './webhook-calls.ts';

const NOTHING = { ok: true as const, data: { items: [], nextCursor: null } };

interface EndpointFactsProps {
  readonly webhook: Webhook;
  readonly calls: WebhookCalls;
  readonly revision: number;
  /** Whether the list below shows all deliveries, so that its newest is the last. */
  readonly isListed: boolean;
  /** Time of the newest delivery that was listed; undefined before. */
  readonly newest: string | null | undefined;
}

export function EndpointFacts({ webhook, calls, revision, isListed, newest }: EndpointFactsProps) {
  const stats = useLoaded(calls.stats, [webhook.id]);
  const latest = useLoaded<Page<Delivery>>(
    async () => (isListed ? NOTHING : calls.deliveries(webhook.id, { limit: 1 })),
    [webhook.id, isListed],
  );
  const last = isListed ? newest : (latest.data?.items[0]?.createdAt ?? newest);
  useEffect(() => {
    if (revision > 0 && !isListed) void latest.reload();
  }, [revision]);
  const endpoint = stats.data?.webhooks.endpoints.find(({ webhookId }) => webhookId === webhook.id);
  const share = endpoint && successWords(endpoint);
  const { word, tone } = ENDPOINT_WORDS[webhook.status];
  return (
    <div class="strip">
      <Facts
        of={[
          ['Status', <Status tone={tone}>{word}</Status>],
          [
            `Attempts accepted, ${STATS_DAYS} days`,
            endpoint && share ? (
              <>
                {share} <span class="muted">of {count(endpoint.delivered + endpoint.failedAttempts)}</span>
              </>
            ) : (
              <span class="muted">None counted yet</span>
            ),
          ],
          ['Last delivery', <Time at={last ?? null} />],
          [
            'Events',
            webhook.events.length > 1 ? (
              <details>
                <summary>{eventsWords(webhook.events)}</summary>
                {webhook.events.map((type) => (
                  <code key={type}>{type}</code>
                ))}
              </details>
            ) : (
              eventsWords(webhook.events)
            ),
          ],
        ]}
      />
    </div>
  );
}
