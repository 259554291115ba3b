/** Deliveries held for quarantined or disabled endpoints: their age, and dropping the oldest. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** A quarantined or disabled endpoint with pending deliveries. */
export interface RestingEndpoint {
  readonly id: string;
  readonly applicationId: string;
  readonly url: string;
  readonly status: 'disabled' | 'quarantined';
  /** When the owners were warned that held deliveries will be dropped; null if they were not. */
  readonly dropNoticeAt: number | null;
  /** When the oldest held delivery was created. */
  readonly oldestAt: number;
}

/** The oldest delivery is an endpoint's first index entry, so the cost does not grow with the backlog. */
const RESTING = `SELECT id, application_id AS "applicationId", url, status, drop_notice_at AS "dropNoticeAt",
     (SELECT created_at FROM deliveries WHERE id = (
        SELECT min(d.id) FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending')) AS "oldestAt"
   FROM webhooks w WHERE status <> 'active' AND removed_at IS NULL`;

type Found = Omit<RestingEndpoint, 'oldestAt'> & { readonly oldestAt: number | null };

const restingAfter = raw<Found, [string, number]>(`${RESTING} AND id > ? ORDER BY id LIMIT ?`);
const restingById = raw<Found, [string]>(`${RESTING} AND id = ?`);

function isWaitedFor(endpoint: Found): endpoint is RestingEndpoint {
  return endpoint.oldestAt !== null;
}

/** Reads up to `limit` endpoints by id. @returns those with held deliveries, and the next cursor; null at the end. */
export async function listRestingEndpoints(
  reader: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly endpoints: RestingEndpoint[]; readonly next: string | null }> {
  const found = await restingAfter(reader, after, limit);
  return { endpoints: found.filter(isWaitedFor), next: found.length < limit ? null : (found.at(-1)?.id ?? null) };
}

/** Returns the endpoint; undefined if it is active, removed, or has no pending delivery. */
export async function findRestingEndpoint(reader: Reader, id: string): Promise<RestingEndpoint | undefined> {
  const [found] = await restingById(reader, id);
  return found && isWaitedFor(found) ? found : undefined;
}

const setNotice = rawChange<[number, string]>('UPDATE webhooks SET drop_notice_at = ? WHERE id = ?');

export async function noteDropNotice(unit: Unit, id: string): Promise<void> {
  await setNotice(unit, unit.now, id);
}

/** Reads only the first rows: ids sort by age. */
const deleteOldest = rawChange<[string, number, number]>(
  `DELETE FROM deliveries WHERE id IN (
     SELECT id FROM (SELECT id, created_at FROM deliveries WHERE webhook_id = ?1 AND status = 'pending' ORDER BY id LIMIT ?3) d
     WHERE d.created_at < ?2)`,
);

/**
 * Deletes the oldest held deliveries with their attempts. @returns how many: fewer than the limit at the end.
 * @param before creation time in epoch milliseconds, exclusive.
 */
export function dropHeldDeliveries(unit: Unit, webhookId: string, before: number, limit: number): Promise<number> {
  return deleteOldest(unit, webhookId, before, limit);
}
