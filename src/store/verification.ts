/**
 * The subject of a verification: whom a session token or API key stands for right now, read live in one statement each.
 * This is the product's hot path: raw statements, prepared once. `+?` keeps SQLite from re-planning a join at every call
 * (with a bare bound `= ?` the same statement takes twice as long: test/bench/statements.ts shows both).
 */
import type { Reader } from '../db/database.ts';
import { type LookBeside, type LookUp, rawByHash, rawRow } from '../db/statements.ts';
import type { MembershipStatus } from './schema/users.ts';

/** What a member holds, each in order. */
export interface HeldSlugs {
  readonly roles: string[];
  readonly scopes: string[];
  readonly memberships: string[];
}

/** The same as ids, joined by spaces and in no order; null where there are none. Some may be of what was removed. */
type HeldIds = { readonly [Kind in keyof HeldSlugs]: string | null };

/** What all of an application share; looked up once for everybody. */
export interface SubjectApplication {
  readonly id: string;
  readonly slug: string;
  readonly clientId: string;
  /** Null for the console. */
  readonly workspaceId: string | null;
  readonly sessionEpoch: number;
}

/** A membership with the person behind it. Lists and objects are JSON texts. */
export interface SubjectRow extends HeldIds {
  readonly applicationUserId: string;
  readonly membershipStatus: MembershipStatus;
  readonly username: string | null;
  readonly userId: string;
  /** The account with the profile of an unproved member (store/unproved-profiles.ts); null for the person's own. */
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
  /** When the session or the key was made. */
  readonly issuedAt: number;
}

/** What judging a session takes, and the identity behind it. */
export interface SessionRow extends SubjectRow {
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** When its end by time was told; then it is over for good, whatever the clock says. */
  readonly expiryReportedAt: number | null;
  /** The application's epoch for which it is good. */
  readonly epoch: number;
  readonly lastSeenAt: number;
}

/** What judging a key takes. */
export interface KeyState {
  readonly applicationUserId: string;
  /** The personal key that it was made with, where it was. */
  readonly deviceKeyId: string | null;
  readonly keyId: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly gracePeriodEndsAt: number | null;
  /** When its end by time was written down; then it is over for good, whatever the clock says. */
  readonly endedAt: number | null;
  /** A personal key made under another epoch of its application than the present one, or a key made with one that is over. */
  readonly isOutdated: 0 | 1;
  readonly lastUsedAt: number | null;
  readonly membershipStatus: MembershipStatus;
  readonly userDeletedAt: number | null;
  readonly userId: string;
}

/** What judging a key takes, and the identity behind it. */
export interface KeyRow extends SubjectRow, KeyState {
  /** `device` for a personal key. */
  readonly source: string;
  readonly membershipStatus: MembershipStatus;
  readonly userDeletedAt: number | null;
  readonly userId: string;
}

/** What authenticating a key takes, without the identity behind it. */
export interface KeyCredential extends KeyState {
  readonly keyWorkspaceId: string;
  readonly keyApplicationId: string | null;
  /** JSON list; null for all of the workspace. */
  readonly keyApplicationIds: string | null;
  /** `device` for a personal key. */
  readonly source: string;
  readonly access: 'read' | 'full';
  readonly perMinute: number;
  readonly perDay: number;
  /** Of a personal key for the console. */
  readonly isConsole: 0 | 1;
}

const ids = (grants: string, column: string) =>
  `(SELECT group_concat(h.${column}, ' ') FROM ${grants} h WHERE h.application_user_id = m.id)`;

const HELD = `
  ${ids('application_user_roles', 'role_id')} AS roles,
  ${ids('application_user_scopes', 'scope_id')} AS scopes,
  ${ids('application_user_groups', 'group_id')} AS memberships`;

/** The account whose profile a membership shows. */
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

/** Grants and seats are not among them: a new one is somebody's who may be remembered. */
const FOUND_BY_ID = [
  'sessions',
  'api_keys',
  'application_users',
  'users',
  'applications',
  'roles',
  'scopes',
  'membership_groups',
];

/** One that was made with a personal key hangs on that as well, and on whoever holds it: any change may be theirs. */
const idsOfKey = ({ keyId, applicationUserId, userId, deviceKeyId }: KeyState, profileUserId: string | null = null) =>
  deviceKeyId === null ? [keyId, applicationUserId, profileUserId ?? userId] : null;

const APPLICATION: LookUp<SubjectApplication> = {
  sql: `SELECT a.id, a.slug, a.client_id AS "clientId", a.workspace_id AS "workspaceId", a.session_epoch AS "sessionEpoch"
   FROM applications a WHERE a.id = +?`,
  ids: () => [],
  foundById: FOUND_BY_ID,
};

interface SlugRow {
  readonly slug: string;
}

const slugIn = (table: string): LookUp<SlugRow> => ({
  sql: `SELECT g.slug FROM ${table} g WHERE g.id = +? AND g.removed_at IS NULL`,
  ids: () => [],
  foundById: FOUND_BY_ID,
});

const [ROLE, SCOPE, GROUP] = [slugIn('roles'), slugIn('scopes'), slugIn('membership_groups')];

const asItIs = (application: SubjectApplication) => application;
const slugOf = ({ slug }: SlugRow) => slug;

/** What was removed is held by nobody, before the last holder's row is gone. */
function slugsOf(look: LookBeside, lookUp: LookUp<SlugRow>, held: string | null): string[] {
  if (held === null) return [];
  return held
    .split(' ')
    .flatMap((id) => look(lookUp, id, slugOf) ?? [])
    .sort();
}

