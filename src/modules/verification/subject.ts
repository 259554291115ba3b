/** The subject of a verification: the data about the holder of a token. */
import { isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import type { Envelope, LiveIdentity, Region } from '../../core/envelope.ts';
import { type AvatarSource, avatarUrl } from '../../core/image-url.ts';
import type { TokenRefusal } from './model.ts';
import { type Validity, validityOfKey, validityOfSession } from './validity.ts';
import type { HeldSlugs, KeyRow, SessionRow, SubjectApplication, SubjectRow } from '../../store/verification.ts';

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

/**
 * The data to judge and answer a token. Tens of thousands are cached, and a verification finds its own outside the
 * processor's caches: so it is one object, small, and begins with what each needs. (An object spread takes two.)
 */
class Subject implements LiveIdentity, Validity {
  private before = '';
  private after = '';
  /** The envelope's JSON members, between the two texts that were asked for last: a repeated answer copies nothing. */
  private text: string;
  readonly refusal: TokenRefusal | null;
  readonly endsAt: number;
  readonly applicationId: string;
  /** Null for the console. */
  readonly workspaceId: string | null;
  readonly applicationUserId: string;
  readonly userId: string;
  /** The account that holds an unproved member's profile; null for the person's own. */
  readonly profileUserId: string | null;
  readonly clientId: string;
  readonly issuedAt: number;

  constructor(row: SubjectRow, application: SubjectApplication, of: Envelope, { refusal, endsAt }: Validity) {
    this.text = JSON.stringify(of).slice(1, -1);
    this.refusal = refusal;
    this.endsAt = endsAt;
    this.applicationId = application.id;
    this.workspaceId = application.workspaceId;
    this.applicationUserId = row.applicationUserId;
    this.userId = row.userId;
    this.profileUserId = row.profileUserId;
    this.clientId = application.clientId;
    this.issuedAt = row.issuedAt;
  }

  within(before: string, after: string): string {
    if (before !== this.before || after !== this.after) {
      this.text = before + this.members + after;
      this.before = before;
      this.after = after;
    }
    return this.text;
  }

  get envelope(): Envelope {
    return JSON.parse(`{${this.members}}`) as Envelope;
  }

  private get members(): string {
    return this.text.slice(this.before.length, this.text.length - this.after.length);
  }
}

export class SessionSubject extends Subject {
  readonly sessionId: string;
  /** Updated when a use is recorded. */
  lastSeenAt: number;

  constructor(row: SessionRow, application: SubjectApplication, of: Envelope) {
    super(row, application, of, validityOfSession(row, row.epoch !== application.sessionEpoch));
    this.sessionId = row.sessionId;
    this.lastSeenAt = row.lastSeenAt;
  }
}

export class KeySubject extends Subject {
  readonly keyId: string;
  readonly source: string;
  /** Updated when a use is recorded. */
  lastUsedAt: number | null;

  constructor(row: KeyRow, application: SubjectApplication, of: Envelope) {
    super(row, application, of, validityOfKey(row));
    this.keyId = row.keyId;
    this.source = row.source;
    this.lastUsedAt = row.lastUsedAt;
  }
}

/** Returns true for a session or personal key of a person, false for a backend's key. */
export function isOfPerson(row: SessionSubject | KeySubject): boolean {
  return 'sessionId' in row || row.source === 'device';
}

export type Subjects = ReturnType<typeof subjects>;

/** Builds subjects from rows. @param cdnUrl where images are served. */
export function subjects(cdnUrl: () => string) {
  return {
    ofSession: (row: SessionRow, application: SubjectApplication, held: HeldSlugs) =>
      new SessionSubject(row, application, envelope(row, application, held, cdnUrl())),
    ofKey: (row: KeyRow, application: SubjectApplication, held: HeldSlugs) =>
      new KeySubject(row, application, envelope(row, application, held, cdnUrl())),
  };
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
