/** Deliveries held for quarantined or disabled endpoints: their age, and dropping the oldest. */
import type { Reader } from '../db/database.ts';
import { change, query } from '../db/statements.ts';
import type { Webhook } from './schema/webhooks.ts';

/** A quarantined or disabled endpoint with pending deliveries. */
export interface RestingEndpoint {
  readonly id: string;
  readonly applicationId: string;
  readonly url: string;
  readonly kind: Webhook['kind'];
  readonly status: 'disabled' | 'quarantined';
  /** When the owners were warned that held deliveries will be dropped; null if they were not. */
  readonly dropNoticeAt: number | null;
  readonly oldestAt: number;
}

/** The oldest delivery is an endpoint's first index entry, so the cost does not grow with the backlog. */
const RESTING = `SELECT id, application_id AS "applicationId", url, kind, status, drop_notice_at AS "dropNoticeAt",
     (SELECT created_at FROM deliveries WHERE id = (
        SELECT min(d.id) FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending')) AS "oldestAt"
   FROM webhooks w WHERE status <> 'active' AND removed_at IS NULL`;

type Found = Omit<RestingEndpoint, 'oldestAt'> & { readonly oldestAt: number | null };

const restingAfter = query.rows<Found, { after: string; limit: number }>(
  `${RESTING} AND id > :after ORDER BY id LIMIT :limit`,
);
const restingById = query.row<Found, string>(`${RESTING} AND id = :id`);

function isWaitedFor(endpoint: Found): endpoint is RestingEndpoint {
  return endpoint.oldestAt !== null;
}

/** Reads up to `limit` endpoints by id. @returns those with held deliveries, and the next cursor; null at the end. */
export async function listRestingEndpoints(
  reader: Reader,
  part: { readonly after: string; readonly limit: number },
): Promise<{ readonly endpoints: RestingEndpoint[]; readonly next: string | null }> {
  const found = await restingAfter(reader, part);
  return { endpoints: found.filter(isWaitedFor), next: found.length < part.limit ? null : (found.at(-1)?.id ?? null) };
}

/** Returns the endpoint; undefined if it is active, removed, or has no pending delivery. */
export async function findRestingEndpoint(reader: Reader, id: string): Promise<RestingEndpoint | undefined> {
  const found = await restingById(reader, id);
  return found && isWaitedFor(found) ? found : undefined;
}

export const noteDropNotice = change<string>('UPDATE webhooks SET drop_notice_at = :now WHERE id = :id');

/**
 * Deletes the oldest held deliveries with their attempts, by creation time in epoch milliseconds (exclusive). Reads only
 * the first rows: ids sort by age. @returns how many: fewer than the limit at the end.
 */
export const dropHeldDeliveries = change<{ webhookId: string; before: number; limit: number }>(
  `DELETE FROM deliveries WHERE id IN (
     SELECT id FROM (
       SELECT id, created_at FROM deliveries WHERE webhook_id = :webhookId AND status = 'pending' ORDER BY id LIMIT :limit) d
     WHERE d.created_at < :before)`,
);
