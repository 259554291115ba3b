/**
 * Subject of a verification: the identity behind a session token or API key, read live in one statement. This is the
 * hot path, so the statements are raw and prepared once.
 */
import type { Reader } from '../db/database.ts';
import {
  type CachedQuery,
  cachedRow,
  type Dependent,
  type DependentLookup,
  idsOf,
  uncachedRow,
} from '../db/lookups.ts';
import type { MembershipStatus } from './schema/users.ts';

/** Slugs of the grants that a member holds, sorted. */
export interface HeldSlugs {
  readonly roles: string[];
  readonly scopes: string[];
  readonly memberships: string[];
}

/** Ids of the grants, separated by spaces in no order; null if there are none. May include removed grants. */
type HeldIds = { readonly [Kind in keyof HeldSlugs]: string | null };

/** Columns that all members of an application share; one cache entry serves everybody. */
export interface SubjectApplication {
  readonly id: string;
  readonly slug: string;
  readonly clientId: string;
  /** Null for the console. */
  readonly workspaceId: string | null;
  readonly sessionEpoch: number;
}

/** A membership with its person. Lists and objects are JSON text. */
export interface SubjectRow extends HeldIds {
  readonly applicationUserId: string;
  readonly membershipStatus: MembershipStatus;
  readonly username: string | null;
  readonly userId: string;
  /** The account with an unproved member's profile (store/unproved-profiles.ts); null for the person's own. */
  readonly profileUserId: string | null;
  readonly userDeletedAt: number | null;
  readonly email: string;
  readonly name: string | null;
  readonly fullName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly locale: string | null;
  readonly timezone: string | null;
  readonly region: string | null;
  readonly providerAvatarUrl: string | null;
  readonly avatarSizes: string | null;
  readonly avatarUpdatedAt: number | null;
  readonly bannerSizes: string | null;
  readonly bannerUpdatedAt: number | null;
  readonly applicationId: string;
  /** When the session or the key was created. */
  readonly issuedAt: number;
}

export interface SessionRow extends SubjectRow {
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** When the expiry was reported: from then on final, even if the clock goes back. */
  readonly expiryReportedAt: number | null;
  /** The application's epoch that the session requires. */
  readonly epoch: number;
  readonly lastSeenAt: number;
}

export interface KeyState {
  readonly applicationUserId: string;
  /** The personal key that created this key; null if none did. */
  readonly deviceKeyId: string | null;
  readonly keyId: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly gracePeriodEndsAt: number | null;
  /** When the key was marked as ended: final, even if the clock goes back. */
  readonly endedAt: number | null;
  /** A personal key with an outdated application epoch, or a key created with a personal key that no longer works. */
  readonly isOutdated: boolean;
  /** Updated when a use is recorded. */
  lastUsedAt: number | null;
  readonly membershipStatus: MembershipStatus;
  readonly userDeletedAt: number | null;
  readonly userId: string;
}

/** A key's state, and what invalidates its cached row. */
interface ReadKey extends KeyState {
  /** Ids of the member, person and application of the personal key that created it, separated by spaces. */
  readonly deviceIds: string | null;
}

export interface KeyRow extends SubjectRow, ReadKey {
  /** `device` for a personal key. */
  readonly source: string;
  readonly membershipStatus: MembershipStatus;
  readonly userDeletedAt: number | null;
  readonly userId: string;
}

export interface KeyCredential extends ReadKey {
  readonly keyWorkspaceId: string;
  readonly keyApplicationId: string | null;
  /** JSON list; null for the whole workspace. */
  readonly keyApplicationIds: string | null;
  readonly source: string;
  readonly access: 'read' | 'full';
  readonly perMinute: number;
  readonly perDay: number;
  /** True for a personal key of the console. */
  readonly isConsole: boolean;
}

const ids = (grants: string, column: string) =>
  `(SELECT string_agg(h.${column}, ' ') FROM ${grants} h WHERE h.application_user_id = m.id)`;

const HELD = `
  ${ids('application_user_roles', 'role_id')} AS roles,
  ${ids('application_user_scopes', 'scope_id')} AS scopes,
  ${ids('application_user_groups', 'group_id')} AS memberships`;

const PROFILE_ID = 'coalesce(m.profile_user_id, m.user_id)';

const SUBJECT = `
  m.id AS "applicationUserId", m.status AS "membershipStatus", m.username, m.application_id AS "applicationId",
  m.user_id AS "userId", m.profile_user_id AS "profileUserId", u.deleted_at AS "userDeletedAt",
  coalesce(m.reserved_email, u.email) AS email, u.name, u.full_name AS "fullName",
  u.given_name AS "givenName", u.family_name AS "familyName", u.locale, u.timezone, u.region,
  u.provider_avatar_url AS "providerAvatarUrl", u.avatar_sizes AS "avatarSizes", u.avatar_updated_at AS "avatarUpdatedAt",
  u.banner_sizes AS "bannerSizes", u.banner_updated_at AS "bannerUpdatedAt", ${HELD}`;

