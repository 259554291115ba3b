/** Due deliveries and their leases: each statement serves any number of endpoints or deliveries. */
import type { Claim } from '../core/lease-keeper.ts';
import type { Unit } from '../db/database.ts';
import { change, type Dialect, query } from '../db/statements.ts';
import { budgetOf } from './budgets.ts';
import {
  claimValues,
  type ClaimValues,
  IS_FREE,
  IS_STALE,
  matchesClaims,
  leases,
  type NewLease,
  type StaleLeases,
} from './leases.ts';
import { ENDPOINT_COLUMNS, type Endpoint } from './webhooks.ts';

/** Times for due checks. Leases use real time, so that moving the instance's clock cuts no attempt short. */
export interface DueTimes {
  readonly now: number;
  readonly realNow: number;
}

/** SQL: id of the next held delivery of endpoint `w`, which is sent in order; null if each was tried. */
const NEXT_IN_ORDER = `(SELECT min(n.id) FROM deliveries n WHERE n.webhook_id = w.id AND n.status = 'pending'
  AND n.id > coalesce(w.in_order_after, '') AND n.id <= w.in_order_until)`;

/** SQL: endpoint `w` is active and may have a due delivery at `:now` and `:realNow`. */
const IS_DUE = `w.status = 'active' AND w.removed_at IS NULL AND CASE WHEN w.in_order_until IS NULL
  THEN EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.next_attempt_at <= :now
    AND ${IS_FREE})
  ELSE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = ${NEXT_IN_ORDER} AND NOT ${IS_FREE}) END`;

export interface DueEndpoint {
  readonly webhookId: string;
  /** The budget whose concurrency limit applies. */
  readonly budgetId: string;
}

/** Returns those of the endpoints that are active and have a due delivery, in no order. Cost per endpoint is constant. */
export const listDueEndpoints = query.rows<DueEndpoint, DueTimes & { webhookIds: readonly string[] }>(
  ({ idList }) => `SELECT w.id AS "webhookId", ${budgetOf('s')} AS "budgetId"
   FROM webhooks w JOIN applications a ON a.id = w.application_id LEFT JOIN workspaces s ON s.id = a.workspace_id
   WHERE w.id IN ${idList(':webhookIds')} AND ${IS_DUE}`,
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

const claimable = query.rows<
  Endpoint & { readonly nextInOrder: string | null; readonly due: string | null },
  DueTimes & { webhookIds: readonly string[] }
>(
  ({ idList }) => `SELECT ${ENDPOINT_COLUMNS}, next_in_order AS "nextInOrder",
     CASE WHEN next_in_order IS NULL THEN (
       SELECT string_agg(d.id || ' ' || d.attempts, ',' ORDER BY d.next_attempt_at, d.id) FROM (
         SELECT id, attempts, next_attempt_at FROM deliveries
         WHERE webhook_id = w.id AND status = 'pending' AND next_attempt_at <= :now AND ${IS_FREE}
         ORDER BY next_attempt_at, id LIMIT ${DUE_READ}) d)
     ELSE (SELECT d.id || ' ' || d.attempts FROM deliveries d WHERE d.id = next_in_order AND ${IS_FREE}) END AS due
   FROM (SELECT w.*, ${NEXT_IN_ORDER} AS next_in_order FROM webhooks w WHERE w.id IN ${idList(':webhookIds')}) w
   WHERE status = 'active' AND removed_at IS NULL`,
);

/** An active endpoint with its first due deliveries. */
export interface Claimable {
  readonly endpoint: Endpoint;
  /** Whether only the next held delivery may be sent, and no other one beside it. */
  readonly isInOrder: boolean;
  /** Longest due first, with the attempts made so far; at most one if they are sent in order. */
  readonly due: readonly Claim[];
}

/** Returns those of the endpoints that are active. */
export async function listClaimable(
  unit: Unit,
  given: DueTimes & { readonly webhookIds: readonly string[] },
): Promise<Claimable[]> {
  return (await claimable(unit, given)).map(({ nextInOrder, due, ...endpoint }) => ({
    endpoint,
    isInOrder: nextInOrder !== null,
    due: due === null ? [] : due.split(',').map(claimOf),
  }));
}

function claimOf(text: string): Claim {
  const [id = '', attempts] = text.split(' ');
  return { id, attempts: Number(attempts) };
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

const deliveryLeases = leases<{ readonly id: string }>({ table: 'deliveries', open: 'pending', columns: 'id' });

const leasedById = query.rows<LeasedDelivery, readonly string[]>(
  ({ joinInOrder, idList }) => `SELECT d.id AS "deliveryId", d.attempts, e.id, e.application_id AS "applicationId",
     e.type, e.data, e.created_at AS "createdAt"
   FROM deliveries d ${joinInOrder} events e ON e.id = d.event_id WHERE d.id IN ${idList(':ids')}`,
);

/** Leases deliveries and counts the attempts. @returns those that no other instance has claimed, in no order. */
export async function leaseDeliveries(
  unit: Unit,
  claims: readonly Claim[],
  lease: NewLease,
): Promise<LeasedDelivery[]> {
  const taken = await deliveryLeases.take(unit, claims, lease);
  if (taken.length === 0) return [];
  return leasedById(
    unit,
    taken.map(({ id }) => id),
  );
}

export const renewDeliveryLeases = deliveryLeases.renew;

export const releaseDeliveries = deliveryLeases.release;

/** Delivery whose attempt was cut off. */
export interface StaleDelivery extends Claim {
  readonly webhookId: string;
}

/** Returns the deliveries with a stale lease. Reads leased deliveries only. */
export const listStaleLeases = query.rows<StaleDelivery, StaleLeases>(
  `SELECT id, attempts, webhook_id AS "webhookId" FROM deliveries WHERE status = 'pending' AND ${IS_STALE}`,
);

interface EndedLeases extends StaleLeases {
  readonly errorClass: string;
  /** Gives the start of the attempt. */
  readonly leaseMs: number;
}

const stale = (dialect: Dialect) =>
  `id IN (SELECT id FROM deliveries WHERE ${matchesClaims(dialect)} AND status = 'pending' AND ${IS_STALE} ${dialect.skipLocked})`;

const recordInterrupted = change<EndedLeases & ClaimValues>(
  (
    dialect,
  ) => `INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, error_class, request_headers)
   SELECT id, attempts, leased_until - :leaseMs, 0, :errorClass, '{}' FROM deliveries WHERE ${stale(dialect)}
   ON CONFLICT (delivery_id, number) DO NOTHING`,
);

const clearLeases = change<StaleLeases & ClaimValues>(
  (dialect) => `UPDATE deliveries SET leased_until = NULL WHERE ${stale(dialect)}`,
);

/** Records attempts that were cut off, and makes their deliveries due again, where the leases are still stale. */
export async function endLeases(unit: Unit, claims: readonly Claim[], ended: EndedLeases): Promise<void> {
  const given = { ...claimValues(claims), ...ended };
  await recordInterrupted(unit, given);
  await clearLeases(unit, given);
}
