/**
 * The subject of a verification: who a session token or API key stands for right now, read live in one statement each.
 * This is the product's hot path: raw statements, prepared once. `+?` keeps SQLite from re-planning a join at every call
 * (with a bare bound `= ?` the same statement takes twice as long: test/bench/statements.ts shows both).
 */
import type { Database } from '../../db/unit-of-work.ts';
import type { MembershipStatus } from '../../db/schema/users.ts';
import { isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import { hashSecret, isSecret } from '../../core/secret.ts';
import type { Envelope, Region } from '../../core/envelope.ts';
import { imageUrl } from '../../core/image-url.ts';

/** A membership with the person and the application behind it, as both statements read it. */
interface MembershipRow {
  applicationUserId: string;
  membershipStatus: MembershipStatus;
  username: string | null;
  userId: string;
  userDeletedAt: number | null;
  email: string;
  name: string | null;
  fullName: string | null;
  givenName: string | null;
  familyName: string | null;
  locale: string | null;
  timezone: string | null;
  region: string | null;
  providerAvatarUrl: string | null;
  avatarSizes: string | null;
  avatarUpdatedAt: number | null;
  bannerSizes: string | null;
  bannerUpdatedAt: number | null;
  applicationId: string;
  applicationSlug: string;
  workspaceId: string | null;
  roles: string | null;
  scopes: string | null;
  memberships: string | null;
}

export interface SessionRow extends MembershipRow {
  kind: 'session';
  sessionId: string;
  expiresAt: number;
  revokedAt: number | null;
  lastSeenAt: number;
}

export interface KeyRow extends MembershipRow {
  kind: 'key';
  keyId: string;
  keyWorkspaceId: string;
  keyApplicationId: string | null;
  keyApplicationIds: string | null;
  /** `device` for a personal key. */
  source: string;
  access: 'read' | 'full';
  perMinute: number;
  perDay: number;
  expiresAt: number | null;
  revokedAt: number | null;
  gracePeriodEndsAt: number | null;
  lastUsedAt: number | null;
}

const slugs = (grants: string, table: string, column: string) =>
  `(SELECT group_concat(g.slug, ' ') FROM ${grants} h JOIN ${table} g ON g.id = h.${column}
     WHERE h.application_user_id = m.id)`;

const SLUG_COLUMNS = `
  ${slugs('application_user_roles', 'roles', 'role_id')} AS roles,
  ${slugs('application_user_scopes', 'scopes', 'scope_id')} AS scopes,
  ${slugs('application_user_groups', 'membership_groups', 'group_id')} AS memberships`;

const MEMBERSHIP_COLUMNS = `
  m.id AS applicationUserId, m.status AS membershipStatus, m.username,
  u.id AS userId, u.deleted_at AS userDeletedAt, u.email, u.name, u.full_name AS fullName,
  u.given_name AS givenName, u.family_name AS familyName, u.locale, u.timezone, u.region,
  u.provider_avatar_url AS providerAvatarUrl, u.avatar_sizes AS avatarSizes, u.avatar_updated_at AS avatarUpdatedAt,
  u.banner_sizes AS bannerSizes, u.banner_updated_at AS bannerUpdatedAt,
  a.id AS applicationId, a.slug AS applicationSlug, a.workspace_id AS workspaceId, ${SLUG_COLUMNS}`;

const MEMBERSHIP_JOINS = `
  JOIN users u ON u.id = m.user_id
  JOIN applications a ON a.id = m.application_id`;

/** What authenticating a key needs, without the identity behind it. */
export type KeyCredentialRow = Pick<
  KeyRow,
  | 'kind'
  | 'keyId'
  | 'keyWorkspaceId'
  | 'keyApplicationId'
  | 'keyApplicationIds'
  | 'source'
  | 'access'
  | 'perMinute'
  | 'perDay'
  | 'expiresAt'
  | 'revokedAt'
  | 'gracePeriodEndsAt'
  | 'lastUsedAt'
  | 'membershipStatus'
  | 'userDeletedAt'
  | 'userId'
>;

export interface Subjects {
  /** A malformed or made-up token is refused by its checksum, before any look-up. */
  session(token: string): SessionRow | null;
  sessionById(id: string): SessionRow | null;
  key(token: string): KeyRow | null;
  keyCredential(token: string): KeyCredentialRow | null;
  /** What a person holds in an application, by an active membership. */
  slugs(userId: string, applicationId: string): Pick<MembershipRow, 'roles' | 'scopes' | 'memberships'> | null;
}

export function subjects({ sqlite }: Database): Subjects {
  const selectSession = `SELECT 'session' AS kind, s.id AS sessionId, s.expires_at AS expiresAt, s.revoked_at AS revokedAt, s.last_seen_at AS lastSeenAt,
       ${MEMBERSHIP_COLUMNS}
     FROM sessions s JOIN application_users m ON m.id = s.application_user_id ${MEMBERSHIP_JOINS}`;
  const session = sqlite.prepare<SessionRow, [Uint8Array]>(`${selectSession} WHERE s.token_hash = +?`);
  const sessionById = sqlite.prepare<SessionRow, [string]>(`${selectSession} WHERE s.id = +?`);
  const keyColumns = `'key' AS kind, k.id AS keyId, k.workspace_id AS keyWorkspaceId, k.application_id AS keyApplicationId,
    k.application_ids AS keyApplicationIds, k.source, k.access, k.per_minute AS perMinute, k.per_day AS perDay,
    k.expires_at AS expiresAt, k.revoked_at AS revokedAt, k.grace_period_ends_at AS gracePeriodEndsAt,
    k.last_used_at AS lastUsedAt`;
  const key = sqlite.prepare<KeyRow, [Uint8Array]>(
    `SELECT ${keyColumns}, ${MEMBERSHIP_COLUMNS}
     FROM api_keys k JOIN application_users m ON m.id = k.application_user_id ${MEMBERSHIP_JOINS}
     WHERE k.token_hash = +?`,
  );
  const keyCredential = sqlite.prepare<KeyCredentialRow, [Uint8Array]>(
    `SELECT ${keyColumns}, m.status AS membershipStatus, u.deleted_at AS userDeletedAt, u.id AS userId
     FROM api_keys k JOIN application_users m ON m.id = k.application_user_id JOIN users u ON u.id = m.user_id
     WHERE k.token_hash = +?`,
  );
  const slugsOfMember = sqlite.prepare<ReturnType<Subjects['slugs']> & object, [string, string]>(
    `SELECT ${SLUG_COLUMNS} FROM application_users m
     WHERE m.user_id = ? AND m.application_id = ? AND m.status = 'active'`,
  );
  return {
    slugs: (userId, applicationId) => slugsOfMember.get(userId, applicationId),
    sessionById: (id) => sessionById.get(id),
    session: (token) => (isSecret('session', token) ? session.get(hashSecret(token)) : null),
    key: (token) => (isSecret('apiKey', token) ? key.get(hashSecret(token)) : null),
    keyCredential: (token) => (isSecret('apiKey', token) ? keyCredential.get(hashSecret(token)) : null),
  };
}

/** The contract's session envelope. Everything unset is null; `cdnUrl` is where images are served. */
export function envelope(row: MembershipRow & { expiresAt: number | null }, cdnUrl: string): Envelope {
  const fullName = displayName(row);
  const avatarSizes = parse<number[]>(row.avatarSizes);
  return {
    userId: row.userId,
    username: row.username,
    email: row.email,
    name: fullName,
    fullName,
    givenName: row.givenName,
    familyName: row.familyName,
    avatarUrl: avatarUrl(avatarOf(row, avatarSizes), row.applicationSlug, cdnUrl),
    locale: row.locale,
    timezone: row.timezone,
    region: parse<Region>(row.region),
    applicationId: row.applicationId,
    status: row.membershipStatus,
    roles: slugList(row.roles),
    scopes: slugList(row.scopes),
    memberships: slugList(row.memberships),
    avatarSizes,
    avatarUpdatedAt: isoTime(row.avatarUpdatedAt),
    bannerSizes: parse<number[]>(row.bannerSizes),
    bannerUpdatedAt: isoTime(row.bannerUpdatedAt),
    expiresAt: isoTime(row.expiresAt),
  };
}

/** Slugs joined by spaces, as an ordered list. Ordering a handful here costs a third of what it costs in SQL. */
export function slugList(joined: string | null): string[] {
  return joined === null ? [] : joined.split(' ').sort();
}

/** The parts of a user that an avatar's address is made of. */
interface AvatarSource {
  readonly id: string;
  readonly avatarSizes: readonly number[] | null;
  readonly avatarUpdatedAt: number | null;
  readonly providerAvatarUrl: string | null;
}

/** The avatar that was uploaded, or else the sign-in provider's. */
export function avatarUrl(user: AvatarSource, applicationSlug: string, cdnUrl: string): string | null {
  const { id, avatarSizes, avatarUpdatedAt, providerAvatarUrl } = user;
  if (!avatarSizes || avatarUpdatedAt === null) return providerAvatarUrl;
  const size = avatarSizes.includes(256) ? 256 : avatarSizes.at(-1)!;
  return imageUrl({ cdnUrl, applicationSlug, userId: id, kind: 'avatar', size, updatedAt: avatarUpdatedAt });
}

function avatarOf(
  { userId, avatarUpdatedAt, providerAvatarUrl }: MembershipRow,
  avatarSizes: number[] | null,
): AvatarSource {
  return { id: userId, avatarSizes, avatarUpdatedAt, providerAvatarUrl };
}

function parse<T>(json: string | null): T | null {
  return json === null ? null : (JSON.parse(json) as T);
}
