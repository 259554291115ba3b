/** Sessions whose time is up, until their end has been reported. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';
import { ENDING_SESSIONS } from './sessions.ts';

/** A session whose time is up, which has not been reported yet. */
export interface ExpiredSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly applicationId: string;
  readonly expiresAt: number;
  /** It may have been ended before its time: that is being written down. */
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

/** In the order of their ends. @param after goes on behind this one. */
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

/** From now on it is not listed as expired any more. */
export async function noteExpiryReported(unit: Unit, sessionId: string): Promise<void> {
  await setExpiryReported(unit, unit.now, sessionId);
}
