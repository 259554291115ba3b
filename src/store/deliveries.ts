/** Deliveries: one event on its way to one endpoint, made in the change that made the event; and every attempt at them. */
import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { only } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { longRead, orm, raw, rawChange } from '../db/statements.ts';
import { budgetOf } from './budgets.ts';
import { type Delivery, deliveries, deliveryAttempts } from './schema/webhooks.ts';

export type { Delivery };
export { DELIVERY_STATUSES } from './schema/webhooks.ts';

/** Something was queued for these endpoints. */
export const DELIVERY_QUEUED = topic<string>('delivery queued');

/** What became of an attempt at a delivery. */
export interface DeliveryAttempted {
  readonly applicationId: string;
  readonly webhookId: string;
  readonly isDelivered: boolean;
}

export const DELIVERY_ATTEMPTED = topic<DeliveryAttempted>('delivery attempted');

/** A delivery came to its end. */
export const DELIVERY_FINISHED = topic<'delivered' | 'failed'>('delivery finished');

const insertRow = rawChange<[string, string, string, string, number]>(
  `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
   VALUES (?1, ?2, ?3, ?4, 'pending', 0, ?5, ?5)`,
);

/** Which event goes to which endpoint. */
export interface NewDelivery {
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
}

/** Due at once, where its endpoint is active. */
export async function insertDelivery(unit: Unit, { webhookId, eventId, eventType }: NewDelivery): Promise<Delivery> {
  const { now } = unit;
  const id = newId('delivery', now);
  await insertRow(unit, id, webhookId, eventId, eventType, now);
  unit.tell(DELIVERY_QUEUED, webhookId);
  const state = { status: 'pending', attempts: 0, nextAttemptAt: now, leasedUntil: null } as const;
  return { id, webhookId, eventId, eventType, ...state, createdAt: now, finishedAt: null };
}

/** Undefined for one of another endpoint. */
export async function findDelivery(reader: Reader, webhookId: string, id: string): Promise<Delivery | undefined> {
  const [delivery] = await orm(reader)
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, webhookId), eq(deliveries.id, id)));
  return delivery;
}

/** Those of these ids, newest first. */
export async function findDeliveries(reader: Reader, ids: readonly string[]): Promise<Delivery[]> {
  if (ids.length === 0) return [];
  return orm(reader)
    .select()
    .from(deliveries)
    .where(inArray(deliveries.id, [...ids]))
    .orderBy(desc(deliveries.id));
}

/** Newest first. @param before goes on behind this one. */
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

/** In the order they were made. */
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

/** How many wait for an endpoint, due or not. A long read. */
export async function countPendingDeliveries(reader: Reader, webhookId: string): Promise<number> {
  return only(await countPending(reader, webhookId)).count;
}

const newestPending = raw<{ id: string | null }, [string]>(
  "SELECT max(id) AS id FROM deliveries WHERE webhook_id = ? AND status = 'pending'",
);

/** By id, due or not; null where none waits. */
export async function findNewestPending(reader: Reader, webhookId: string): Promise<string | null> {
  const [row] = await newestPending(reader, webhookId);
  return row?.id ?? null;
}

/** By when a delivery is due, and its lease over. Leases are real time: a clock that is moved does not cut an attempt short. */
export interface DueTimes {
  /** By the instance's clock. */
  readonly now: number;
  readonly realNow: number;
}

/** Whether an endpoint is sent to and at least one delivery may be due, in terms of `w`, the time `?2` and the real one `?3`. */
const IS_DUE = `w.status = 'active' AND w.removed_at IS NULL AND (w.in_order_until IS NOT NULL OR EXISTS (
  SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= ?2
    AND (d.leased_until IS NULL OR d.leased_until <= ?3)))`;

/** An endpoint for which at least one delivery may be due. */
export interface DueEndpoint {
  /** The budget whose places its deliveries use. */
  readonly budgetId: string;
}

