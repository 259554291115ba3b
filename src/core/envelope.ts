/** Data about the bearer of a verified token: the contract's session envelope, without its `ok`. */
export interface Envelope {
  readonly userId: string;
  readonly username: string | null;
  readonly email: string;
  /** Alias of `fullName`, kept for compatibility. Unknown names are empty. */
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

export interface LiveIdentity {
  readonly envelope: Envelope;
  /** Returns the members of the envelope as JSON text between two others; for the same two, the same string again. */
  within(before: string, after: string): string;
}

/** A person's regional settings; null for those not set. */
export interface Region {
  readonly country: string | null;
  readonly uiLocale: string | null;
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly measurementSystem: string | null;
}
