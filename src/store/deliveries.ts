/** Webhook deliveries, one per event and endpoint, created in the event's own change, and their attempts. */
import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Claim } from '../core/lease-keeper.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { change, longRead, orm, pipelinedChange, query } from '../db/statements.ts';
import { type Delivery, deliveries, deliveryAttempts, type Webhook } from './schema/webhooks.ts';

export type { Delivery };
export { DELIVERY_STATUSES } from './schema/webhooks.ts';

/** Endpoint ids that deliveries were queued for. */
export const DELIVERY_QUEUED = topic<string>('delivery queued');

export interface DeliveryAttempted {
  readonly applicationId: string;
  readonly webhookId: string;
  /** Attempts to send logout tokens are no webhook's. */
  readonly kind: Webhook['kind'];
  readonly isDelivered: boolean;
  readonly durationMs: number;
}

export const DELIVERY_ATTEMPTED = topic<DeliveryAttempted>('delivery attempted');

export const DELIVERY_FINISHED = topic<'delivered' | 'failed'>('delivery finished');

const insertRow = pipelinedChange<NewDelivery & { id: string }>(
  `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
   VALUES (:id, :webhookId, :eventId, :eventType, 'pending', 0, :now, :now)`,
);

export interface NewDelivery {
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
}

/** Queues a delivery, due at once if its endpoint is active. */
export async function insertDelivery(unit: Unit, { webhookId, eventId, eventType }: NewDelivery): Promise<Delivery> {
  const { now } = unit;
  const id = newId('delivery', now);
  await insertRow(unit, { id, webhookId, eventId, eventType });
  unit.publish(DELIVERY_QUEUED, webhookId);
  const state = { status: 'pending', attempts: 0, nextAttemptAt: now, leasedUntil: null, leaseHolder: null } as const;
  return { id, webhookId, eventId, eventType, ...state, createdAt: now, finishedAt: null };
}

/** Returns a delivery; undefined for one of another endpoint. */
export async function findDelivery(reader: Reader, webhookId: string, id: string): Promise<Delivery | undefined> {
  const [delivery] = await orm(reader)
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, webhookId), eq(deliveries.id, id)));
  return delivery;
}

/** Returns the deliveries with these ids, newest first. */
export async function findDeliveries(reader: Reader, ids: readonly string[]): Promise<Delivery[]> {
  if (ids.length === 0) return [];
  return orm(reader)
    .select()
    .from(deliveries)
    .where(inArray(deliveries.id, [...ids]))
    .orderBy(desc(deliveries.id));
}

