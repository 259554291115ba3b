/** Deleting what has outlived its use, a bounded number of rows at a time. How long things are kept is the job's affair. */
import type { Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** Each by an index whose rows are all of those that go, so that nothing that stays is passed on the way. */
const STATEMENTS = {
  expiredSessions: some('sessions', 'expires_at < ?1'),
  revokedSessions: some('sessions', 'revoked_at < ?1'),
  expiredCodes: some('code_challenges', 'expires_at < ?1'),
  expiredPasskeyChallenges: some('passkey_challenges', 'expires_at < ?1'),
  expiredProviderStates: some('provider_states', 'expires_at < ?1', 'state_hash'),
  expiredEmailChanges: some('email_changes', 'expires_at < ?1'),
  expiredSetupLinks: some('setup_links', 'expires_at < ?1', 'token_hash'),
  expiredDeviceGrants: some('device_grants', 'expires_at < ?1'),
  retiredKeyTokens: some('retired_key_tokens', 'retired_at < ?1', 'token_hash'),
  codeFailures: some('code_failures', 'failed_at < ?1'),
  /** Those that were sent or given up; a queued one goes with its own expiry. */
  finishedMails: some('mails', "status <> 'queued' AND created_at < ?1"),
  /** With their attempts. */
  finishedDeliveries: some('deliveries', 'finished_at < ?1'),
  auditRecords: some('audit_records', 'created_at < ?1'),
  dailyCounts: some('daily_counts', 'day < ?1', 'application_id, metric, day, label'),
};

function some(table: string, condition: string, key = 'id') {
  return rawChange<[number, number]>(
    `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ?2)`,
  );
}

export type Forgettable = keyof typeof STATEMENTS;

/**
 * @param before what ended, or was made, earlier; in epoch milliseconds.
 * @returns how many rows went: fewer than the limit where there are no more.
 */
export function forgetSome(unit: Unit, what: Forgettable, before: number, limit: number): Promise<number> {
  return STATEMENTS[what](unit, before, limit);
}

/** A place in the order of the events' ages. */
export interface EventPlace {
  readonly id: string;
  readonly createdAt: number;
}

const oldEvents = raw<EventPlace, [number, string, number, number]>(
  `SELECT id, created_at AS "createdAt" FROM events WHERE created_at < ?3 AND (created_at, id) > (?1, ?2)
   ORDER BY created_at, id LIMIT ?4`,
);

const deleteDelivered = rawChange<[string]>(
  'DELETE FROM events WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = ?1)',
);

/** Which events to look at. */
export interface OldEvents {
  /** Those that were made earlier, in epoch milliseconds. */
  readonly before: number;
  /** Null begins with the oldest. */
  readonly after: EventPlace | null;
  readonly limit: number;
}

/**
 * Looks at so many old events and deletes those that no delivery needs.
 *
 * @returns where to go on; null where there are no more.
 */
export async function forgetEvents(unit: Unit, { before, after, limit }: OldEvents): Promise<EventPlace | null> {
  const old = await oldEvents(unit, after?.createdAt ?? 0, after?.id ?? '', before, limit);
  for (const { id } of old) await deleteDelivered(unit, id);
  return old.length < limit ? null : (old.at(-1) ?? null);
}