const SESSION = `
  SELECT s.id AS "sessionId", s.expires_at AS "expiresAt", s.revoked_at AS "revokedAt", s.last_seen_at AS "lastSeenAt",
    s.created_at AS "issuedAt", s.expiry_reported_at AS "expiryReportedAt", s.epoch - m.session_epoch AS epoch, ${SUBJECT}
  FROM sessions s JOIN application_users m ON m.id = s.application_user_id JOIN users u ON u.id = ${PROFILE_ID}`;

const HELD_TABLES = ['application_user_roles', 'application_user_scopes', 'application_user_groups'];

/** Returns the ids that a key's row is read from. A key made with a personal key also depends on that key's rows. */
function idsOfKey({ keyId, applicationUserId, userId, deviceKeyId, deviceIds }: ReadKey): string[] {
  const ids = [keyId, applicationUserId, userId];
  return deviceKeyId === null ? ids : [...ids, deviceKeyId, ...idsOf(deviceIds)];
}

const APPLICATION: CachedQuery<SubjectApplication> = {
  sql: `SELECT a.id, a.slug, a.client_id AS "clientId", a.workspace_id AS "workspaceId", a.session_epoch AS "sessionEpoch"
   FROM applications a WHERE a.id = :id`,
  rowIds: ({ id }) => [id],
  rowTables: ['applications'],
};

interface SlugRow {
  readonly id: string;
  readonly slug: string;
}

const slugIn = (table: string): CachedQuery<SlugRow> => ({
  sql: `SELECT g.id, g.slug FROM ${table} g WHERE g.id = :id AND g.removed_at IS NULL`,
  rowIds: ({ id }) => [id],
  rowTables: [table],
});

const [ROLE, SCOPE, GROUP] = [slugIn('roles'), slugIn('scopes'), slugIn('membership_groups')];

const asItIs = (application: SubjectApplication) => application;
const slugOf = ({ slug }: SlugRow) => slug;

/** Resolves ids to slugs. Drops removed grants, which nobody holds even while links remain. */
function slugsOf(look: DependentLookup, query: CachedQuery<SlugRow>, held: string | null): string[] {
  if (held === null) return [];
  const slugs: string[] = [];
  for (const id of idsOf(held)) {
    const slug = look(query, id, slugOf);
    if (slug !== undefined) slugs.push(slug);
  }
  return slugs.length > 1 ? slugs.sort() : slugs;
}

const slugsHeld = (look: DependentLookup, { roles, scopes, memberships }: HeldIds): HeldSlugs => ({
  roles: slugsOf(look, ROLE, roles),
  scopes: slugsOf(look, SCOPE, scopes),
  memberships: slugsOf(look, GROUP, memberships),
});

/** Builds the cached value from a row and the data it shares with others. */
type Make<Row, Answer> = (row: Row, application: SubjectApplication, held: HeldSlugs) => Answer;

/**
 * Adds application and grants from their own cache entries: a few rows serve everybody. Joining them for each of a
 * million sessions was a tenth of the cost of a verification.
 */
function withShared<Row extends SubjectRow, Answer>(
  make: Make<Row, Answer>,
): (row: Row, look: DependentLookup) => Answer {
  return (row, look) =>
    make(row, look(APPLICATION, row.applicationId, asItIs) as SubjectApplication, slugsHeld(look, row));
}

const HELD_GRANTS: readonly Dependent[] = [
  { query: ROLE, ids: 'roles' },
  { query: SCOPE, ids: 'scopes' },
  { query: GROUP, ids: 'memberships' },
];

const SHARED: readonly Dependent[] = [{ query: APPLICATION, ids: 'applicationId' }, ...HELD_GRANTS];

const sessionByHash = cachedRow<SessionRow>({
  sql: `${SESSION} WHERE s.token_hash = :hash`,
  rowIds: ({ sessionId, applicationUserId, userId, profileUserId }) => [
    sessionId,
    applicationUserId,
    profileUserId ?? userId,
  ],
  rowTables: ['sessions', 'application_users', 'users'],
  listTables: HELD_TABLES,
  noted: 'lastSeenAt',
  dependents: SHARED,
});

/** Returns what `make` builds for a session, by the hash of its token. */
export function findSessionSubject<Answer extends object>(
  reader: Reader,
  hash: Uint8Array,
  make: Make<SessionRow, Answer>,
) {
  return sessionByHash(reader, hash, withShared(make));
}

const sessionById = uncachedRow<SessionRow, string>(`${SESSION} WHERE s.id = :id`, SHARED);

/** Works like {@link findSessionSubject}, by the id of a session. */
export function findSessionSubjectById<Answer>(reader: Reader, id: string, make: Make<SessionRow, Answer>) {
  return sessionById(reader, id, withShared(make));
}

