/**
 * Sessions of people in applications. A session is over if its row says so, if it has expired, or if its epoch differs
 * from the current sum of its application's and its membership's epoch.
 */
import { and, desc, eq, getTableColumns, gt, isNull, lt, sql } from 'drizzle-orm';
import { only } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { longRead, orm, raw, rawChange, rawNote } from '../db/statements.ts';
import { applications } from './schema/applications.ts';
import { sessions } from './schema/credentials.ts';
import { applicationUsers } from './schema/users.ts';

/** Kind of the background task that stores the ends of sessions. */
export const ENDING_SESSIONS = 'end_sessions';

/** Sessions ended by a state change; lets open streams check theirs. */
export interface SessionsEnded {
  readonly applicationId: string;
  /** Null for everybody in the application. */
  readonly userId: string | null;
  readonly reason: string;
}

/** Published when sessions end; rows and events follow. One session may have been exempted. */
export const SESSIONS_ENDED = topic<SessionsEnded>('sessions ended');

export type Session = Omit<typeof sessions.$inferSelect, 'tokenHash' | 'epoch'> & {
  /** Ended before it expired, even if its row does not say so yet. */
  readonly isRevoked: boolean;
};

export interface OpenSession {
  readonly session: Session;
  readonly application: { readonly id: string; readonly name: string };
}

/** Scope of sessions: a member's, or a person's in a workspace's applications; a null workspace means everywhere. */
export type SessionsOf =
  { readonly memberId: string } | { readonly userId: string; readonly workspaceId: string | null };

export interface SessionOwner {
  readonly sessionId: string;
  readonly memberId: string;
  readonly userId: string;
  readonly applicationId: string;
  /** The application's workspace; null for the console. */
  readonly workspaceId: string | null;
}

export interface NewSession {
  readonly id: string;
  readonly tokenHash: Uint8Array;
  readonly memberId: string;
  readonly method: string;
  /** The passkey or provider identity that the session depends on; null for other methods. */
  readonly credentialId: string | null;
  readonly userAgent: string | null;
  readonly expiresAt: number;
}

const insertRow = rawChange<
  [string, Uint8Array, string, string | null, string | null, string | null, number, number, string, string | null]
>(
  `INSERT INTO sessions (id, token_hash, application_user_id, method, ip, ip_country, user_agent, last_seen_at, created_at,
     expires_at, epoch, credential_id)
   SELECT ?1, ?2, m.id, ?3, ?4, ?5, ?6, ?7, ?7, ?8, a.session_epoch + m.session_epoch, ?10
   FROM application_users m JOIN applications a ON a.id = m.application_id WHERE m.id = +?9`,
);

/** Inserts a session under the current epochs, with the client address of the unit's actor. */
export async function insertSession(unit: Unit, session: NewSession): Promise<void> {
  const { id, tokenHash, memberId, method, credentialId, userAgent, expiresAt } = session;
  const { ip, ipCountry } = unit.actor;
  const made = [unit.now, expiresAt, memberId, credentialId] as const;
  await insertRow(unit, id, tokenHash, method, ip, ipCountry, userAgent, ...made);
}

const setCredential = rawNote<[string | null, string]>('UPDATE sessions SET credential_id = ? WHERE id = ?');

/** Sets the credential, for one that is stored after its session. */
export async function noteSessionCredential(unit: Unit, sessionId: string, credentialId: string | null): Promise<void> {
  await setCredential(unit, credentialId, sessionId);
}

const { tokenHash: _hash, epoch: _epoch, ...shown } = getTableColumns(sessions);

const SHOWN = {
  ...shown,
  isRevoked: sql<boolean>`(${sessions.revokedAt} IS NOT NULL
    OR ${sessions.epoch} <> ${applications.sessionEpoch} + ${applicationUsers.sessionEpoch})`.mapWith(Boolean),
};

/** Returns a session in any state. */
export async function findSession(reader: Reader, id: string): Promise<Session | undefined> {
  const [session] = await orm(reader)
    .select(SHOWN)
    .from(sessions)
    .innerJoin(applicationUsers, eq(applicationUsers.id, sessions.applicationUserId))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(eq(sessions.id, id));
  return session;
}

