/** The subject of a verification: the data about the holder of a token. */
import { isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import type { Envelope, LiveIdentity, Region } from '../../core/envelope.ts';
import { type AvatarSource, avatarUrl } from '../../core/image-url.ts';
import type {
  HeldSlugs,
  KeyRow,
  KeyState,
  SessionRow,
  SubjectApplication,
  SubjectRow,
} from '../../store/verification.ts';

/** Defaults for people who never set them. */
const DEFAULT_LOCALE = 'en';
const DEFAULT_TIMEZONE = 'UTC';

type EndingRow = SubjectRow & { readonly expiresAt: number | null };

/** Names, locale and time zone are never null in the contract's envelope. @param cdnUrl where images are served. */
function envelope(row: EndingRow, application: SubjectApplication, held: HeldSlugs, cdnUrl: string): Envelope {
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
    avatarUrl: avatarUrl(avatarOf(row, avatarSizes), application.slug, cdnUrl),
    locale: row.locale ?? DEFAULT_LOCALE,
    timezone: row.timezone ?? DEFAULT_TIMEZONE,
    region: parse<Region>(row.region),
    applicationId: row.applicationId,
    status: row.membershipStatus,
    roles: held.roles,
    scopes: held.scopes,
    memberships: held.memberships,
    avatarSizes,
    avatarUpdatedAt: isoTime(row.avatarUpdatedAt),
    bannerSizes: parse<number[]>(row.bannerSizes),
    bannerUpdatedAt: isoTime(row.bannerUpdatedAt),
    expiresAt: isoTime(row.expiresAt),
  };
}

/** The data to judge and answer a token. Tens of thousands are cached, so it has few and short fields. */
interface Subject {
  readonly applicationUserId: string;
  readonly userId: string;
  /** The account that holds an unproved member's profile; null for the person's own. */
  readonly profileUserId: string | null;
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
  /** 1 if the session was created under another epoch than the current one. */
  readonly isOutdated: boolean;
  /** Updated when a use is recorded. */
  lastSeenAt: number;
}

export interface KeySubject extends Subject, Omit<KeyState, keyof Subject | 'deviceKeyId'> {
  readonly source: string;
}

type JudgedOfSession = 'expiresAt' | 'revokedAt' | 'expiryReportedAt';

/** Returns true for a session or personal key of a person, false for a backend's key. */
export function isOfPerson(row: SessionSubject | KeySubject): boolean {
  return 'sessionId' in row || row.source === 'device';
}

export type Subjects = ReturnType<typeof subjects>;

/** Builds subjects from rows. @param cdnUrl where images are served. */
export function subjects(cdnUrl: () => string) {
  function common(row: EndingRow, application: SubjectApplication, held: HeldSlugs): Subject {
    return {
      applicationUserId: row.applicationUserId,
      userId: row.userId,
      profileUserId: row.profileUserId,
      applicationId: application.id,
      clientId: application.clientId,
      workspaceId: application.workspaceId,
      membershipStatus: row.membershipStatus,
      userDeletedAt: row.userDeletedAt,
      issuedAt: row.issuedAt,
      identity: new StoredIdentity(JSON.stringify(envelope(row, application, held, cdnUrl())).slice(1, -1)),
    };
  }

  return {
    ofSession(row: SessionRow, application: SubjectApplication, held: HeldSlugs): SessionSubject {
      const { sessionId, expiresAt, revokedAt, expiryReportedAt, lastSeenAt } = row;
      const isOutdated = row.epoch !== application.sessionEpoch;
      const whose = common(row, application, held);
      return { ...whose, sessionId, expiresAt, revokedAt, expiryReportedAt, isOutdated, lastSeenAt };
    },
    ofKey(row: KeyRow, application: SubjectApplication, held: HeldSlugs): KeySubject {
      const { keyId, source, expiresAt, revokedAt, gracePeriodEndsAt, endedAt, isOutdated, lastUsedAt } = row;
      const whose = common(row, application, held);
      return { ...whose, keyId, source, expiresAt, revokedAt, gracePeriodEndsAt, endedAt, isOutdated, lastUsedAt };
    },
  };
}

/** Stores the envelope as the JSON text that was asked for last: a repeated answer copies nothing. */
class StoredIdentity implements LiveIdentity {
  private before = '';
  private after = '';

  constructor(private text: string) {}

  within(before: string, after: string): string {
    if (before !== this.before || after !== this.after) {
      this.text = before + this.members + after;
      this.before = before;
      this.after = after;
    }
    return this.text;
  }

  private get members(): string {
    return this.text.slice(this.before.length, this.text.length - this.after.length);
  }

  get envelope(): Envelope {
    return JSON.parse(`{${this.members}}`) as Envelope;
  }
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
