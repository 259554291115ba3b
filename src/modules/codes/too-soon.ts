/** The refusal of a code that is asked for, or tried, too soon: why, and how long to wait. */
import { AppError } from '../../core/error.ts';

const TOO_SOON = {
  paused: 'Too many wrong codes for this address; codes are paused for up to an hour.',
  cooling_down: 'A code was sent a moment ago; look for it, or wait and ask again.',
  too_many: 'Too many codes were sent lately; wait and ask again.',
};

/** @param waitMs until it may be tried again. */
export function tooSoon(reason: keyof typeof TOO_SOON, waitMs: number): AppError {
  return new AppError('rate_limited', {
    message: TOO_SOON[reason],
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
