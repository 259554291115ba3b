/** The subject of a verification: whether it is good now, and what a verified token tells about it. */
import { isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import type { Envelope, Region } from '../../core/envelope.ts';
import { imageUrl } from '../../core/image-url.ts';
import type { HeldSlugs, KeySubject, SessionSubject, SubjectRow } from '../../store/verification.ts';
import type { TokenRefusal } from './model.ts';

/**
 * Why a session is refused, in the contract's precedence: membership, then revoked, then expired. Null when it is good.
 *
 * @param now epoch milliseconds.
 */
export function judgeSession(
  row: Pick<SessionSubject, 'membershipStatus' | 'userDeletedAt' | 'revokedAt' | 'isOutdated' | 'expiresAt'>,
  now: number,
): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null || row.isOutdated === 1) return 'revoked';
  return row.expiresAt <= now ? 'expired' : null;
}

/**
 * The same for a key. A revoked one counts as a blocked membership: its principal is banned, except where it shares it,
 * with a successor or with the person it belongs to.
 */
export function judgeKey(
  row: Pick<
    KeySubject,
    'membershipStatus' | 'userDeletedAt' | 'revokedAt' | 'isOutdated' | 'expiresAt' | 'gracePeriodEndsAt'
  >,
  now: number,
): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null || row.isOutdated === 1) return 'membership_blocked';
  if (row.expiresAt !== null && row.expiresAt <= now) return 'expired';
  return row.gracePeriodEndsAt !== null && row.gracePeriodEndsAt <= now ? 'expired' : null;
}

/** The contract's session envelope. Everything unset is null; `cdnUrl` is where images are served. */
export function envelope(row: SubjectRow & { readonly expiresAt: number | null }, cdnUrl: string): Envelope {
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

/** What a member holds, each list in order. */
export function liveSlugs({ roles, scopes, memberships }: HeldSlugs) {
  return { roles: slugList(roles), scopes: slugList(scopes), memberships: slugList(memberships) };
}

/** Ordering a handful here costs a third of what it costs in SQL. */
function slugList(joined: string | null): string[] {
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
  { userId, avatarUpdatedAt, providerAvatarUrl }: SubjectRow,
  avatarSizes: number[] | null,
): AvatarSource {
  return { id: userId, avatarSizes, avatarUpdatedAt, providerAvatarUrl };
}

function parse<T>(json: string | null): T | null {
  return json === null ? null : (JSON.parse(json) as T);
}
