/** Deletes outdated rows in bounded batches. `jobs/` decides how long rows are kept. */
import type { Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** Each uses an index that contains only rows to delete. */
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
  /** Sent or abandoned mails; a queued mail ends with its own expiry. */
  finishedMails: some('mails', "status <> 'queued' AND created_at < ?1"),
  /** Includes their attempts. */
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
 * Deletes a batch of outdated rows. @returns the number deleted: fewer than the limit if none are left.
 * @param before end or creation time in epoch milliseconds, exclusive.
 */
export function forgetSome(unit: Unit, what: Forgettable, before: number, limit: number): Promise<number> {
  return STATEMENTS[what](unit, before, limit);
}

/** Cursor over events by age. */
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

export interface OldEvents {
  /** Creation time in epoch milliseconds, exclusive. */
  readonly before: number;
  /** Null starts at the oldest. */
  readonly after: EventPlace | null;
  readonly limit: number;
}

/** Examines up to `limit` old events and deletes those without deliveries. @returns the cursor; null at the end. */
export async function forgetEvents(unit: Unit, { before, after, limit }: OldEvents): Promise<EventPlace | null> {
  const old = await oldEvents(unit, after?.createdAt ?? 0, after?.id ?? '', before, limit);
  for (const { id } of old) await deleteDelivered(unit, id);
  return old.length < limit ? null : (old.at(-1) ?? null);
}