/** Returns an endpoint's deliveries, newest first. @param before continues after this id. */
export async function listDeliveries(
  reader: Reader,
  webhookId: string,
  {
    status,
    before,
    limit,
  }: { readonly status: Delivery['status'] | undefined; readonly before: string | undefined; readonly limit: number },
): Promise<Delivery[]> {
  return orm(reader)
    .select()
    .from(deliveries)
    .where(
      and(
        eq(deliveries.webhookId, webhookId),
        status === undefined ? undefined : eq(deliveries.status, status),
        before === undefined ? undefined : lt(deliveries.id, before),
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(limit);
}

export type DeliveryAttempt = Omit<typeof deliveryAttempts.$inferSelect, 'deliveryId'>;

export async function listAttempts(reader: Reader, deliveryId: string): Promise<DeliveryAttempt[]> {
  const rows = await orm(reader)
    .select()
    .from(deliveryAttempts)
    .where(eq(deliveryAttempts.deliveryId, deliveryId))
    .orderBy(asc(deliveryAttempts.number));
  return rows.map(({ deliveryId: _, ...attempt }) => attempt);
}

/** Returns how many deliveries are pending for an endpoint, due or not. A long read. */
export const countPendingDeliveries = longRead.count<string>(
  "SELECT count(*) FROM deliveries WHERE webhook_id = :webhookId AND status = 'pending'",
);

/** Returns the highest id of an endpoint's pending deliveries; null if none is pending. */
export const findNewestPending = query.aggregate<string | null, string>(
  "SELECT max(id) FROM deliveries WHERE webhook_id = :webhookId AND status = 'pending'",
);

const setFinished = change<Claim & { status: 'delivered' | 'failed' }>(
  `UPDATE deliveries SET status = :status, finished_at = :now, leased_until = NULL
   WHERE id = :id AND attempts = :attempts AND status = 'pending'`,
);

/**
 * Marks a delivery as final: no further attempt follows. @returns false if the claim is not valid any more, as after
 * another instance has taken the delivery over.
 */
export async function finishDelivery(
  unit: Unit,
  { id, attempts }: Claim,
  status: 'delivered' | 'failed',
): Promise<boolean> {
  const isFinished = (await setFinished(unit, { id, attempts, status })) > 0;
  if (isFinished) unit.publish(DELIVERY_FINISHED, status);
  return isFinished;
}

const setPostponed = change<Claim & { until: number }>(
  `UPDATE deliveries SET next_attempt_at = :until, leased_until = NULL
   WHERE id = :id AND attempts = :attempts AND status = 'pending'`,
);

/** Ends the lease. The next attempt is due at `until`, in epoch milliseconds. @returns as {@link finishDelivery}. */
export async function postponeDelivery(unit: Unit, { id, attempts }: Claim, until: number): Promise<boolean> {
  return (await setPostponed(unit, { id, attempts, until })) > 0;
}

export interface PlannedDelivery {
  readonly webhookId: string;
  readonly nextAttemptAt: number;
  readonly id: string;
}

export const PLANNED_READ = 1000;

const plannedAhead = longRead.rows<PlannedDelivery, PlannedDelivery & { now: number }>(
  `SELECT d.webhook_id AS "webhookId", d.next_attempt_at AS "nextAttemptAt", d.id
   FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = d.attempts
   WHERE d.status = 'pending' AND d.next_attempt_at > :now AND coalesce(a.started_at, d.created_at) > :now
     AND (d.webhook_id, d.next_attempt_at, d.id) > (:webhookId, :nextAttemptAt, :id)
   ORDER BY d.webhook_id, d.next_attempt_at, d.id LIMIT ${PLANNED_READ}`,
);

const START: PlannedDelivery = { webhookId: '', nextAttemptAt: 0, id: '' };

/** Returns deliveries whose wait began in the future, as after the clock went back. A long read: it scans all. */
export function listDeliveriesPlannedAhead(
  reader: Reader,
  now: number,
  after: PlannedDelivery | undefined,
): Promise<PlannedDelivery[]> {
  return plannedAhead(reader, { now, ...(after ?? START) });
}

/** Makes a delivery due unless it was already rescheduled. */
export const bringDeliveryForward = change<PlannedDelivery>(
  `UPDATE deliveries SET next_attempt_at = :now
   WHERE id = :id AND status = 'pending' AND next_attempt_at = :nextAttemptAt`,
);

/** Inserts an attempt, unless its delivery was already deleted. */
export const insertAttempt = change<DeliveryAttempt & { deliveryId: string }>(
  `INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, status_code, error_class,
     request_headers, response_excerpt)
   SELECT id, :number, :startedAt, :durationMs, :statusCode, :errorClass, :requestHeaders, :responseExcerpt
   FROM deliveries WHERE id = :deliveryId
   ON CONFLICT (delivery_id, number) DO UPDATE SET started_at = excluded.started_at, duration_ms = excluded.duration_ms,
     status_code = excluded.status_code, error_class = excluded.error_class, request_headers = excluded.request_headers,
     response_excerpt = excluded.response_excerpt`,
);

/** Deletes an endpoint's oldest deliveries with their attempts. @returns the number deleted. */
export const deleteDeliveries = change<{ webhookId: string; limit: number }>(
  `DELETE FROM deliveries WHERE id IN (
     SELECT id FROM deliveries WHERE webhook_id = :webhookId ORDER BY id LIMIT :limit)`,
);

/** Returns the number of an endpoint's deliveries. A long read. */
export const countDeliveries = longRead.count<string>('SELECT count(*) FROM deliveries WHERE webhook_id = :webhookId');
