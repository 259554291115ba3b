/** Webhook deliveries, one per event and endpoint, created in the event's own change, and their attempts. */
import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { only } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { longRead, orm, raw, rawChange } from '../db/statements.ts';
import { budgetOf } from './budgets.ts';
import { IS_STALE, type NewLease, type StaleLeases } from './leases.ts';
import { type Delivery, deliveries, deliveryAttempts } from './schema/webhooks.ts';

export type { Delivery };
export { DELIVERY_STATUSES } from './schema/webhooks.ts';

/** Endpoint ids that deliveries were queued for. */
export const DELIVERY_QUEUED = topic<string>('delivery queued');

export interface DeliveryAttempted {
  readonly applicationId: string;
  readonly webhookId: string;
  readonly isDelivered: boolean;
}

export const DELIVERY_ATTEMPTED = topic<DeliveryAttempted>('delivery attempted');

export const DELIVERY_FINISHED = topic<'delivered' | 'failed'>('delivery finished');

const insertRow = rawChange<[string, string, string, string, number]>(
  `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
   VALUES (?1, ?2, ?3, ?4, 'pending', 0, ?5, ?5)`,
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
  await insertRow(unit, id, webhookId, eventId, eventType, now);
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

/** Returns a delivery's attempts in order. */
export async function listAttempts(reader: Reader, deliveryId: string): Promise<DeliveryAttempt[]> {
  const rows = await orm(reader)
    .select()
    .from(deliveryAttempts)
    .where(eq(deliveryAttempts.deliveryId, deliveryId))
    .orderBy(asc(deliveryAttempts.number));
  return rows.map(({ deliveryId: _, ...attempt }) => attempt);
}

const countPending = longRead<{ count: number }, [string]>(
  "SELECT count(*) AS count FROM deliveries WHERE webhook_id = ? AND status = 'pending'",
);

/** Returns how many deliveries are pending for an endpoint, due or not. A long read. */
export async function countPendingDeliveries(reader: Reader, webhookId: string): Promise<number> {
  return only(await countPending(reader, webhookId)).count;
}

const newestPending = raw<{ id: string | null }, [string]>(
  "SELECT max(id) AS id FROM deliveries WHERE webhook_id = ? AND status = 'pending'",
);

/** Returns the highest id of an endpoint's pending deliveries; null if none is pending. */
export async function findNewestPending(reader: Reader, webhookId: string): Promise<string | null> {
  const [row] = await newestPending(reader, webhookId);
  return row?.id ?? null;
}

/** Times for due checks. Leases use real time, so that moving the instance's clock cuts no attempt short. */
export interface DueTimes {
  /** The instance's clock. */
  readonly now: number;
  readonly realNow: number;
}

/** SQL: endpoint `w` is active and may have a due delivery; `?2` is `now`, `?3` is `realNow`. */
const IS_DUE = `w.status = 'active' AND w.removed_at IS NULL AND (w.in_order_until IS NOT NULL OR EXISTS (
  SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= ?2
    AND (d.leased_until IS NULL OR d.leased_until <= ?3)))`;

export interface DueEndpoint {
  /** The budget whose concurrency limit applies. */
  readonly budgetId: string;
}

const dueEndpoint = raw<DueEndpoint, [string, number, number]>(
  `SELECT ${budgetOf('s')} AS "budgetId" FROM webhooks w JOIN applications a ON a.id = w.application_id
   LEFT JOIN workspaces s ON s.id = a.workspace_id WHERE w.id = ?1 AND ${IS_DUE}`,
);

/** Returns the endpoint if it is active and has a due delivery. Costs the same however many are pending. */
export async function findDueEndpoint(
  reader: Reader,
  webhookId: string,
  { now, realNow }: DueTimes,
): Promise<DueEndpoint | undefined> {
  const [endpoint] = await dueEndpoint(reader, webhookId, now, realNow);
  return endpoint;
}

export interface WaitingEndpoint {
  readonly id: string;
  /** The endpoint is active and may have a due delivery. */
  readonly isDue: 0 | 1;
}

/** Number of endpoints per read, however many deliveries each has pending. */
export const ENDPOINTS_READ = 200;

const waitingEndpoints = raw<WaitingEndpoint, [string, number, number]>(
  `WITH RECURSIVE waiting (id, place) AS (
     SELECT (SELECT min(webhook_id) FROM deliveries WHERE status = 'pending' AND webhook_id > ?1), 1
     UNION ALL
     SELECT (SELECT min(d.webhook_id) FROM deliveries d WHERE d.status = 'pending' AND d.webhook_id > waiting.id), place + 1
     FROM waiting WHERE waiting.id IS NOT NULL AND place < ${ENDPOINTS_READ})
   SELECT w.id, ${IS_DUE} AS "isDue" FROM waiting CROSS JOIN webhooks w ON w.id = waiting.id ORDER BY w.id`,
);

/** Returns at most `ENDPOINTS_READ` endpoints by id. @param after continues after this id. */
export function listWaitingEndpoints(
  reader: Reader,
  after: string,
  { now, realNow }: DueTimes,
): Promise<WaitingEndpoint[]> {
  return waitingEndpoints(reader, after, now, realNow);
}

/** Exceeds the deliveries concurrently under way to one endpoint, so that those do not hide the due ones. */
const DUE_READ = 20;

const dueDeliveries = raw<{ id: string }, [string, number, number]>(
  `SELECT id FROM deliveries WHERE webhook_id = ?1 AND status = 'pending' AND next_attempt_at <= ?2
     AND (leased_until IS NULL OR leased_until <= ?3) ORDER BY next_attempt_at, id LIMIT ${DUE_READ}`,
);

/** Returns the first due deliveries without a lease, longest due first. */
export async function listDueDeliveries(unit: Unit, webhookId: string, { now, realNow }: DueTimes): Promise<string[]> {
  return (await dueDeliveries(unit, webhookId, now, realNow)).map(({ id }) => id);
}

const nextPending = raw<{ id: string; leasedUntil: number | null }, [string, string, string]>(
  `SELECT id, leased_until AS "leasedUntil" FROM deliveries WHERE id = (
     SELECT min(id) FROM deliveries WHERE webhook_id = ? AND status = 'pending' AND id > ? AND id <= ?)`,
);

/** Returns the oldest pending delivery in an id range, due or not. */
export async function findNextPending(
  reader: Reader,
  webhookId: string,
  { after, until }: { readonly after: string; readonly until: string },
): Promise<{ readonly id: string; readonly leasedUntil: number | null } | undefined> {
  const [next] = await nextPending(reader, webhookId, after, until);
  return next;
}

export interface LeasedDelivery {
  readonly deliveryId: string;
  /** The number of the leased attempt, from 1. */
  readonly attempts: number;
  /** The event's id. */
  readonly id: string;
  readonly applicationId: string;
  readonly type: string;
  /** JSON text as stored. */
  readonly data: string;
  readonly createdAt: number;
}

const setLeased = rawChange<[number, string, string]>(
  'UPDATE deliveries SET leased_until = ?, lease_holder = ?, attempts = attempts + 1 WHERE id = ?',
);

const leasedById = raw<LeasedDelivery, [string]>(
  `SELECT d.id AS "deliveryId", d.attempts, e.id, e.application_id AS "applicationId", e.type, e.data, e.created_at AS "createdAt"
   FROM deliveries d CROSS JOIN events e ON e.id = d.event_id WHERE d.id = +?`,
);

/** Leases a delivery and counts the attempt: nobody else attempts it meanwhile. */
export async function leaseDelivery(unit: Unit, id: string, { holder, until }: NewLease): Promise<LeasedDelivery> {
  await setLeased(unit, until, holder, id);
  return only(await leasedById(unit, id));
}

const setFinished = rawChange<['delivered' | 'failed', number, string]>(
  'UPDATE deliveries SET status = ?, finished_at = ?, leased_until = NULL WHERE id = ?',
);

/** Marks a delivery as final: no further attempt follows. */
export async function finishDelivery(unit: Unit, id: string, status: 'delivered' | 'failed'): Promise<void> {
  await setFinished(unit, status, unit.now, id);
  unit.publish(DELIVERY_FINISHED, status);
}

const setNextAttempt = rawChange<[number, string]>(
  'UPDATE deliveries SET next_attempt_at = ?, leased_until = NULL WHERE id = ?',
);

/** Ends the lease. @param until when the next attempt is due, in epoch milliseconds. */
export async function postponeDelivery(unit: Unit, id: string, until: number): Promise<void> {
  await setNextAttempt(unit, until, id);
}

export interface PlannedDelivery {
  readonly webhookId: string;
  readonly nextAttemptAt: number;
  readonly id: string;
}

/** Maximum number per read. */
export const PLANNED_READ = 1000;

const plannedAhead = longRead<PlannedDelivery, [number, string, number, string]>(
  `SELECT d.webhook_id AS "webhookId", d.next_attempt_at AS "nextAttemptAt", d.id
   FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = d.attempts
   WHERE d.status = 'pending' AND d.next_attempt_at > ?1 AND coalesce(a.started_at, d.created_at) > ?1
     AND (d.webhook_id, d.next_attempt_at, d.id) > (?2, ?3, ?4)
   ORDER BY d.webhook_id, d.next_attempt_at, d.id LIMIT ${PLANNED_READ}`,
);

/**
 * Returns deliveries whose wait began in the future, as after the clock went back.
 * Runs in another thread, since it also passes every delivery whose wait began earlier.
 */
export function listDeliveriesPlannedAhead(
  reader: Reader,
  now: number,
  after: PlannedDelivery | undefined,
): Promise<PlannedDelivery[]> {
  return plannedAhead(reader, now, after?.webhookId ?? '', after?.nextAttemptAt ?? 0, after?.id ?? '');
}

const setDue = rawChange<[number, string, number]>(
  "UPDATE deliveries SET next_attempt_at = ?1 WHERE id = ?2 AND status = 'pending' AND next_attempt_at = ?3",
);

/** Makes a delivery due unless it was rescheduled meanwhile. */
export async function bringDeliveryForward(unit: Unit, { id, nextAttemptAt }: PlannedDelivery): Promise<void> {
  await setDue(unit, unit.now, id, nextAttemptAt);
}

const insertAttemptRow = rawChange<
  [string, number, number, number, number | null, string | null, string, string | null]
>(
  `INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, status_code, error_class,
     request_headers, response_excerpt)
   SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM deliveries WHERE id = ?1)
   ON CONFLICT (delivery_id, number) DO UPDATE SET started_at = excluded.started_at, duration_ms = excluded.duration_ms,
     status_code = excluded.status_code, error_class = excluded.error_class, request_headers = excluded.request_headers,
     response_excerpt = excluded.response_excerpt`,
);

/** Inserts an attempt, unless its delivery was deleted meanwhile. */
export async function insertAttempt(unit: Unit, deliveryId: string, attempt: DeliveryAttempt): Promise<void> {
  const { number, startedAt, durationMs, statusCode, errorClass, requestHeaders, responseExcerpt } = attempt;
  const headers = JSON.stringify(requestHeaders);
  await insertAttemptRow(
    unit,
    deliveryId,
    number,
    startedAt,
    durationMs,
    statusCode,
    errorClass,
    headers,
    responseExcerpt,
  );
}

const recordInterrupted = rawChange<[string, number, string, number]>(
  `INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, error_class, request_headers)
   SELECT id, attempts, leased_until - ?4, 0, ?3, '{}' FROM deliveries WHERE status = 'pending' AND ${IS_STALE}
   ON CONFLICT (delivery_id, number) DO NOTHING`,
);

const clearLeases = rawChange<[string, number]>(
  `UPDATE deliveries SET leased_until = NULL WHERE status = 'pending' AND ${IS_STALE}`,
);

/**
 * Records the attempts that a stop or crash cut off, and makes their deliveries due again.
 * @param leaseMs length of a lease, from which the start of the attempt is calculated.
 */
export async function endLeases(
  unit: Unit,
  { holder, realNow, errorClass, leaseMs }: StaleLeases & { readonly errorClass: string; readonly leaseMs: number },
): Promise<void> {
  await recordInterrupted(unit, holder, realNow, errorClass, leaseMs);
  await clearLeases(unit, holder, realNow);
}

const deleteSome = rawChange<[string, number]>(
  'DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE webhook_id = ? ORDER BY id LIMIT ?)',
);

/** Deletes an endpoint's oldest deliveries with their attempts. @returns the number deleted. */
export function deleteDeliveries(unit: Unit, webhookId: string, limit: number): Promise<number> {
  return deleteSome(unit, webhookId, limit);
}

const countOfWebhook = longRead<{ count: number }, [string]>(
  'SELECT count(*) AS count FROM deliveries WHERE webhook_id = ?',
);

/** Returns the number of an endpoint's deliveries. A long read. */
export async function countDeliveries(reader: Reader, webhookId: string): Promise<number> {
  return only(await countOfWebhook(reader, webhookId)).count;
}
