/** Whether a token is good now, and if not, why. */
import type { LiveIdentity } from '../../core/envelope.ts';
import type { KeyState } from '../../store/verification.ts';
import type { TokenRefusal } from './model.ts';
import type { SessionSubject } from './subject.ts';

/** The answer to a backend that has a token verified. */
export type Verdict =
  { readonly ok: true; readonly identity: LiveIdentity } | { readonly ok: false; readonly error: TokenRefusal };

/**
 * Why a session is refused, in the contract's precedence: membership, then revoked, then expired. Null when it is good.
 *
 * @param now epoch milliseconds.
 */
export function judgeSession(
  row: Pick<
    SessionSubject,
    'membershipStatus' | 'userDeletedAt' | 'revokedAt' | 'isOutdated' | 'expiresAt' | 'expiryReportedAt'
  >,
  now: number,
): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null || row.isOutdated === 1) return 'revoked';
  return row.expiresAt <= now || row.expiryReportedAt !== null ? 'expired' : null;
}

/**
 * The same for a key. A revoked one counts as a blocked membership: its principal is banned, except where it shares it,
 * with a successor or with the person it belongs to.
 */
export function judgeKey(
  row: Pick<
    KeyState,
    'membershipStatus' | 'userDeletedAt' | 'revokedAt' | 'isOutdated' | 'expiresAt' | 'gracePeriodEndsAt' | 'endedAt'
  >,
  now: number,
): TokenRefusal | null {
  if (row.membershipStatus !== 'active' || row.userDeletedAt !== null) return 'membership_blocked';
  if (row.revokedAt !== null || row.isOutdated === 1) return 'membership_blocked';
  if (row.endedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) return 'expired';
  return row.gracePeriodEndsAt !== null && row.gracePeriodEndsAt <= now ? 'expired' : null;
}