const OWNER = `s.id AS "sessionId", m.id AS "memberId", m.user_id AS "userId", m.application_id AS "applicationId",
  a.workspace_id AS "workspaceId"`;
const OWNED = `sessions s JOIN application_users m ON m.id = s.application_user_id
  JOIN applications a ON a.id = m.application_id`;
const IS_CURRENT = 's.epoch = a.session_epoch + m.session_epoch';

const openById = raw<SessionOwner, [string, number]>(
  `SELECT ${OWNER} FROM ${OWNED} WHERE s.id = +? AND s.revoked_at IS NULL AND s.expires_at > +? AND ${IS_CURRENT}`,
);

/** Returns the owner of a session that is not over, whatever the membership's status. */
export async function findOpenSession(reader: Reader, id: string, now: number): Promise<SessionOwner | undefined> {
  const [owner] = await openById(reader, id, now);
  return owner;
}

const liveById = raw<{ id: string }, [string, number]>(
  `SELECT s.id FROM ${OWNED} JOIN users u ON u.id = m.user_id
   WHERE s.id = +? AND s.revoked_at IS NULL AND s.expires_at > +? AND ${IS_CURRENT}
     AND m.status = 'active' AND u.deleted_at IS NULL`,
);

/** Returns whether a verification would accept the session. */
export async function isSessionLive(reader: Reader, sessionId: string, now: number): Promise<boolean> {
  return (await liveById(reader, sessionId, now)).length > 0;
}

const addressesByEmail = raw<{ ip: string }, [string]>(
  `SELECT DISTINCT ip FROM (
     SELECT s.ip FROM users u JOIN application_users m ON m.user_id = u.id JOIN sessions s ON s.application_user_id = m.id
     WHERE u.email = +? AND s.ip IS NOT NULL AND s.method <> 'setup' AND s.created_at >= u.email_verified_at ORDER BY s.created_at DESC LIMIT 200)`,
);

/** Returns client addresses of sign-ins since the address was proved. Setup links prove nothing of their holder. */
export async function listSignInAddresses(reader: Reader, email: string): Promise<string[]> {
  return (await addressesByEmail(reader, email)).map(({ ip }) => ip);
}

/** Returns open sessions, newest first. @param before continues after this id. */
export async function listOpenSessions(
  reader: Reader,
  whose: SessionsOf,
  { now, before, limit }: { readonly now: number; readonly before: string | undefined; readonly limit: number },
): Promise<OpenSession[]> {
  return orm(reader)
    .select({ session: SHOWN, application: { id: applications.id, name: applications.name } })
    .from(applicationUsers)
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .innerJoin(sessions, eq(sessions.applicationUserId, applicationUsers.id))
    .where(
      and(
        isOf(whose),
        isNull(sessions.revokedAt),
        gt(sessions.expiresAt, now),
        sql`${sessions.epoch} = ${applications.sessionEpoch} + ${applicationUsers.sessionEpoch}`,
        before === undefined ? undefined : lt(sessions.id, before),
      ),
    )
    .orderBy(desc(sessions.id))
    .limit(limit);
}

function isOf(whose: SessionsOf) {
  if ('memberId' in whose) return eq(applicationUsers.id, whose.memberId);
  const { userId, workspaceId } = whose;
  const isInReach = workspaceId === null ? undefined : eq(applications.workspaceId, workspaceId);
  return and(eq(applicationUsers.userId, userId), isInReach);
}

const OPEN = `FROM application_users m JOIN applications a ON a.id = m.application_id
  JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL`;

const countOfMember = raw<{ count: number }, [string, number]>(
  `SELECT count(*) AS count ${OPEN} WHERE m.id = +? AND s.expires_at > +? AND ${IS_CURRENT}`,
);

