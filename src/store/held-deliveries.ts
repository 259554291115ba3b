/** What waits for endpoints that are not sent to, in quarantine or switched off: how old it is, and dropping the oldest of it. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** An endpoint that is not sent to, and that something waits for. */
export interface RestingEndpoint {
  readonly id: string;
  readonly applicationId: string;
  readonly url: string;
  readonly status: 'disabled' | 'quarantined';
  /** When the owners were told that what waits will be dropped; null where they were not. */
  readonly dropNoticeAt: number | null;
  /** When the first of what waits was made. */
  readonly oldestAt: number;
}

/** However much waits for an endpoint, the first of it is the first entry of an index. */
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

/** By id, so many looked at. @returns those that something waits for, and where to go on: null where there are no more. */
export async function listRestingEndpoints(
  reader: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly endpoints: RestingEndpoint[]; readonly next: string | null }> {
  const found = await restingAfter(reader, after, limit);
  return { endpoints: found.filter(isWaitedFor), next: found.length < limit ? null : (found.at(-1)?.id ?? null) };
}

/** Undefined where it is sent to, is gone, or nothing waits for it. */
export async function findRestingEndpoint(reader: Reader, id: string): Promise<RestingEndpoint | undefined> {
  const [found] = await restingById(reader, id);
  return found && isWaitedFor(found) ? found : undefined;
}

const setNotice = rawChange<[number, string]>('UPDATE webhooks SET drop_notice_at = ? WHERE id = ?');

/** The owners were told, in this change. */
export async function noteDropNotice(unit: Unit, id: string): Promise<void> {
  await setNotice(unit, unit.now, id);
}

/** Only the first are looked at: their ids are in the order of their ages. */
const deleteOldest = rawChange<[string, number, number]>(
  `DELETE FROM deliveries WHERE id IN (
     SELECT id FROM (SELECT id, created_at FROM deliveries WHERE webhook_id = ?1 AND status = 'pending' ORDER BY id LIMIT ?3) d
     WHERE d.created_at < ?2)`,
);

/**
 * Drops the oldest of what waits, with its attempts.
 *
 * @param before made earlier, in epoch milliseconds.
 * @returns how many: fewer than the limit where there are no more.
 */
export function dropHeldDeliveries(unit: Unit, webhookId: string, before: number, limit: number): Promise<number> {
  return deleteOldest(unit, webhookId, before, limit);
}
