/** Detail of a delivery: payload, attempts and next step. */
import { useLocation } from 'wouter-preact';
import { AbsentDetail } from '../../components/absent-detail.tsx';
import { Action, useReport } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Facts } from '../../components/facts.tsx';
import { Detail, DetailPart } from '../../components/list-detail.tsx';
import { Snippets } from '../../components/snippets.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { exactTime } from '../../components/format.ts';
import type { Loaded } from '../../data.ts';
import { DeliveryAttempt } from './delivery-attempt.tsx';
import { MAX_ATTEMPTS, statusWords } from './delivery-words.ts';
import { meaningOf } from './event-words.ts';
import type { Delivery, OpenDelivery, Webhook, WebhookCalls } from './webhook-calls.ts';

interface DeliveryDetailProps {
  readonly id: string;
  /** The list shows the open delivery from it too, so that row and detail never differ. */
  readonly loaded: Loaded<OpenDelivery | null>;
  readonly webhook: Webhook;
  readonly calls: WebhookCalls;
  readonly closeTo: string;
  readonly addressOf: (deliveryId: string) => string;
  readonly onChanged: () => unknown;
}

export function DeliveryDetail({ id, loaded, webhook, calls, closeTo, addressOf, onChanged }: DeliveryDetailProps) {
  const [, navigate] = useLocation();
  const report = useReport();
  // Until another delivery is loaded, the data is the previous one's.
  const delivery = loaded.data?.id === id ? loaded.data : null;

  if (!delivery)
    return (
      <AbsentDetail
        title="Delivery"
        closeTo={closeTo}
        failure={loaded.failure}
        onRetry={loaded.reload}
        missing="There is no such delivery. Deliveries are removed 30 days after they are done."
      />
    );

  async function redeliver(): Promise<void> {
    const outcome = await calls.redeliver(webhook.id, id);
    if (!report(outcome, 'The same event is on its way again, as a delivery of its own.')) return;
    navigate(addressOf(outcome.data.id));
    await onChanged();
  }

  const { word, tone } = statusWords(delivery);
  const attempts = delivery.attemptLog.toReversed();
  return (
    <Detail
      title={<code>{delivery.eventType}</code>}
      subtitle={meaningOf(delivery.eventType)}
      closeTo={closeTo}
      actions={
        <Action id="redeliver" isDisabled={webhook.status === 'disabled'} onClick={redeliver}>
          Redeliver
        </Action>
      }
    >
      <Facts
        of={[
          ['Status', <Status tone={tone}>{word}</Status>],
          ['Next', <span id="delivery-next">{<Next of={delivery} webhook={webhook} />}</span>],
          ['Event id', <Copyable value={delivery.eventId} label="event id" />],
          ['Created', <Time at={delivery.createdAt} />],
          delivery.finishedAt !== null && ['Done', <Time at={delivery.finishedAt} />],
        ]}
      />
      <DetailPart title="Attempts">
        {attempts.length === 0 && <p class="fine">None yet.</p>}
        {attempts.map((attempt, index) => (
          <DeliveryAttempt key={attempt.number} of={attempt} isOpen={index === 0} />
        ))}
      </DetailPart>
      <DetailPart title="Body">
        {delivery.requestBody === null ? (
          <p class="fine" id="body-withheld">
            Bodies are shown to admins and owners: they can contain names.
          </p>
        ) : (
          <Snippets
            label="Body"
            of={[
              { name: 'Readable', code: readable(delivery.requestBody) },
              { name: 'As sent and signed', code: delivery.requestBody },
            ]}
          />
        )}
      </DetailPart>
    </Detail>
  );
}

function Next({ of: delivery, webhook }: { readonly of: Delivery; readonly webhook: Webhook }) {
  const { status, attempts, nextAttemptAt } = delivery;
  if (status === 'delivered') return <>Nothing: attempt {attempts} was accepted.</>;
  if (status === 'failed')
    return <>Nothing: {attempts >= MAX_ATTEMPTS ? `all ${MAX_ATTEMPTS} attempts failed.` : 'sending was given up.'}</>;
  if (status === 'held') return <>Held while the webhook is in quarantine. Sent in order when it is released.</>;
  if (webhook.status === 'disabled') return <>Waits until the webhook is enabled again.</>;
  if (nextAttemptAt === null || Date.parse(nextAttemptAt) <= Date.now())
    return <>{attempts === 0 ? 'The first attempt is in progress.' : `Attempt ${attempts + 1} is in progress.`}</>;
  return (
    <>
      Attempt {attempts + 1} of {MAX_ATTEMPTS} in <Countdown to={nextAttemptAt} over="a moment" />{' '}
      <span class="muted">({exactTime(nextAttemptAt)})</span>
    </>
  );
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
