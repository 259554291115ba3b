/**
 * Sessions of people in applications. A session has ended if its row says so, if it has expired, or if its epoch differs
 * from the current sum of its application's and its membership's epoch.
 */
import { and, desc, eq, getTableColumns, gt, isNull, lt, ne, sql } from 'drizzle-orm';
import { startOfDay } from '../core/calendar.ts';
import { type Reader, topic, topicForAll, type Unit } from '../db/database.ts';
import { change, longRead, note, orm, pipelinedChange, prepared, query } from '../db/statements.ts';
import type { FirstSeen, LastSeenAt } from './last-seen.ts';
import { NEVER } from './reservations.ts';
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

/** Published when sessions end, on every instance; rows and events follow. One session may have been exempted. */
export const SESSIONS_ENDED = topicForAll<SessionsEnded>('sessions ended');

/** Published when a session is created, and at its first use on each later day. */
export const SESSION_SEEN = topic<FirstSeen>('session seen');

export type Session = Omit<typeof sessions.$inferSelect, 'tokenHash' | 'pageTokenHash' | 'epoch'> & {
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
  readonly applicationId: string;
  /** The application's epoch when the person was let in: a session is over if it has been closed since. */
  readonly applicationEpoch: number;
  readonly method: string;
  readonly credentialId: string | null;
  readonly userAgent: string | null;
  readonly expiresAt: number;
  /** When the person proved who they are; null if just now. */
  readonly authenticatedAt: number | null;
}

const insertRow = pipelinedChange<NewSession & { ip: string | null; ipCountry: string | null }>(
  `INSERT INTO sessions (id, token_hash, application_user_id, method, ip, ip_country, user_agent, last_seen_at, created_at,
     expires_at, epoch, credential_id, authenticated_at)
   SELECT :id, :tokenHash, id, :method, :ip, :ipCountry, :userAgent, :now, :now, :expiresAt,
     session_epoch + :applicationEpoch, :credentialId, :authenticatedAt
   FROM application_users WHERE id = :memberId`,
);

/** Inserts a session under the member's current epoch, with the client address of the unit's actor. */
export async function insertSession(unit: Unit, session: NewSession): Promise<void> {
  const { ip, ipCountry } = unit.actor;
  await insertRow(unit, { ...session, ip, ipCountry });
  unit.publish(SESSION_SEEN, { applicationId: session.applicationId, at: unit.now, before: NEVER });
}

/** Sets the credential, for one that is stored after its session. */
export const noteSessionCredential = note<{ sessionId: string; credentialId: string | null }>(
  'UPDATE sessions SET credential_id = :credentialId WHERE id = :sessionId',
);

const { tokenHash: _hash, pageTokenHash: _pageHash, epoch: _epoch, ...shown } = getTableColumns(sessions);

const SHOWN = {
  ...shown,
  isRevoked: sql<boolean>`(${sessions.revokedAt} IS NOT NULL
    OR ${sessions.epoch} <> ${applications.sessionEpoch} + ${applicationUsers.sessionEpoch})`.mapWith(Boolean),
};

const sessionById = prepared((db) =>
  db
    .select(SHOWN)
    .from(sessions)
    .innerJoin(applicationUsers, eq(applicationUsers.id, sessions.applicationUserId))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(eq(sessions.id, sql.placeholder('id')))
    .prepare(),
);

/** Returns a session in any state. */
export async function findSession(reader: Reader, id: string): Promise<Session | undefined> {
  const [session] = await sessionById(reader, { id });
  return session;
}

const OWNER = `s.id AS "sessionId", m.id AS "memberId", m.user_id AS "userId", m.application_id AS "applicationId",
  a.workspace_id AS "workspaceId"`;
const OWNED = `sessions s JOIN application_users m ON m.id = s.application_user_id
  JOIN applications a ON a.id = m.application_id`;
const IS_CURRENT = 's.epoch = a.session_epoch + m.session_epoch';

/** Returns the owner of a session that has not ended, in any membership status. */
export const findOpenSession = query.row<SessionOwner, { id: string; now: number }>(
  `SELECT ${OWNER} FROM ${OWNED} WHERE s.id = :id AND s.revoked_at IS NULL AND s.expires_at > :now AND ${IS_CURRENT}`,
);

const LIVE = `SELECT s.id FROM ${OWNED} JOIN users u ON u.id = m.user_id
   WHERE s.id = :id AND s.revoked_at IS NULL AND s.expires_at > :now AND s.expiry_reported_at IS NULL AND ${IS_CURRENT}
     AND m.status = 'active' AND u.deleted_at IS NULL`;

/** Returns whether a verification would accept the session. */
export const isSessionLive = query.exists<{ id: string; now: number }>(LIVE);

/** Returns whether the session is live, and held by this page secret. */
export const isPageSessionLive = query.exists<{ id: string; hash: Uint8Array; now: number }>(
  `${LIVE} AND s.page_token_hash = :hash`,
);

/** How and when a session's person proved who they are. */
export type SessionProof = Pick<Session, 'method' | 'createdAt' | 'authenticatedAt' | 'expiresAt'>;

