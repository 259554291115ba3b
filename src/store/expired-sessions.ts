/** Expired sessions whose end has not been reported yet. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';
import { ENDING_SESSIONS } from './sessions.ts';

export interface ExpiredSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly applicationId: string;
  readonly expiresAt: number;
  /** The session may have been revoked before it expired; a background task is still storing that. */
  readonly isBeingEnded: 0 | 1;
}

const expired = raw<ExpiredSession, [number, number, string, number]>(
  `SELECT s.id AS "sessionId", m.user_id AS "userId", m.application_id AS "applicationId", s.expires_at AS "expiresAt",
     s.epoch <> a.session_epoch + m.session_epoch AND EXISTS (
       SELECT 1 FROM long_works w
       WHERE w.kind = '${ENDING_SESSIONS}' AND (w.application_id = m.application_id OR w.application_id IS NULL)
     ) AS "isBeingEnded"
   FROM sessions s JOIN application_users m ON m.id = s.application_user_id
     JOIN applications a ON a.id = m.application_id
   WHERE s.revoked_at IS NULL AND s.expiry_reported_at IS NULL AND s.expires_at <= ?1
     AND (s.expires_at, s.id) > (?2, ?3)
   ORDER BY s.expires_at, s.id LIMIT ?4`,
);

/** Returns expired sessions in the order of expiry. @param after continues after this one. */
export function listExpiredSessions(
  reader: Reader,
  now: number,
  { after, limit }: { readonly after: Pick<ExpiredSession, 'expiresAt' | 'sessionId'> | null; readonly limit: number },
): Promise<ExpiredSession[]> {
  return expired(reader, now, after?.expiresAt ?? 0, after?.sessionId ?? '', limit);
}

const setExpiryReported = rawChange<[number, string]>('UPDATE sessions SET expiry_reported_at = ? WHERE id = ?', {
  idAt: 1,
});

/** Removes a session from the list of expired ones. */
export async function noteExpiryReported(unit: Unit, sessionId: string): Promise<void> {
  await setExpiryReported(unit, unit.now, sessionId);
}
