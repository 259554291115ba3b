import { isoTime } from '../../core/clock.ts';
import type { Delivery, DeliveryAttempt } from '../../store/deliveries.ts';
import type { Webhook } from '../../store/webhooks.ts';
import type { AttemptRecord, DeliveryRecord, ErrorClass, WebhookRecord } from './model.ts';

/** Leaves out the secrets. @param now epoch milliseconds. */
export function presentWebhook(row: Webhook, now: number): WebhookRecord {
  const { id, url, events: types, description, status, quarantineReason, previousSecretEndsAt } = row;
  const isOverlapping = previousSecretEndsAt !== null && previousSecretEndsAt > now;
  return {
    id,
    url,
    events: types,
    description,
    status,
    quarantinedAt: isoTime(row.quarantinedAt),
    quarantineReason,
    previousSecretEndsAt: isOverlapping ? isoTime(previousSecretEndsAt) : null,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** Shows a pending delivery as held while its endpoint is in quarantine. */
export function presentDelivery(row: Delivery, { status: endpoint }: Pick<Webhook, 'status'>): DeliveryRecord {
  const { id, eventId, eventType, attempts } = row;
  const status = row.status === 'pending' && endpoint === 'quarantined' ? 'held' : row.status;
  return {
    id,
    eventId,
    eventType,
    status,
    attempts,
    nextAttemptAt: status === 'pending' ? isoTime(row.nextAttemptAt) : null,
    createdAt: isoTime(row.createdAt),
    finishedAt: isoTime(row.finishedAt),
  };
}

/** Returns the stored status of deliveries shown with this status; null if there are none. */
export function storedStatus(shown: DeliveryRecord['status'], { status: endpoint }: Pick<Webhook, 'status'>) {
  const waiting = endpoint === 'quarantined' ? 'held' : 'pending';
  if (shown === waiting) return 'pending';
  return shown === 'held' || shown === 'pending' ? null : shown;
}

const SIGNATURE_HEADER = 'Svc-Signature';
const SIGNATURE = /(?<=v1=)[0-9a-f]+/g;

/** Removes signatures, echoed ones too: they allow a replay within 5 minutes. @param hasBodies shows the answer. */
export function presentAttempt(row: DeliveryAttempt, hasBodies: boolean): AttemptRecord {
  const { startedAt, errorClass, requestHeaders, responseExcerpt, ...attempt } = row;
  const header = requestHeaders[SIGNATURE_HEADER];
  const signatures = header?.match(SIGNATURE) ?? [];
  const withoutSignatures = (text: string) => signatures.reduce((left, one) => left.replaceAll(one, 'withheld'), text);
  return {
    ...attempt,
    startedAt: isoTime(startedAt),
    errorClass: errorClass as ErrorClass | null,
    requestHeaders: {
      ...requestHeaders,
      ...(header !== undefined && { [SIGNATURE_HEADER]: withoutSignatures(header) }),
    },
    responseExcerpt: hasBodies && responseExcerpt !== null ? withoutSignatures(responseExcerpt) : null,
  };
}
