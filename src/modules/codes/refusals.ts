/** Refusals around codes: why one is refused, or not sent, and how long to wait. */
import { AppError } from '../../core/error.ts';
import type { RedeemRefusal } from './code-challenge.ts';

const TOO_SOON = {
  paused: 'codes_paused',
  cooling_down: 'code_just_sent',
  too_many: 'too_many_codes_sent',
} as const;

/** A code is asked for, or tried, too soon. @param waitMs until it may be tried again. */
export function tooSoon(reason: keyof typeof TOO_SOON, waitMs: number): AppError {
  return new AppError('rate_limited', {
    hint: TOO_SOON[reason],
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}

/** The error for a code that was not taken. */
export function codeRefusal(refusal: RedeemRefusal, now: number): AppError {
  return refusal.error === 'rate_limited' ? tooSoon('paused', refusal.retryAt - now) : new AppError(refusal.error);
}
