/** Decides whether a token is valid now, and if not, why. */
import type { KeyState, SessionRow } from '../../store/verification.ts';
import type { TokenRefusal } from './model.ts';

/** All that a verdict needs of a token's row. It changes with the row alone, so it is worked out once. */
export interface Validity {
  /** Why the token is refused at any time; null if it is valid until its end. */
  readonly refusal: TokenRefusal | null;
  /** Epoch milliseconds; Infinity for none. */
  readonly endsAt: number;
}

/** @returns null if the token is valid. @param now epoch ms. */
export function refusalAt({ refusal, endsAt }: Validity, now: number): TokenRefusal | null {
  if (refusal !== null) return refusal;
  return endsAt <= now ? 'expired' : null;
}

type Membership = Pick<KeyState, 'membershipStatus' | 'userDeletedAt'>;

const isBlocked = ({ membershipStatus, userDeletedAt }: Membership): boolean =>
  membershipStatus !== 'active' || userDeletedAt !== null;

/** Refuses in the contract's precedence: membership, revoked, expired. @param isOutdated whether its epoch has ended. */
export function validityOfSession(
  row: Membership & Pick<SessionRow, 'revokedAt' | 'expiresAt' | 'expiryReportedAt'>,
  isOutdated: boolean,
): Validity {
  const endsAt = row.expiresAt;
  if (isBlocked(row)) return { refusal: 'membership_blocked', endsAt };
  if (row.revokedAt !== null || isOutdated) return { refusal: 'revoked', endsAt };
  return { refusal: row.expiryReportedAt === null ? null : 'expired', endsAt };
}

/** Treats a revoked key as a blocked membership: its principal is banned, unless a successor or a person shares it. */
export function validityOfKey(
  row: Membership & Pick<KeyState, 'revokedAt' | 'isOutdated' | 'expiresAt' | 'gracePeriodEndsAt' | 'endedAt'>,
): Validity {
  const endsAt = Math.min(row.expiresAt ?? Infinity, row.gracePeriodEndsAt ?? Infinity);
  if (isBlocked(row) || row.revokedAt !== null || row.isOutdated) return { refusal: 'membership_blocked', endsAt };
  return { refusal: row.endedAt === null ? null : 'expired', endsAt };
}
