/** The subject of a verification: what a verified token tells about whom it stands for. */
import { isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import type { Envelope, Identity, Region } from '../../core/envelope.ts';
import { type AvatarSource, avatarUrl } from '../../core/image-url.ts';
import type { HeldSlugs, SubjectRow } from '../../store/verification.ts';

/** Of those who have never said anything else. */
const DEFAULT_LOCALE = 'en';
const DEFAULT_TIMEZONE = 'UTC';

type Subject = SubjectRow & { readonly expiresAt: number | null };

/** The contract's session envelope, in which names, locale and time zone are always texts; `cdnUrl` is where images are served. */
function envelope(row: Subject, cdnUrl: string): Envelope {
  const fullName = displayName(row) ?? '';
  const avatarSizes = parse<number[]>(row.avatarSizes);
  return {
    userId: row.userId,
    username: row.username,
    email: row.email,
    name: fullName,
    fullName,
    givenName: row.givenName ?? '',
    familyName: row.familyName ?? '',
    avatarUrl: avatarUrl(avatarOf(row, avatarSizes), row.applicationSlug, cdnUrl),
    locale: row.locale ?? DEFAULT_LOCALE,
    timezone: row.timezone ?? DEFAULT_TIMEZONE,
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

/** What is told of a row; put into words once, as most tokens are verified again before anything about their holders changes. */
export function identityOf(row: Subject, cdnUrl: string): Identity {
  return (row.identity ??= new Told(row, cdnUrl));
}

class Told implements Identity {
  #members: string | undefined;

  constructor(
    private readonly row: Subject,
    private readonly cdnUrl: string,
  ) {}

  get envelope(): Envelope {
    return envelope(this.row, this.cdnUrl);
  }

  get members(): string {
    return (this.#members ??= JSON.stringify(this.envelope).slice(1, -1));
  }
}

/** What a member holds, each list in order. */
export function liveSlugs({ roles, scopes, memberships }: HeldSlugs) {
  return { roles: slugList(roles), scopes: slugList(scopes), memberships: slugList(memberships) };
}

/** Ordering a handful here costs a third of what it costs in SQL. */
function slugList(joined: string | null): string[] {
  return joined === null ? [] : joined.split(' ').sort();
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
