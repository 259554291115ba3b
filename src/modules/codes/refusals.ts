/** Errors for codes that are refused or not sent, with the time to wait. */
import { AppError } from '../../core/error.ts';
import type { LockoutLimit } from './lockout.ts';

const HINTS = {
  wrongCodesPerEmail: 'codes_paused',
  wrongCodesPerBrowser: 'codes_paused_in_browser',
  wrongCodesPerAddress: 'codes_paused_for_client',
  wrongCodesInAll: 'codes_paused_for_all',
  too_many: 'too_many_codes_sent',
} as const satisfies Record<LockoutLimit | string, string>;

/** Reason why a code is not sent or checked now. */
export interface TooSoon {
  readonly reason: keyof typeof HINTS;
  readonly allowed: number;
  /** Epoch milliseconds. */
  readonly retryAt: number;
}

export type CodeRefusal = 'code_invalid' | 'code_expired' | 'code_exhausted' | 'code_consumed';

/** A refusal that must be committed, since it counts the attempt. */
export type RedeemRefusal =
  | { readonly ok: false; readonly error: CodeRefusal }
  | ({ readonly ok: false; readonly error: 'rate_limited' } & TooSoon);

export function tooSoon({ reason, allowed, retryAt }: TooSoon, now: number): AppError {
  return new AppError('rate_limited', {
    hint: HINTS[reason],
    limit: allowed,
    retryAfterSeconds: Math.max(1, Math.ceil((retryAt - now) / 1000)),
  });
}

export function codeRefusal(refusal: RedeemRefusal, now: number): AppError {
  return refusal.error === 'rate_limited' ? tooSoon(refusal, now) : new AppError(refusal.error);
}