/** Returns the proof behind a session in any state. */
export const findSessionProof = query.row<SessionProof, string>(
  `SELECT method, created_at AS "createdAt", authenticated_at AS "authenticatedAt", expires_at AS "expiresAt"
   FROM sessions WHERE id = :id`,
);

/** Returns client addresses of sign-ins since the address was proved. Setup links prove nothing of their holder. */
export const listSignInAddresses = query.values<string, string>(
  `SELECT DISTINCT ip FROM (
     SELECT s.ip FROM users u JOIN application_users m ON m.user_id = u.id JOIN sessions s ON s.application_user_id = m.id
     WHERE u.email = :email AND s.ip IS NOT NULL AND s.method <> 'setup' AND s.created_at >= u.email_verified_at
     ORDER BY s.created_at DESC LIMIT 200) AS latest`,
);

interface OpenSessionsWanted {
  readonly now: number;
  /** Continues after this id. */
  readonly before?: string | undefined;
  /** Leaves one session out. */
  readonly except?: string;
  /** Returns this session only. */
  readonly only?: string;
  readonly limit: number;
}

/** Returns open sessions, newest first. */
export async function listOpenSessions(
  reader: Reader,
  whose: SessionsOf,
  { now, before, except, only, limit }: OpenSessionsWanted,
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
        except === undefined ? undefined : ne(sessions.id, except),
        only === undefined ? undefined : eq(sessions.id, only),
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

const countOfMember = query.count<{ memberId: string; now: number }>(
  `SELECT count(*) ${OPEN} WHERE m.id = :memberId AND s.expires_at > :now AND ${IS_CURRENT}`,
);

const countOfPerson = query.count<{ userId: string; workspaceId: string | null; now: number }>(
  `SELECT count(*) ${OPEN} WHERE m.user_id = :userId AND (a.workspace_id = :workspaceId OR :workspaceId IS NULL)
     AND s.expires_at > :now AND ${IS_CURRENT}`,
);

export function countOpenSessions(reader: Reader, whose: SessionsOf, now: number): Promise<number> {
  return 'memberId' in whose ? countOfMember(reader, { ...whose, now }) : countOfPerson(reader, { ...whose, now });
}

/** Returns open sessions that depend on a credential, and those of its method from before it was recorded. */
export const listSessionsRestingOn = query.rows<
  SessionOwner,
  { userId: string; credentialId: string; method: string; now: number; limit: number }
>(
  `SELECT ${OWNER} FROM application_users m JOIN applications a ON a.id = m.application_id
     JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL
   WHERE m.user_id = :userId AND (s.credential_id = :credentialId OR (s.credential_id IS NULL AND s.method = :method))
     AND s.expires_at > :now AND ${IS_CURRENT} LIMIT :limit`,
);

/** Stores the end of a session. `at` is when it ended, in epoch milliseconds. */
export const revokeSessionRow = change<{ sessionId: string; at: number; reason: string }>(
  'UPDATE sessions SET revoked_at = :at, revoked_reason = :reason WHERE id = :sessionId AND revoked_at IS NULL',
  { rowId: 'sessionId' },
);

/** Replaces a session's token and expiry: the earlier token is refused from then on. */
export const rekeySession = change<{ sessionId: string; hash: Uint8Array; expiresAt: number }>(
  'UPDATE sessions SET token_hash = :hash, expires_at = :expiresAt WHERE id = :sessionId',
  { rowId: 'sessionId' },
);

/** Exempts one session from this change's bump of its member's epoch. Never revives an ended one. */
export const spareSession = change<string>('UPDATE sessions SET epoch = epoch + 1 WHERE id = :id', { rowId: 'id' });

export interface UnrevokedSession {
  readonly userId: string;
  readonly applicationId: string;
  /** Null for a member without such a session. */
  readonly sessionId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Over because its epoch is outdated, but not marked as ended yet. */
  readonly isOutdated: boolean;
}

const UNREVOKED = `m.user_id AS "userId", m.application_id AS "applicationId", s.id AS "sessionId", s.created_at AS "createdAt",
  s.expires_at AS "expiresAt", s.epoch <> a.session_epoch + m.session_epoch AS "isOutdated"`;

/** Returns the sessions after a cursor, by user id and session id; members without any get a row too. */
export const listUnrevokedOfApplication = query.rows<
  UnrevokedSession,
  { applicationId: string; userId: string; sessionId: string; limit: number }
>(
  `SELECT ${UNREVOKED} FROM application_users m JOIN applications a ON a.id = m.application_id
     LEFT JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL
       AND s.id > CASE WHEN m.user_id = :userId THEN :sessionId ELSE '' END
   WHERE m.application_id = :applicationId AND m.user_id >= :userId ORDER BY m.user_id, s.id LIMIT :limit`,
);

/** Returns the sessions after a session id, in order. */
export const listUnrevokedOfMember = query.rows<
  UnrevokedSession & { sessionId: string },
  { memberId: string; sessionId: string; limit: number }
>(
  `SELECT ${UNREVOKED} FROM application_users m JOIN applications a ON a.id = m.application_id
     JOIN sessions s ON s.application_user_id = m.id AND s.revoked_at IS NULL AND s.id > :sessionId
   WHERE m.id = :memberId ORDER BY s.id LIMIT :limit`,
);

const IS_OUTDATED = `s.epoch <> a.session_epoch + m.session_epoch AND s.created_at <= :at AND s.expires_at > :at`;

/** Returns how many open sessions (at `at`) of an application its epoch has ended whose rows do not say so yet. */
export const countOutdatedOfApplication = longRead.count<{ applicationId: string; at: number }>(
  `SELECT count(*) ${OPEN} WHERE m.application_id = :applicationId AND ${IS_OUTDATED}`,
);

/** Returns how many open sessions (at `at`) of a member an epoch has ended whose rows do not say so yet. */
export const countOutdatedOfMember = longRead.count<{ memberId: string; at: number }>(
  `SELECT count(*) ${OPEN} WHERE m.id = :memberId AND ${IS_OUTDATED}`,
);

/** Records that the session's holder re-authenticated, with the token or with the page cookie. */
export const noteSessionProved = note<string>('UPDATE sessions SET proved_at = :now WHERE id = :id');
export const notePageProved = note<string>('UPDATE sessions SET page_proved_at = :now WHERE id = :id');

/** Clears the last re-authentications, as when the address that proved them has changed. */
export const forgetSessionProof = note<string>(
  'UPDATE sessions SET proved_at = NULL, page_proved_at = NULL WHERE id = :id',
);

interface SeenBefore {
  readonly id: string;
  readonly applicationId: string;
  readonly before: number;
}

const unseenThatDay = query.rows<SeenBefore, { ids: readonly string[]; dayStart: number }>(
  ({ idList }) => `SELECT s.id, m.application_id AS "applicationId", s.last_seen_at AS before
   FROM sessions s JOIN application_users m ON m.id = s.application_user_id
   WHERE s.id IN ${idList(':ids')} AND s.last_seen_at < :dayStart`,
);
/** Stands for any time before the one that is noted. */
const ANY_TIME = -1;

const noteSeen = note.values<string, { seen: readonly (LastSeenAt & { readonly before: number })[] }>(
  ({ jsonRows }) => `UPDATE sessions SET last_seen_at = seen.at
   FROM (SELECT * FROM ${jsonRows(':seen', { id: 'text', at: 'integer', before: 'integer' })} ORDER BY id) AS seen
   WHERE sessions.id = seen.id AND last_seen_at < seen.at AND seen.before IN (last_seen_at, ${ANY_TIME})
   RETURNING sessions.id`,
);

/** Updates when sessions were last seen on one day, never backwards. Publishes the first use of that day once. */
export async function noteSessionsSeen(unit: Unit, seen: readonly LastSeenAt[]): Promise<void> {
  const [one] = seen;
  if (!one) return;
  const unseen = await unseenThatDay(unit, { ids: seen.map(({ id }) => id), dayStart: startOfDay(one.at) });
  const firsts = new Map(unseen.map((session) => [session.id, session]));
  const times = seen.map(({ id, at }) => ({ id, at, before: firsts.get(id)?.before ?? ANY_TIME }));
  const noted = new Set(await noteSeen(unit, { seen: times }));
  for (const { id, at, before } of times) {
    const first = firsts.get(id);
    if (first && noted.has(id)) unit.publish(SESSION_SEEN, { applicationId: first.applicationId, at, before });
  }
  // Another instance has written since: it may have counted the first use of that day.
  await noteSessionsSeen(
    unit,
    seen.filter(({ id }) => firsts.has(id) && !noted.has(id)),
  );
}

/** Cursor over a member's sessions: first those without a stored end, then the others by end. */
export interface SessionPosition {
  readonly sessionId: string;
  readonly revokedAt: number | null;
}

interface Behind {
  readonly memberId: string;
  readonly sessionId: string;
  readonly limit: number;
}

const unrevokedBehind = query.rows<SessionPosition, Behind>(
  `SELECT id AS "sessionId", revoked_at AS "revokedAt" FROM sessions
   WHERE application_user_id = :memberId AND revoked_at IS NULL AND id > :sessionId ORDER BY id LIMIT :limit`,
);

const revokedBehind = query.rows<SessionPosition, Behind & { revokedAt: number }>(
  `SELECT id AS "sessionId", revoked_at AS "revokedAt" FROM sessions
   WHERE application_user_id = :memberId AND (revoked_at, id) > (:revokedAt, :sessionId) ORDER BY revoked_at, id LIMIT :limit`,
);

const forgetPlace = note<string>('UPDATE sessions SET ip = NULL, ip_country = NULL, user_agent = NULL WHERE id = :id');

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
  const open = revokedAt === null ? await unrevokedBehind(unit, { memberId, sessionId, limit }) : [];
  const left = limit - open.length;
  const behind = revokedAt === null ? { revokedAt: -1, sessionId: '' } : { revokedAt, sessionId };
  const positions = left === 0 ? open : [...open, ...(await revokedBehind(unit, { memberId, ...behind, limit: left }))];
  for (const position of positions) await forgetPlace(unit, position.sessionId);
  return positions;
}
