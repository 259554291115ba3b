/** What a verified token tells about its bearer: the contract's session envelope, without its `ok`. */
export interface Envelope {
  readonly userId: string;
  readonly username: string | null;
  readonly email: string;
  /** Alias of `fullName`, kept for compatibility. Names are empty where they are not known. */
  readonly name: string;
  readonly fullName: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly avatarUrl: string | null;
  readonly locale: string;
  readonly timezone: string;
  readonly region: Region | null;
  readonly applicationId: string;
  readonly status: string;
  readonly roles: string[];
  readonly scopes: string[];
  readonly memberships: string[];
  readonly avatarSizes: number[] | null;
  readonly avatarUpdatedAt: string | null;
  readonly bannerSizes: number[] | null;
  readonly bannerUpdatedAt: string | null;
  readonly expiresAt: string | null;
}

/** Whom a token stands for, live. */
export interface LiveIdentity {
  readonly envelope: Envelope;
  /** The members of the envelope as JSON text, without its braces: an answer may have others beside them. */
  readonly members: string;
}

/** Where a person is at home; null for what they have not set. */
export interface Region {
  readonly country: string | null;
  readonly uiLocale: string | null;
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly measurementSystem: string | null;
}
