/** Webhook endpoints of applications. A removed one is not found any more; its row goes with its last delivery. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { only } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, raw, rawChange } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import { type Webhook, webhooks } from './schema/webhooks.ts';

export type { Webhook };
export { WEBHOOK_STATUSES } from './schema/webhooks.ts';

const { placeholder } = sql;

/** What deciding whether an endpoint wants an event takes. */
export interface Subscriber {
  readonly id: string;
  /** JSON list of types, or `["*"]`. */
  readonly events: string;
}

const subscribers = raw<Subscriber, [string]>(
  `SELECT id, events FROM webhooks
   WHERE application_id = ? AND status <> 'disabled' AND removed_at IS NULL`,
);

/** The endpoints that events are queued for; for one in quarantine they wait there. */
export function findSubscribers(reader: Reader, applicationId: string): Promise<Subscriber[]> {
  return subscribers(reader, applicationId);
}

const webhookById = prepared((db) =>
  db
    .select()
    .from(webhooks)
    .where(
      and(
        eq(webhooks.applicationId, placeholder('applicationId')),
        eq(webhooks.id, placeholder('id')),
        isNull(webhooks.removedAt),
      ),
    )
    .prepare(),
);

/** Undefined for one that was removed, or is another application's. */
export async function findWebhook(reader: Reader, applicationId: string, id: string): Promise<Webhook | undefined> {
  const [webhook] = await webhookById(reader, { applicationId, id });
  return webhook;
}

/** In the order they were made. @param after goes on behind this one. */
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
        isNull(webhooks.removedAt),
        after === undefined ? undefined : gt(webhooks.id, after),
      ),
    )
    .orderBy(asc(webhooks.id))
    .limit(limit);
}

const countOfApplication = raw<{ count: number }, [string]>(
  'SELECT count(*) AS count FROM webhooks WHERE application_id = ? AND removed_at IS NULL',
);

/** Removed ones are not counted. */
export async function countWebhooks(reader: Reader, applicationId: string): Promise<number> {
  return only(await countOfApplication(reader, applicationId)).count;
}

/** An endpoint with its secret sealed. */
export interface NewWebhookRow {
  readonly applicationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: string[];
  readonly sealedSecret: string;
}

/** Made active. */
export function insertWebhook(unit: Unit, columns: NewWebhookRow): Promise<Webhook> {
  const { now } = unit;
  const id = newId('webhook', now);
  return insertOne(unit, webhooks, { id, ...columns, status: 'active', createdAt: now, updatedAt: now });
}

/** The change's time becomes that of the endpoint. @returns the row as it is now. */
export function updateWebhook(
  unit: Unit,
  id: string,
  columns: Partial<Omit<Webhook, 'id' | 'updatedAt'>>,
): Promise<Webhook> {
  return updateOne(unit, webhooks, id, { ...columns, updatedAt: unit.now });
}

const deleteRow = rawChange<[string]>('DELETE FROM webhooks WHERE id = ?');

/** The row itself; its deliveries must be gone, for they would go with it. */
export async function deleteWebhook(unit: Unit, id: string): Promise<void> {
  await deleteRow(unit, id);
}

/** An endpoint that is sent to, as sending takes it. */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly sealedSecret: string;
  readonly previousSealedSecret: string | null;
  readonly previousSecretEndsAt: number | null;
  /** See the schema. */
  readonly inOrderUntil: string | null;
  readonly inOrderAfter: string | null;
}

const activeById = raw<Endpoint, [string]>(
  `SELECT id, url, sealed_secret AS "sealedSecret", previous_sealed_secret AS "previousSealedSecret",
     previous_secret_ends_at AS "previousSecretEndsAt", in_order_until AS "inOrderUntil", in_order_after AS "inOrderAfter"
   FROM webhooks WHERE id = ? AND status = 'active' AND removed_at IS NULL`,
);

/** Undefined where nothing may be sent to it. */
export async function findActiveEndpoint(reader: Reader, id: string): Promise<Endpoint | undefined> {
  const [endpoint] = await activeById(reader, id);
  return endpoint;
}

const setQuarantined = raw<{ applicationId: string; url: string }, [number, string, string]>(
  `UPDATE webhooks SET status = 'quarantined', quarantined_at = ?1, quarantine_reason = ?2, updated_at = ?1,
     drop_notice_at = NULL
   WHERE id = ?3 AND status = 'active' AND removed_at IS NULL RETURNING application_id AS "applicationId", url`,
);

/** What waits for it waits there from now on. @returns undefined where it was not active. */
export async function quarantineWebhook(
  unit: Unit,
  id: string,
  reason: string,
): Promise<{ readonly applicationId: string; readonly url: string } | undefined> {
  const [webhook] = await setQuarantined(unit, unit.now, reason, id);
  return webhook;
}

const setTriedInOrder = rawChange<[string, string]>(
  'UPDATE webhooks SET in_order_after = ?1 WHERE id = ?2 AND in_order_until >= ?1 AND in_order_after < ?1',
);

/** Notes that a delivery has been tried of those that are sent in order. */
export async function noteTriedInOrder(unit: Unit, id: string, deliveryId: string): Promise<void> {
  await setTriedInOrder(unit, deliveryId, id);
}

const clearOrder = rawChange<[string]>('UPDATE webhooks SET in_order_until = NULL, in_order_after = NULL WHERE id = ?');

/** All that was held has been tried: what follows need not wait any more. */
export async function endOrder(unit: Unit, id: string): Promise<void> {
  await clearOrder(unit, id);
}