const dueEndpoint = raw<DueEndpoint, [string, number, number]>(
  `SELECT ${budgetOf('s')} AS "budgetId" FROM webhooks w JOIN applications a ON a.id = w.application_id
   LEFT JOIN workspaces s ON s.id = a.workspace_id WHERE w.id = ?1 AND ${IS_DUE}`,
);

/** However many wait: it costs the same. @returns undefined where none is due, or it is not sent to. */
export async function findDueEndpoint(
  reader: Reader,
  webhookId: string,
  { now, realNow }: DueTimes,
): Promise<DueEndpoint | undefined> {
  const [endpoint] = await dueEndpoint(reader, webhookId, now, realNow);
  return endpoint;
}

/** An endpoint that deliveries wait for. */
export interface WaitingEndpoint {
  readonly id: string;
  /** It is active, and at least one of them may be due. */
  readonly isDue: 0 | 1;
}

/** So many endpoints are looked at in one read, however many deliveries wait for each. */
export const ENDPOINTS_READ = 200;

const waitingEndpoints = raw<WaitingEndpoint, [string, number, number]>(
  `WITH RECURSIVE waiting (id, place) AS (
     SELECT (SELECT min(webhook_id) FROM deliveries WHERE status = 'pending' AND webhook_id > ?1), 1
     UNION ALL
     SELECT (SELECT min(d.webhook_id) FROM deliveries d WHERE d.status = 'pending' AND d.webhook_id > waiting.id), place + 1
     FROM waiting WHERE waiting.id IS NOT NULL AND place < ${ENDPOINTS_READ})
   SELECT w.id, ${IS_DUE} AS "isDue" FROM waiting CROSS JOIN webhooks w ON w.id = waiting.id ORDER BY w.id`,
);

/** At most `ENDPOINTS_READ`, by id. @param after goes on behind this one. */
export function listWaitingEndpoints(
  reader: Reader,
  after: string,
  { now, realNow }: DueTimes,
): Promise<WaitingEndpoint[]> {
  return waitingEndpoints(reader, after, now, realNow);
}

/** More than are ever under way to one endpoint, so that those do not hide the others. */
const DUE_READ = 20;

const dueDeliveries = raw<{ id: string }, [string, number, number]>(
  `SELECT id FROM deliveries WHERE webhook_id = ?1 AND status = 'pending' AND next_attempt_at <= ?2
     AND (leased_until IS NULL OR leased_until <= ?3) ORDER BY next_attempt_at, id LIMIT ${DUE_READ}`,
);

/** The first that are due and not leased, by the time they are due since. */
export async function listDueDeliveries(unit: Unit, webhookId: string, { now, realNow }: DueTimes): Promise<string[]> {
  return (await dueDeliveries(unit, webhookId, now, realNow)).map(({ id }) => id);
}

const nextPending = raw<{ id: string; leasedUntil: number | null }, [string, string, string]>(
  `SELECT id, leased_until AS "leasedUntil" FROM deliveries WHERE id = (
     SELECT min(id) FROM deliveries WHERE webhook_id = ? AND status = 'pending' AND id > ? AND id <= ?)`,
);

/** The oldest pending one between two, whenever it would be due. */
export async function findNextPending(
  reader: Reader,
  webhookId: string,
  { after, until }: { readonly after: string; readonly until: string },
): Promise<{ readonly id: string; readonly leasedUntil: number | null } | undefined> {
  const [next] = await nextPending(reader, webhookId, after, until);
  return next;
}

/** The event of a delivery, and which attempt this is. */
export interface LeasedDelivery {
  readonly deliveryId: string;
  /** The number of the attempt that the lease is for, from 1. */
  readonly attempts: number;
  /** Of the event. */
  readonly id: string;
  readonly applicationId: string;
  readonly type: string;
  /** JSON text, as stored. */
  readonly data: string;
  readonly createdAt: number;
}

const setLeased = rawChange<[number, string]>(
  'UPDATE deliveries SET leased_until = ?, attempts = attempts + 1 WHERE id = ?',
);

const leasedById = raw<LeasedDelivery, [string]>(
  `SELECT d.id AS "deliveryId", d.attempts, e.id, e.application_id AS "applicationId", e.type, e.data, e.created_at AS "createdAt"
   FROM deliveries d CROSS JOIN events e ON e.id = d.event_id WHERE d.id = +?`,
);

