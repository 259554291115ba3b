/** Quarantined endpoint: reason, number of held deliveries, release and its progress. */
import { useState } from 'preact/hooks';
import { Action } from '../../components/action.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Progress } from '../../components/progress.tsx';
import { Time } from '../../components/time.tsx';
import { count, counted } from '../../components/format.ts';
import { useDialog } from '../../components/use-dialog.tsx';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { COUNTED, type DeliveryStatus, type Webhook, type WebhookCalls } from './webhook-calls.ts';

type Released = Webhook & { readonly released: number };

interface QuarantineProps {
  readonly webhook: Webhook;
  readonly calls: WebhookCalls;
  readonly onReleased: (released: Released) => void;
}

/** Counts waiting deliveries up to a maximum. */
async function countWaiting(calls: WebhookCalls, webhookId: string, status: DeliveryStatus) {
  const page = await calls.deliveries(webhookId, { status, limit: COUNTED });
  if (!page.ok) return page;
  return { ok: true as const, data: { number: page.data.items.length, isMore: page.data.nextCursor !== null } };
}

export function Quarantine({ webhook, calls, onReleased }: QuarantineProps) {
  const held = useLoaded(() => countWaiting(calls, webhook.id, 'held'), [webhook.id]);
  const heldWords = held.data && `${held.data.isMore ? 'More than ' : ''}${counted(held.data.number, 'event')}`;
  const { open, dialog } = useDialog(() => (
    <FormDialog
      id="release-dialog"
      title="Release from quarantine"
      lead={
        held.data?.number === 0
          ? 'Nothing is held. New events are sent as they happen.'
          : `${heldWords ?? 'All held events'} will be sent one by one, oldest first; new events wait behind them. If one of them fails all its attempts again, the webhook goes back to quarantine.`
      }
      submitText="Release webhook"
      send={() => calls.release(webhook.id)}
      onDone={onReleased}
    />
  ));
  return (
    <section class="quarantine" id="quarantine" aria-label="Quarantine">
      <div>
        <p>
          <strong>In quarantine</strong> since <Time at={webhook.quarantinedAt} />: {webhook.quarantineReason}.
        </p>
        <p>
          {heldWords ? `${heldWords} held so far.` : 'Events are held.'} Fix the endpoint, then release the webhook;
          held events are kept for 30 days.
        </p>
      </div>
      <Action id="release-webhook" onClick={() => held.reload().then(open)}>
        Release
      </Action>
      {dialog}
    </section>
  );
}

interface ReleaseProgressProps {
  readonly webhookId: string;
  readonly calls: WebhookCalls;
  readonly total: number;
  readonly onEnd: (message: string) => void;
}

const POLL_MS = 1500;

export function ReleaseProgress({ webhookId, calls, total, onEnd }: ReleaseProgressProps) {
  const [left, setLeft] = useState({ number: total, isMore: total > COUNTED });
  useEvery(POLL_MS, async () => {
    const waiting = await countWaiting(calls, webhookId, 'pending');
    if (!waiting.ok) return;
    setLeft(waiting.data);
    if (waiting.data.number === 0) onEnd(`${counted(total, 'held event')} sent.`);
  });
  const label = left.isMore
    ? `Sending held events: more than ${count(COUNTED)} of ${count(total)} are still to be sent`
    : 'Sending held events';
  return (
    <div class="releasing" id="release-progress">
      <Progress label={label} done={Math.max(0, total - left.number)} total={total} />
    </div>
  );
}