/** SQL: made with a personal key that has ended or is suspended, or whose person may no longer create such keys. */
const IS_BEREFT = `(k.device_key_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM api_keys d JOIN application_users dm ON dm.id = d.application_user_id
    JOIN users du ON du.id = dm.user_id JOIN applications da ON da.id = d.application_id
    JOIN workspace_members w ON w.workspace_id = k.workspace_id AND w.user_id = dm.user_id
  WHERE d.id = k.device_key_id AND d.revoked_at IS NULL AND d.epoch = da.session_epoch AND dm.status = 'active'
    AND du.deleted_at IS NULL AND w.role <> 'member' AND w.invited_email IS NULL))`;

/** SQL: ids of the rows that a key made with a personal key depends on. */
const DEVICE_IDS = `(SELECT d.application_user_id || ' ' || dm.user_id || ' ' || d.application_id
  FROM api_keys d JOIN application_users dm ON dm.id = d.application_user_id WHERE d.id = k.device_key_id)`;

const KEY_STATE = `k.id AS "keyId", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
  k.device_key_id AS "deviceKeyId", ${DEVICE_IDS} AS "deviceIds", k.grace_period_ends_at AS "gracePeriodEndsAt", k.ended_at AS "endedAt", k.last_used_at AS "lastUsedAt"`;

const KEY_TABLES = ['api_keys', 'application_users', 'users', 'applications'];

const keyByHash = cachedRow<KeyRow>({
  sql: `SELECT ${KEY_STATE}, k.source, k.created_at AS "issuedAt", k.source = 'device' AND k.epoch <> a.session_epoch OR ${IS_BEREFT} AS "isOutdated", ${SUBJECT}
   FROM api_keys k JOIN application_users m ON m.id = k.application_user_id JOIN users u ON u.id = ${PROFILE_ID}
     JOIN applications a ON a.id = m.application_id
   WHERE k.token_hash = :hash`,
  rowIds: (row) => [...idsOfKey(row), ...idsOf(row.profileUserId)],
  rowTables: KEY_TABLES,
  listTables: [...HELD_TABLES, 'workspace_members'],
  noted: 'lastUsedAt',
  dependents: SHARED,
});

/** Returns what `make` builds for a key, by the hash of its token. */
export function findKeySubject<Answer extends object>(reader: Reader, hash: Uint8Array, make: Make<KeyRow, Answer>) {
  return keyByHash(reader, hash, withShared(make));
}

/** Evaluates an application column; only personal keys depend on their application. */
const ofDevice = (expression: string) =>
  `(k.source = 'device' AND (SELECT ${expression} FROM applications a WHERE a.id = k.application_id))`;

/** Returns a key's credential by the hash of its token. */
export const findKeyCredential = cachedRow<KeyCredential>({
  sql: `SELECT ${KEY_STATE}, m.id AS "applicationUserId", k.workspace_id AS "keyWorkspaceId", k.application_id AS "keyApplicationId",
     k.application_ids AS "keyApplicationIds", k.source, k.access, k.per_minute AS "perMinute", k.per_day AS "perDay",
     m.status AS "membershipStatus", u.deleted_at AS "userDeletedAt", u.id AS "userId",
     ${ofDevice('k.epoch <> a.session_epoch')} OR ${IS_BEREFT} AS "isOutdated", ${ofDevice('a.workspace_id IS NULL')} AS "isConsole"
   FROM api_keys k JOIN application_users m ON m.id = k.application_user_id JOIN users u ON u.id = m.user_id
   WHERE k.token_hash = :hash`,
  rowIds: (row) => [...idsOfKey(row), ...idsOf(row.keyApplicationId)],
  rowTables: KEY_TABLES,
  listTables: ['workspace_members'],
  noted: 'lastUsedAt',
});

interface AttributesRow {
  readonly externalId: string | null;
  /** JSON text; null if empty. */
  readonly metadata: string | null;
}

const attributesOf = uncachedRow<AttributesRow, string>(
  'SELECT m.external_id AS "externalId", m.metadata FROM application_users m WHERE m.id = :memberId',
);

/** Returns what the application's own systems keep about a member. Read at each call, so that caches stay small. */
export function findAttributes(reader: Reader, memberId: string) {
  return attributesOf(reader, memberId, (row) => row);
}

const idsOfMember = uncachedRow<HeldIds, { userId: string; applicationId: string }>(
  `SELECT ${HELD} FROM application_users m
   WHERE m.user_id = :userId AND m.application_id = :applicationId AND m.status = 'active'
     AND (m.reserved_email IS NULL OR m.profile_user_id IS NOT NULL)`,
  HELD_GRANTS,
);

/** Returns the slugs a person holds in an application as an active member; undefined for a pending reservation. */
export function findLiveSlugs(reader: Reader, userId: string, applicationId: string): Promise<HeldSlugs | undefined> {
  return idsOfMember(reader, { userId, applicationId }, (row, look) => slugsHeld(look, row));
}