/**
 * Counts an attempt that is about to be made; nobody else makes one until the lease is over.
 *
 * @param until in real time.
 */
export async function leaseDelivery(unit: Unit, id: string, until: number): Promise<LeasedDelivery> {
  await setLeased(unit, until, id);
  return only(await leasedById(unit, id));
}

const setFinished = rawChange<['delivered' | 'failed', number, string]>(
  'UPDATE deliveries SET status = ?, finished_at = ?, leased_until = NULL WHERE id = ?',
);

/** For good: no further attempt follows. */
export async function finishDelivery(unit: Unit, id: string, status: 'delivered' | 'failed'): Promise<void> {
  await setFinished(unit, status, unit.now, id);
  unit.tell(DELIVERY_FINISHED, status);
}

const setNextAttempt = rawChange<[number, string]>(
  'UPDATE deliveries SET next_attempt_at = ?, leased_until = NULL WHERE id = ?',
);

/** Ends the lease. @param until when the next attempt is due, in epoch milliseconds. */
export async function postponeDelivery(unit: Unit, id: string, until: number): Promise<void> {
  await setNextAttempt(unit, until, id);
}

/** A delivery that waits, with its place in the order in which those are read. */
export interface PlannedDelivery {
  readonly webhookId: string;
  readonly nextAttemptAt: number;
  readonly id: string;
}

/** So many at the most are read at once. */
export const PLANNED_READ = 1000;

const plannedAhead = longRead<PlannedDelivery, [number, string, number, string]>(
  `SELECT d.webhook_id AS "webhookId", d.next_attempt_at AS "nextAttemptAt", d.id
   FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = d.attempts
   WHERE d.status = 'pending' AND d.next_attempt_at > ?1 AND coalesce(a.started_at, d.created_at) > ?1
     AND (d.webhook_id, d.next_attempt_at, d.id) > (?2, ?3, ?4)
   ORDER BY d.webhook_id, d.next_attempt_at, d.id LIMIT ${PLANNED_READ}`,
);

/**
 * Those whose wait began at a time that is still to come, as after the clock went back. It passes those that began before on
 * its way, however many, and so is made in another thread.
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

/** Makes it due, unless it was planned anew meanwhile. */
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

/** Nothing where the delivery is gone meanwhile. */
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

const recordInterrupted = rawChange<[string, number]>(
  `INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, error_class, request_headers)
   SELECT id, attempts, leased_until - ?2, 0, ?1, '{}' FROM deliveries
   WHERE leased_until IS NOT NULL AND status = 'pending'
   ON CONFLICT (delivery_id, number) DO NOTHING`,
);

const clearLeases = rawChange<[]>(
  "UPDATE deliveries SET leased_until = NULL WHERE leased_until IS NOT NULL AND status = 'pending'",
);

/**
 * Puts the attempts on record that a stop or a crash cut off, and makes their deliveries due again.
 *
 * @param leaseMs how long a lease is: the attempt began so long before its end.
 */
export async function endLeases(
  unit: Unit,
  { errorClass, leaseMs }: { readonly errorClass: string; readonly leaseMs: number },
): Promise<void> {
  await recordInterrupted(unit, errorClass, leaseMs);
  await clearLeases(unit);
}

const deleteSome = rawChange<[string, number]>(
  'DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE webhook_id = ? ORDER BY id LIMIT ?)',
);

/** The oldest of an endpoint, with their attempts. @returns how many. */
export function deleteDeliveries(unit: Unit, webhookId: string, limit: number): Promise<number> {
  return deleteSome(unit, webhookId, limit);
}

const countOfWebhook = longRead<{ count: number }, [string]>(
  'SELECT count(*) AS count FROM deliveries WHERE webhook_id = ?',
);

/** A long read. */
export async function countDeliveries(reader: Reader, webhookId: string): Promise<number> {
  return only(await countOfWebhook(reader, webhookId)).count;
}
