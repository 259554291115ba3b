/** Deletes outdated rows in bounded batches. `jobs/` decides how long rows are kept. */
import type { Unit } from '../db/database.ts';
import { change, changeReturningIds, query } from '../db/statements.ts';

/** Each uses an index that contains only rows to delete. */
const STATEMENTS = {
  expiredSessions: someCached('sessions', 'expires_at < :before'),
  revokedSessions: someCached('sessions', 'revoked_at < :before'),
  expiredCodes: some('code_challenges', 'expires_at < :before'),
  expiredPasskeyChallenges: some('passkey_challenges', 'expires_at < :before'),
  expiredProviderStates: some('provider_states', 'expires_at < :before', 'state_hash'),
  expiredEmailChanges: some('email_changes', 'expires_at < :before'),
  expiredSetupLinks: some('setup_links', 'expires_at < :before', 'token_hash'),
  expiredDeviceGrants: some('device_grants', 'expires_at < :before'),
  expiredOAuthAssertions: some('oauth_assertions', 'expires_at < :before', 'assertion_hash'),
  expiredOAuthCodes: some('oauth_codes', 'expires_at < :before', 'code_hash'),
  expiredOAuthGrants: some('oauth_grants', 'expires_at < :before', 'session_id'),
  expiredRefreshTokens: some('oauth_refresh_tokens', 'expires_at < :before', 'token_hash'),
  endedOAuthClients: some('oauth_clients', 'expires_at < :before', 'client_id'),
  retiredSigningKeys: some('signing_keys', 'signs_until < :before'),
  retiredKeyTokens: some('retired_key_tokens', 'retired_at < :before', 'token_hash'),
  codeFailures: some('code_failures', 'failed_at < :before'),
  /** Sent or abandoned mails; a queued mail ends with its own expiry. */
  finishedMails: some('mails', "status <> 'queued' AND created_at < :before"),
  /** Includes their attempts. */
  finishedDeliveries: some('deliveries', 'finished_at < :before'),
  auditRecords: some('audit_records', 'created_at < :before'),
  bulkChangeMembers: some('bulk_change_members', 'created_at < :before', 'bulk_change_id, application_user_id'),
  bulkChanges: some('bulk_changes', 'finished_at < :before'),
  dailyCounts: some('daily_counts', 'day < :before', 'application_id, metric, day, label'),
  hourlyCounts: some('hourly_counts', 'hour < :before', 'subject, metric, hour'),
};

interface Outdated {
  readonly before: number;
  readonly limit: number;
}

function some(table: string, condition: string, key = 'id') {
  return change<Outdated>(deletionOf(table, condition, key));
}

/** Rows that verification caches. */
function someCached(table: string, condition: string) {
  return changeReturningIds<Outdated>(`${deletionOf(table, condition, 'id')} RETURNING id`);
}

function deletionOf(table: string, condition: string, key: string): string {
  return `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT :limit)`;
}

export type Purgeable = keyof typeof STATEMENTS;

/**
 * Deletes a batch of outdated rows. @returns the number deleted: fewer than the limit if none are left.
 * @param before end or creation time in epoch milliseconds, exclusive.
 */
export function purgeBatch(unit: Unit, what: Purgeable, before: number, limit: number): Promise<number> {
  return STATEMENTS[what](unit, { before, limit });
}

/** Cursor over events by age. */
export interface EventPlace {
  readonly id: string;
  readonly createdAt: number;
}

const oldEvents = query.rows<EventPlace, EventPlace & { before: number; limit: number }>(
  `SELECT id, created_at AS "createdAt" FROM events WHERE created_at < :before AND (created_at, id) > (:createdAt, :id)
   ORDER BY created_at, id LIMIT :limit`,
);

const deleteDelivered = change<string>(
  'DELETE FROM events WHERE id = :id AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_id = :id)',
);

const START: EventPlace = { id: '', createdAt: 0 };

export interface OldEvents {
  /** Creation time in epoch milliseconds, exclusive. */
  readonly before: number;
  /** Null starts at the oldest. */
  readonly after: EventPlace | null;
  readonly limit: number;
}

/** Examines up to `limit` old events and deletes those without deliveries. @returns the cursor; null at the end. */
export async function purgeEvents(unit: Unit, { before, after, limit }: OldEvents): Promise<EventPlace | null> {
  const old = await oldEvents(unit, { ...(after ?? START), before, limit });
  for (const { id } of old) await deleteDelivered(unit, id);
  return old.length < limit ? null : (old.at(-1) ?? null);
}
