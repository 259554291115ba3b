/** The subject of a verification: what a verified token tells about whom it stands for. */
import { isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import type { Envelope, LiveIdentity, Region } from '../../core/envelope.ts';
import { type AvatarSource, avatarUrl } from '../../core/image-url.ts';
import type { HeldSlugs, KeyRow, KeyState, SessionRow, SubjectRow } from '../../store/verification.ts';

/** Of those who have never said anything else. */
const DEFAULT_LOCALE = 'en';
const DEFAULT_TIMEZONE = 'UTC';

/** The contract's session envelope, in which names, locale and time zone are always texts; `cdnUrl` is where images are served. */
function envelope(row: SubjectRow & { readonly expiresAt: number | null }, cdnUrl: string): Envelope {
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

/** What judging a token takes, and what it is told as; kept in memory by the tens of thousands, so of few and short parts. */
interface Subject {
  readonly applicationUserId: string;
  readonly userId: string;
  readonly applicationId: string;
  readonly clientId: string;
  /** Null for the console. */
  readonly workspaceId: string | null;
  readonly membershipStatus: SubjectRow['membershipStatus'];
  readonly userDeletedAt: number | null;
  readonly issuedAt: number;
  readonly identity: LiveIdentity;
}

export interface SessionSubject extends Subject, Pick<SessionRow, 'sessionId' | JudgedOfSession> {
  /** Moves on as it is noted. */
  lastSeenAt: number;
}

export interface KeySubject extends Subject, Omit<KeyState, keyof Subject | 'deviceKeyId'> {
  readonly source: string;
}

type JudgedOfSession = 'expiresAt' | 'revokedAt' | 'expiryReportedAt' | 'isOutdated';

/** Makes subjects of rows. @param cdnUrl where images are served. */
export function subjects(cdnUrl: () => string) {
  /** Most have the same application, and then these texts are kept once for all of them. */
  let [applicationId, clientId, workspaceId]: [string, string, string | null] = ['', '', null];

  function common(row: SubjectRow & { readonly expiresAt: number | null }): Subject {
    const isOfSame =
      row.applicationId === applicationId && row.clientId === clientId && row.workspaceId === workspaceId;
    if (!isOfSame) ({ applicationId, clientId, workspaceId } = row);
    const { applicationUserId, userId, membershipStatus, userDeletedAt, issuedAt } = row;
    const identity = new Told(JSON.stringify(envelope(row, cdnUrl())).slice(1, -1));
    const whose = { applicationUserId, userId, applicationId, clientId, workspaceId };
    return { ...whose, membershipStatus, userDeletedAt, issuedAt, identity };
  }

  return {
    ofSession(row: SessionRow): SessionSubject {
      const { sessionId, expiresAt, revokedAt, expiryReportedAt, isOutdated, lastSeenAt } = row;
      return { ...common(row), sessionId, expiresAt, revokedAt, expiryReportedAt, isOutdated, lastSeenAt };
    },
    ofKey(row: KeyRow): KeySubject {
      const { keyId, source, expiresAt, revokedAt, gracePeriodEndsAt, endedAt, isOutdated, lastUsedAt } = row;
      const state = { keyId, source, expiresAt, revokedAt, gracePeriodEndsAt, endedAt, isOutdated, lastUsedAt };
      return { ...common(row), ...state };
    },
    envelope: (row: SessionRow): Envelope => envelope(row, cdnUrl()),
  };
}

/** Kept as the text that is sent: an answer to who asks again is put together from two pieces. */
class Told implements LiveIdentity {
  constructor(readonly members: string) {}

  get envelope(): Envelope {
    return JSON.parse(`{${this.members}}`) as Envelope;
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
