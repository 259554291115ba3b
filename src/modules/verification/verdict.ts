/** Decides whether a token is valid now, and if not, why. */
import type { LiveIdentity } from '../../core/envelope.ts';
import type { KeyState } from '../../store/verification.ts';
import type { TokenRefusal } from './model.ts';
import type { SessionSubject } from './subject.ts';

export interface AcceptedVerdict {
  readonly ok: true;
  readonly identity: LiveIdentity;
  readonly applicationUserId: string;
}

export type Verdict = AcceptedVerdict | { readonly ok: false; readonly error: TokenRefusal };

/** Refuses in the contract's precedence: membership, revoked, expired. @returns null if valid. @param now epoch ms. */
export function judgeSession(
  row: Pick<
    SessionSubject,
    'membershipStatus' | 'userDeletedAt' | 'revokedAt' | 'isOutdated' | 'expiresAt' | 'expiryReportedAt'
  >,
  now: number,
): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null || row.isOutdated) return 'revoked';
  return row.expiresAt <= now || row.expiryReportedAt !== null ? 'expired' : null;
}

/** Treats a revoked key as a blocked membership: its principal is banned, unless a successor or a person shares it. */
export function judgeKey(
  row: Pick<
    KeyState,
    'membershipStatus' | 'userDeletedAt' | 'revokedAt' | 'isOutdated' | 'expiresAt' | 'gracePeriodEndsAt' | 'endedAt'
  >,
  now: number,
): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null || row.isOutdated) return 'membership_blocked';
  if (row.endedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) return 'expired';
  return row.gracePeriodEndsAt !== null && row.gracePeriodEndsAt <= now ? 'expired' : null;
}
