/** Webhook deliveries, one per event and endpoint, created in the event's own change, and their attempts. */
import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { onlyOne } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { change, longRead, orm, query } from '../db/statements.ts';
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

const insertRow = change<NewDelivery & { id: string }>(
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

/** Times for due checks. Leases use real time, so that moving the instance's clock cuts no attempt short. */
export interface DueTimes {
  readonly now: number;
  readonly realNow: number;
}

/** SQL: endpoint `w` is active and may have a due delivery at `:now` and `:realNow`. */
const IS_DUE = `w.status = 'active' AND w.removed_at IS NULL AND (w.in_order_until IS NOT NULL OR EXISTS (
  SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= :now
    AND (d.leased_until IS NULL OR d.leased_until <= :realNow)))`;

export interface DueEndpoint {
  /** The budget whose concurrency limit applies. */
  readonly budgetId: string;
}

/** Returns the endpoint if it is active and has a due delivery. Costs the same however many are pending. */
export const findDueEndpoint = query.row<DueEndpoint, DueTimes & { webhookId: string }>(
  `SELECT ${budgetOf('s')} AS "budgetId" FROM webhooks w JOIN applications a ON a.id = w.application_id
   LEFT JOIN workspaces s ON s.id = a.workspace_id WHERE w.id = :webhookId AND ${IS_DUE}`,
);

export interface WaitingEndpoint {
  readonly id: string;
  readonly isDue: boolean;
}

/** Number of endpoints per read, however many deliveries each has pending. */
export const ENDPOINTS_READ = 200;

/** Returns at most `ENDPOINTS_READ` endpoints by id. `after` continues after an id. */
export const listWaitingEndpoints = query.rows<WaitingEndpoint, DueTimes & { after: string }>(
  ({ joinInOrder }) => `WITH RECURSIVE waiting (id, place) AS (
     SELECT (SELECT min(webhook_id) FROM deliveries WHERE status = 'pending' AND webhook_id > :after), 1
     UNION ALL
     SELECT (SELECT min(d.webhook_id) FROM deliveries d WHERE d.status = 'pending' AND d.webhook_id > waiting.id), place + 1
     FROM waiting WHERE waiting.id IS NOT NULL AND place < ${ENDPOINTS_READ})
   SELECT w.id, ${IS_DUE} AS "isDue" FROM waiting ${joinInOrder} webhooks w ON w.id = waiting.id ORDER BY w.id`,
);

/** More than the concurrent deliveries to one endpoint, so that deliveries in flight do not hide due ones. */
const DUE_READ = 20;

/** Returns the first due deliveries without a lease, longest due first. */
export const listDueDeliveries = query.values<string, DueTimes & { webhookId: string }>(
  `SELECT id FROM deliveries WHERE webhook_id = :webhookId AND status = 'pending' AND next_attempt_at <= :now
     AND (leased_until IS NULL OR leased_until <= :realNow) ORDER BY next_attempt_at, id LIMIT ${DUE_READ}`,
);

/** Returns the oldest pending delivery in an id range, due or not. */
export const findNextPending = query.row<
  { readonly id: string; readonly leasedUntil: number | null },
  { webhookId: string; after: string; until: string }
>(
  `SELECT id, leased_until AS "leasedUntil" FROM deliveries WHERE id = (
     SELECT min(id) FROM deliveries WHERE webhook_id = :webhookId AND status = 'pending' AND id > :after AND id <= :until)`,
);

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

const setLeased = change<NewLease & { id: string }>(
  'UPDATE deliveries SET leased_until = :until, lease_holder = :holder, attempts = attempts + 1 WHERE id = :id',
);

const leasedById = query.rows<LeasedDelivery, string>(
  ({ joinInOrder }) => `SELECT d.id AS "deliveryId", d.attempts, e.id, e.application_id AS "applicationId",
     e.type, e.data, e.created_at AS "createdAt"
   FROM deliveries d ${joinInOrder} events e ON e.id = d.event_id WHERE d.id = :id`,
);

/** Leases a delivery and counts the attempt. No other instance attempts it during the lease. */
export async function leaseDelivery(unit: Unit, id: string, lease: NewLease): Promise<LeasedDelivery> {
  await setLeased(unit, { id, ...lease });
  return onlyOne(await leasedById(unit, id));
}

const setFinished = change<{ id: string; status: 'delivered' | 'failed' }>(
  'UPDATE deliveries SET status = :status, finished_at = :now, leased_until = NULL WHERE id = :id',
);

/** Marks a delivery as final: no further attempt follows. */
export async function finishDelivery(unit: Unit, id: string, status: 'delivered' | 'failed'): Promise<void> {
  await setFinished(unit, { id, status });
  unit.publish(DELIVERY_FINISHED, status);
}

/** Ends the lease. The next attempt is due at `until`, in epoch milliseconds. */
export const postponeDelivery = change<{ id: string; until: number }>(
  'UPDATE deliveries SET next_attempt_at = :until, leased_until = NULL WHERE id = :id',
);

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

const recordInterrupted = change<StaleLeases & { errorClass: string; leaseMs: number }>(
  `INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, error_class, request_headers)
   SELECT id, attempts, leased_until - :leaseMs, 0, :errorClass, '{}' FROM deliveries WHERE status = 'pending' AND ${IS_STALE}
   ON CONFLICT (delivery_id, number) DO NOTHING`,
);

const clearLeases = change<StaleLeases>(
  `UPDATE deliveries SET leased_until = NULL WHERE status = 'pending' AND ${IS_STALE}`,
);

/**
 * Records the attempts that a stop or crash cut off, and makes their deliveries due again.
 * @param stale the length of a lease gives the start of the attempt.
 */
export async function endLeases(
  unit: Unit,
  stale: StaleLeases & { readonly errorClass: string; readonly leaseMs: number },
): Promise<void> {
  await recordInterrupted(unit, stale);
  await clearLeases(unit, stale);
}

/** Deletes an endpoint's oldest deliveries with their attempts. @returns the number deleted. */
export const deleteDeliveries = change<{ webhookId: string; limit: number }>(
  `DELETE FROM deliveries WHERE id IN (
     SELECT id FROM deliveries WHERE webhook_id = :webhookId ORDER BY id LIMIT :limit)`,
);

/** Returns the number of an endpoint's deliveries. A long read. */
export const countDeliveries = longRead.count<string>('SELECT count(*) FROM deliveries WHERE webhook_id = :webhookId');
