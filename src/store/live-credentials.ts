/** Sessions and keys of open streams: which are still valid, and why one has ended. */
import type { Reader } from '../db/database.ts';
import { query } from '../db/statements.ts';

/**
 * Returns those of the sessions and keys that nothing has ended. A hint: a verification also judges what a key was made
 * with and the epoch of a personal key.
 */
export const listLiveCredentials = query.values<string, { ids: readonly string[]; now: number }>(
  ({ idList }) => `SELECT s.id FROM sessions s JOIN application_users m ON m.id = s.application_user_id
     JOIN applications a ON a.id = m.application_id JOIN users u ON u.id = m.user_id
   WHERE s.id IN ${idList(':ids')} AND s.revoked_at IS NULL AND s.expires_at > :now AND m.status = 'active'
     AND s.epoch = a.session_epoch + m.session_epoch AND u.deleted_at IS NULL
   UNION ALL
   SELECT k.id FROM api_keys k JOIN application_users m ON m.id = k.application_user_id JOIN users u ON u.id = m.user_id
   WHERE k.id IN ${idList(':ids')} AND k.revoked_at IS NULL AND k.ended_at IS NULL AND m.status = 'active'
     AND (k.expires_at IS NULL OR k.expires_at > :now) AND u.deleted_at IS NULL
     AND (k.grace_period_ends_at IS NULL OR k.grace_period_ends_at > :now)`,
);

interface End {
  readonly reason: string | null;
  readonly expiresAt: number;
  readonly status: string;
}

const endOf = query.row<End, string>(
  `SELECT s.revoked_reason AS reason, s.expires_at AS "expiresAt", m.status FROM sessions s
   JOIN application_users m ON m.id = s.application_user_id WHERE s.id = :id`,
);

/** Returns why a session has ended, as far as its rows say. */
export async function findEndReason(reader: Reader, sessionId: string, now: number): Promise<string> {
  const end = await endOf(reader, sessionId);
  if (!end) return 'deleted';
  if (end.reason !== null) return end.reason;
  if (end.expiresAt <= now) return 'expired';
  return end.status === 'active' ? 'revoked' : end.status;
}