const countOfPerson = raw<{ count: number }, [string, string | null, number]>(
  `SELECT count(*) AS count ${OPEN}
   WHERE m.user_id = +?1 AND (?2 IS NULL OR a.workspace_id = ?2) AND s.expires_at > +?3 AND ${IS_CURRENT}`,
);

export async function countOpenSessions(reader: Reader, whose: SessionsOf, now: number): Promise<number> {
  const rows =
    'memberId' in whose
      ? await countOfMember(reader, whose.memberId, now)
      : await countOfPerson(reader, whose.userId, whose.workspaceId, now);
  return only(rows).count;
}

const restingOn = raw<SessionOwner, [string, string, string, number, number]>(
  `SELECT ${OWNER} FROM application_users m JOIN applications a ON a.id = m.application_id
     JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL
   WHERE m.user_id = +?1 AND (s.credential_id = ?2 OR (s.credential_id IS NULL AND s.method = ?3))
     AND s.expires_at > +?4 AND ${IS_CURRENT} LIMIT ?5`,
);

/** Returns open sessions that depend on a credential, and those of its method from before it was recorded. */
export function listSessionsRestingOn(
  reader: Reader,
  { userId, credentialId, method }: { readonly userId: string; readonly credentialId: string; readonly method: string },
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<SessionOwner[]> {
  return restingOn(reader, userId, credentialId, method, now, limit);
}

const setRevoked = rawChange<[number, string, string]>(
  'UPDATE sessions SET revoked_at = ?, revoked_reason = ? WHERE id = ? AND revoked_at IS NULL',
  { idAt: 2 },
);

/** Stores the end of a session. @param at when it ended, in epoch milliseconds. */
export async function revokeSessionRow(
  unit: Unit,
  sessionId: string,
  { at, reason }: { readonly at: number; readonly reason: string },
): Promise<void> {
  await setRevoked(unit, at, reason, sessionId);
}

const growEpoch = rawChange<[string]>('UPDATE sessions SET epoch = epoch + 1 WHERE id = ?', { idAt: 0 });

/** Exempts one session from this change's bump of its member's epoch. Never revives an ended one. */
export async function spareSession(unit: Unit, sessionId: string): Promise<void> {
  await growEpoch(unit, sessionId);
}

/** A row of a listing of sessions without a stored end. */
export interface UnrevokedSession {
  readonly userId: string;
  readonly applicationId: string;
  /** Null for a member without such a session. */
  readonly sessionId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Over because its epoch is outdated, but not marked as ended yet. */
  readonly isOutdated: 0 | 1;
}

const UNREVOKED = `m.user_id AS "userId", m.application_id AS "applicationId", s.id AS "sessionId", s.created_at AS "createdAt",
  s.expires_at AS "expiresAt", s.epoch <> a.session_epoch + m.session_epoch AS "isOutdated"`;

const unrevokedOfApplication = raw<UnrevokedSession, [string, string, string, number]>(
  `SELECT ${UNREVOKED} FROM application_users m JOIN applications a ON a.id = m.application_id
     LEFT JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL
       AND s.id > CASE WHEN m.user_id = ?2 THEN ?3 ELSE '' END
   WHERE m.application_id = ?1 AND m.user_id >= ?2 ORDER BY m.user_id, s.id LIMIT ?4`,
);

/** Returns the sessions after a cursor, by user id and session id; members without any get a row too. */
export function listUnrevokedOfApplication(
  reader: Reader,
  applicationId: string,
  { userId, sessionId, limit }: { readonly userId: string; readonly sessionId: string; readonly limit: number },
): Promise<UnrevokedSession[]> {
  return unrevokedOfApplication(reader, applicationId, userId, sessionId, limit);
}

const unrevokedOfMember = raw<UnrevokedSession & { sessionId: string }, [string, string, number]>(
  `SELECT ${UNREVOKED} FROM application_users m JOIN applications a ON a.id = m.application_id
     JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL AND s.id > ?2
   WHERE m.id = ?1 ORDER BY s.id LIMIT ?3`,
);

/** Returns the sessions after a session id, in order. */
export function listUnrevokedOfMember(
  reader: Reader,
  memberId: string,
  { sessionId, limit }: { readonly sessionId: string; readonly limit: number },
): Promise<(UnrevokedSession & { sessionId: string })[]> {
  return unrevokedOfMember(reader, memberId, sessionId, limit);
}

const IS_OUTDATED = `s.epoch <> a.session_epoch + m.session_epoch AND s.created_at <= +?2 AND s.expires_at > +?2`;

const outdatedOfApplication = longRead<{ count: number }, [string, number]>(
  `SELECT count(*) AS count ${OPEN} WHERE m.application_id = +?1 AND ${IS_OUTDATED}`,
);

const outdatedOfMember = longRead<{ count: number }, [string, number]>(
  `SELECT count(*) AS count ${OPEN} WHERE m.id = +?1 AND ${IS_OUTDATED}`,
);

/** Returns how many open sessions (at `at`) an epoch has ended whose rows do not say so yet. A long read. */
export async function countOutdatedSessions(
  reader: Reader,
  whose: { readonly applicationId: string } | { readonly memberId: string },
  at: number,
): Promise<number> {
  const rows =
    'memberId' in whose
      ? await outdatedOfMember(reader, whose.memberId, at)
      : await outdatedOfApplication(reader, whose.applicationId, at);
  return only(rows).count;
}

const setProved = rawNote<[number, string]>('UPDATE sessions SET proved_at = ? WHERE id = ?');

/** Records that the session's holder re-authenticated. */
export async function noteSessionProved(unit: Unit, sessionId: string): Promise<void> {
  await setProved(unit, unit.now, sessionId);
}

const unsetProved = rawNote<[string]>('UPDATE sessions SET proved_at = NULL WHERE id = ?');

/** Clears the last re-authentication, as when the address that proved it has changed. */
export async function forgetSessionProof(unit: Unit, sessionId: string): Promise<void> {
  await unsetProved(unit, sessionId);
}

const setSeen = rawNote<[number, string]>('UPDATE sessions SET last_seen_at = ?1 WHERE id = ?2 AND last_seen_at < ?1');

/** Updates when a session was last seen, never backwards. */
export async function noteSessionSeen(unit: Unit, sessionId: string, at: number): Promise<void> {
  await setSeen(unit, at, sessionId);
}

/** Cursor over a member's sessions: first those without a stored end, then the others by end. */
export interface SessionPosition {
  readonly sessionId: string;
  readonly revokedAt: number | null;
}

const unrevokedBehind = raw<SessionPosition, [string, string, number]>(
  `SELECT id AS "sessionId", revoked_at AS "revokedAt" FROM sessions
   WHERE application_user_id = ? AND revoked_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
);

const revokedBehind = raw<SessionPosition, [string, number, string, number]>(
  `SELECT id AS "sessionId", revoked_at AS "revokedAt" FROM sessions
   WHERE application_user_id = ? AND (revoked_at, id) > (?, ?) ORDER BY revoked_at, id LIMIT ?`,
);

const forgetPlace = rawNote<[string]>(
  'UPDATE sessions SET ip = NULL, ip_country = NULL, user_agent = NULL WHERE id = ?',
);

/**
 * Erases client address and user agent of a batch of sessions. @returns the batch; fewer than `limit` at the end.
 * A session revoked between two calls is not missed: it was erased before, or now comes later in the order.
 */
export async function forgetSessionPlaces(
  unit: Unit,
  memberId: string,
  { after, limit }: { readonly after: SessionPosition | null; readonly limit: number },
): Promise<SessionPosition[]> {
  const { sessionId = '', revokedAt = null } = after ?? {};
  const open = revokedAt === null ? await unrevokedBehind(unit, memberId, sessionId, limit) : [];
  const left = limit - open.length;
  const behind = revokedAt === null ? ([-1, ''] as const) : ([revokedAt, sessionId] as const);
  const positions = left === 0 ? open : [...open, ...(await revokedBehind(unit, memberId, ...behind, left))];
  for (const position of positions) await forgetPlace(unit, position.sessionId);
  return positions;
}
