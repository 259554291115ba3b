/**
 * Webhook endpoints of applications, and the endpoint of each that is sent logout tokens. Reads exclude removed endpoints;
 * their row goes with the last delivery.
 */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, orm, prepared, query } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import { type Webhook, webhooks } from './schema/webhooks.ts';

export type { Webhook };
export { WEBHOOK_STATUSES } from './schema/webhooks.ts';

const { placeholder } = sql;

/** Columns to decide whether an endpoint subscribes to an event. */
export interface Subscriber {
  readonly id: string;
  /** JSON list of types, or `["*"]`. */
  readonly events: string;
  readonly kind: Webhook['kind'];
}

/** Returns the endpoints that events are queued for, including quarantined ones, where the deliveries are held. */
export const findSubscribers = query.rows<Subscriber, string>(
  `SELECT id, events, kind FROM webhooks
   WHERE application_id = :applicationId AND status <> 'disabled' AND removed_at IS NULL`,
);

/** Hides the endpoints of logout tokens, which the OpenID settings manage. */
const IS_WEBHOOK = eq(webhooks.kind, 'events');

const webhookById = prepared((db) =>
  db
    .select()
    .from(webhooks)
    .where(
      and(
        eq(webhooks.applicationId, placeholder('applicationId')),
        eq(webhooks.id, placeholder('id')),
        IS_WEBHOOK,
        isNull(webhooks.removedAt),
      ),
    )
    .prepare(),
);

/** Returns a webhook; undefined if it was removed or is another application's. */
export async function findWebhook(reader: Reader, applicationId: string, id: string): Promise<Webhook | undefined> {
  const [webhook] = await webhookById(reader, { applicationId, id });
  return webhook;
}

/** Returns webhooks in order of creation. @param after continues after this id. */
export async function listWebhooks(
  reader: Reader,
  applicationId: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<Webhook[]> {
  return orm(reader)
    .select()
    .from(webhooks)
    .where(
      and(
        eq(webhooks.applicationId, applicationId),
        IS_WEBHOOK,
        isNull(webhooks.removedAt),
        after === undefined ? undefined : gt(webhooks.id, after),
      ),
    )
    .orderBy(asc(webhooks.id))
    .limit(limit);
}

/** Returns the number of webhooks, without removed ones. */
export const countWebhooks = query.count<string>(
  "SELECT count(*) FROM webhooks WHERE application_id = :applicationId AND kind = 'events' AND removed_at IS NULL",
);

/** Returns the endpoint that an application's logout tokens are sent to; an application has at most one. */
export const findLogoutEndpoint = query.row<Pick<Webhook, 'id' | 'url' | 'status'>, string>(
  `SELECT id, url, status FROM webhooks WHERE application_id = :applicationId AND kind = 'logout' AND removed_at IS NULL`,
);

export interface NewWebhookRow {
  readonly applicationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: string[];
  readonly sealedSecret: string;
  readonly kind: Webhook['kind'];
}

export function insertWebhook(unit: Unit, columns: NewWebhookRow): Promise<Webhook> {
  const { now } = unit;
  const id = newId('webhook', now);
  return insertOne(unit, webhooks, { id, ...columns, status: 'active', createdAt: now, updatedAt: now });
}

export function updateWebhook(
  unit: Unit,
  id: string,
  columns: Partial<Omit<Webhook, 'id' | 'updatedAt'>>,
): Promise<Webhook> {
  return updateOne(unit, webhooks, id, { ...columns, updatedAt: unit.now });
}

/** Deletes the row. Deliveries must be deleted first, in batches: the delete would cascade to them. */
export const deleteWebhook = change<string>('DELETE FROM webhooks WHERE id = :id');

/** Columns of an active endpoint that sending needs. */
export interface Endpoint {
  readonly id: string;
  readonly kind: Webhook['kind'];
  readonly url: string;
  readonly sealedSecret: string;
  readonly previousSealedSecret: string | null;
  readonly previousSecretEndsAt: number | null;
  readonly inOrderUntil: string | null;
  readonly inOrderAfter: string | null;
}

export const ENDPOINT_COLUMNS = `id, kind, url, sealed_secret AS "sealedSecret", previous_sealed_secret AS "previousSealedSecret",
  previous_secret_ends_at AS "previousSecretEndsAt", in_order_until AS "inOrderUntil", in_order_after AS "inOrderAfter"`;

/** An endpoint that is sent nothing until it is released. */
export interface QuarantinedEndpoint {
  readonly id: string;
  readonly url: string;
  readonly applicationId: string;
  readonly applicationName: string;
}

/** Returns a workspace's quarantined webhooks, oldest first; reads inactive ones only. */
export const listQuarantinedEndpoints = query.rows<QuarantinedEndpoint, { workspaceId: string; limit: number }>(
  `SELECT w.id, w.url, a.id AS "applicationId", a.name AS "applicationName"
   FROM webhooks w JOIN applications a ON a.id = w.application_id
   WHERE w.status <> 'active' AND w.status = 'quarantined' AND w.kind = 'events' AND w.removed_at IS NULL
     AND a.workspace_id = :workspaceId
   ORDER BY w.id LIMIT :limit`,
);

/** Quarantines an active endpoint; its deliveries are held from now on. @returns undefined if it was not active. */
export const quarantineWebhook = change.row<
  { readonly applicationId: string; readonly url: string; readonly description: string | null },
  { id: string; reason: string }
>(
  `UPDATE webhooks SET status = 'quarantined', quarantined_at = :now, quarantine_reason = :reason, updated_at = :now,
     drop_notice_at = NULL
   WHERE id = :id AND status = 'active' AND removed_at IS NULL RETURNING application_id AS "applicationId", url,
     description`,
);

/** Advances the in-order position after a held delivery was tried. */
export const noteTriedInOrder = change<{ id: string; deliveryId: string }>(
  `UPDATE webhooks SET in_order_after = :deliveryId
   WHERE id = :id AND in_order_until >= :deliveryId AND in_order_after < :deliveryId`,
);

/** Ends in-order sending once every held delivery up to `until` was tried: later deliveries no longer wait. */
export const endOrder = change<{ id: string; until: string }>(
  'UPDATE webhooks SET in_order_until = NULL, in_order_after = NULL WHERE id = :id AND in_order_until = :until',
);
