/** Refusals around codes: why one is refused, or not sent, and how long to wait. */
import { AppError } from '../../core/error.ts';
import type { RedeemRefusal } from './code-challenge.ts';
import type { PausingLimit } from './guess-budgets.ts';

const HINTS = {
  wrongCodesPerEmail: 'codes_paused',
  wrongCodesPerBrowser: 'codes_paused_in_browser',
  wrongCodesPerAddress: 'codes_paused_for_client',
  wrongCodesInAll: 'codes_paused_for_all',
  too_many: 'too_many_codes_sent',
} as const satisfies Record<PausingLimit | string, string>;

/** Why a code is not sent or judged now. */
export interface TooSoon {
  readonly reason: keyof typeof HINTS;
  /** How many the limit allows that was broken. */
  readonly allowed: number;
  /** Epoch milliseconds. */
  readonly retryAt: number;
}

/** A code is asked for, or tried, too soon. */
export function tooSoon({ reason, allowed, retryAt }: TooSoon, now: number): AppError {
  return new AppError('rate_limited', {
    hint: HINTS[reason],
    limit: allowed,
    retryAfterSeconds: Math.max(1, Math.ceil((retryAt - now) / 1000)),
  });
}

/** The error for a code that was not taken. */
export function codeRefusal(refusal: RedeemRefusal, now: number): AppError {
  return refusal.error === 'rate_limited' ? tooSoon(refusal, now) : new AppError(refusal.error);
}
