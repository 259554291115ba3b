/** Expired sessions whose end has not been reported yet. */
import type { Reader } from '../db/database.ts';
import { change, query } from '../db/statements.ts';
import { ENDING_SESSIONS } from './sessions.ts';

export interface ExpiredSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly applicationId: string;
  readonly expiresAt: number;
  /** The session may have been revoked before it expired; a background task is still storing that. */
  readonly isBeingEnded: boolean;
}

/** Cursor: the list continues after this session. */
type ExpiryPosition = Pick<ExpiredSession, 'expiresAt' | 'sessionId'>;

const START: ExpiryPosition = { expiresAt: 0, sessionId: '' };

const expired = query.rows<ExpiredSession, ExpiryPosition & { now: number; limit: number }>(
  `SELECT s.id AS "sessionId", m.user_id AS "userId", m.application_id AS "applicationId", s.expires_at AS "expiresAt",
     s.epoch <> a.session_epoch + m.session_epoch AND EXISTS (
       SELECT 1 FROM long_works w
       WHERE w.kind = '${ENDING_SESSIONS}' AND (w.application_id = m.application_id OR w.application_id IS NULL)
     ) AS "isBeingEnded"
   FROM sessions s JOIN application_users m ON m.id = s.application_user_id
     JOIN applications a ON a.id = m.application_id
   WHERE s.revoked_at IS NULL AND s.expiry_reported_at IS NULL AND s.expires_at <= :now
     AND (s.expires_at, s.id) > (:expiresAt, :sessionId)
   ORDER BY s.expires_at, s.id LIMIT :limit`,
);

/** Returns expired sessions in the order of expiry. @param after continues after this one. */
export function listExpiredSessions(
  reader: Reader,
  now: number,
  { after, limit }: { readonly after: ExpiryPosition | null; readonly limit: number },
): Promise<ExpiredSession[]> {
  return expired(reader, { now, ...(after ?? START), limit });
}

/** Removes a session from the list of expired ones. */
export const noteExpiryReported = change<string>('UPDATE sessions SET expiry_reported_at = :now WHERE id = :id', {
  rowId: 'id',
});