const slugsHeld = (look: LookBeside, { roles, scopes, memberships }: HeldIds): HeldSlugs => ({
  roles: slugsOf(look, ROLE, roles),
  scopes: slugsOf(look, SCOPE, scopes),
  memberships: slugsOf(look, GROUP, memberships),
});

/** What a row tells with all that it shares with others. */
type Make<Row, Answer> = (row: Row, application: SubjectApplication, held: HeldSlugs) => Answer;

/**
 * Application, roles, scopes and groups are a few rows on which everybody's rest: joined for each of a million sessions, they were a
 * tenth of what a verification costs.
 */
function withShared<Row extends SubjectRow, Answer>(make: Make<Row, Answer>): (row: Row, look: LookBeside) => Answer {
  return (row, look) =>
    make(row, look(APPLICATION, row.applicationId, asItIs) as SubjectApplication, slugsHeld(look, row));
}

const BESIDES = [APPLICATION, ROLE, SCOPE, GROUP];

const sessionByHash = rawByHash<SessionRow>({
  sql: `${SESSION} WHERE s.token_hash = +?`,
  ids: ({ sessionId, applicationUserId, userId, profileUserId }) => [
    sessionId,
    applicationUserId,
    profileUserId ?? userId,
  ],
  foundById: FOUND_BY_ID,
  besides: BESIDES,
});

/** By the hash of the token. */
export function findSessionSubject<Answer extends object>(
  reader: Reader,
  hash: Uint8Array,
  make: Make<SessionRow, Answer>,
) {
  return sessionByHash(reader, hash, withShared(make));
}

const sessionById = rawRow<SessionRow, [string]>(`${SESSION} WHERE s.id = +?`);

/** As {@link findSessionSubject}, for a session that is known already. */
export function findSessionSubjectById<Answer>(reader: Reader, id: string, make: Make<SessionRow, Answer>) {
  return sessionById(reader, [id], withShared(make));
}

/** Made with a personal key that has ended, or rests, or whose person may not make keys of the workspace any more. */
const IS_BEREFT = `(k.device_key_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM api_keys d JOIN application_users dm ON dm.id = d.application_user_id
    JOIN users du ON du.id = dm.user_id JOIN applications da ON da.id = d.application_id
    JOIN workspace_members w ON w.workspace_id = k.workspace_id AND w.user_id = dm.user_id
  WHERE d.id = k.device_key_id AND d.revoked_at IS NULL AND d.epoch = da.session_epoch AND dm.status = 'active'
    AND du.deleted_at IS NULL AND w.role <> 'member' AND w.invited_email IS NULL))`;

const KEY_STATE = `k.id AS "keyId", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
  k.device_key_id AS "deviceKeyId", k.grace_period_ends_at AS "gracePeriodEndsAt", k.ended_at AS "endedAt", k.last_used_at AS "lastUsedAt"`;

const keyByHash = rawByHash<KeyRow>({
  sql: `SELECT ${KEY_STATE}, k.source, k.created_at AS "issuedAt", k.source = 'device' AND k.epoch <> a.session_epoch OR ${IS_BEREFT} AS "isOutdated", ${SUBJECT}
   FROM api_keys k JOIN application_users m ON m.id = k.application_user_id JOIN users u ON u.id = ${PROFILE_ID}
     JOIN applications a ON a.id = m.application_id
   WHERE k.token_hash = +?`,
  ids: (row) => idsOfKey(row, row.profileUserId),
  foundById: FOUND_BY_ID,
  besides: BESIDES,
});

/** By the hash of the token. */
export function findKeySubject<Answer extends object>(reader: Reader, hash: Uint8Array, make: Make<KeyRow, Answer>) {
  return keyByHash(reader, hash, withShared(make));
}

/** Only a personal key has to do with its application. */
const ofDevice = (expression: string) =>
  `(k.source = 'device' AND (SELECT ${expression} FROM applications a WHERE a.id = k.application_id))`;

/** By the hash of the token. */
export const findKeyCredential = rawByHash<KeyCredential>({
  sql: `SELECT ${KEY_STATE}, m.id AS "applicationUserId", k.workspace_id AS "keyWorkspaceId", k.application_id AS "keyApplicationId",
     k.application_ids AS "keyApplicationIds", k.source, k.access, k.per_minute AS "perMinute", k.per_day AS "perDay",
     m.status AS "membershipStatus", u.deleted_at AS "userDeletedAt", u.id AS "userId",
     ${ofDevice('k.epoch <> a.session_epoch')} OR ${IS_BEREFT} AS "isOutdated", ${ofDevice('a.workspace_id IS NULL')} AS "isConsole"
   FROM api_keys k JOIN application_users m ON m.id = k.application_user_id JOIN users u ON u.id = m.user_id
   WHERE k.token_hash = +?`,
  ids: idsOfKey,
  foundById: FOUND_BY_ID,
});

const idsOfMember = rawRow<HeldIds, [string, string]>(
  `SELECT ${HELD} FROM application_users m
   WHERE m.user_id = ? AND m.application_id = ? AND m.status = 'active'
     AND (m.reserved_email IS NULL OR m.profile_user_id IS NOT NULL)`,
);

/** What a person holds in an application, by an active membership; a reservation is none yet. */
export function findLiveSlugs(reader: Reader, userId: string, applicationId: string): Promise<HeldSlugs | undefined> {
  return idsOfMember(reader, [userId, applicationId], (row, look) => slugsHeld(look, row));
}
