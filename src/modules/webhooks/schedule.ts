/** When a failed delivery is tried again: 15 attempts over about 2.8 days. */
import { HOUR, SECOND } from '../../core/clock.ts';

export const MAX_ATTEMPTS = 15;
const FIRST_RETRY_MS = 15 * SECOND;
const MAX_RETRY_AFTER_MS = 6 * HOUR;
const JITTER = 0.1;

/**
 * @param attempts how many have been made, at least one.
 * @param retryAfterMs what the receiver asked for: honoured from the regular wait up to six hours, or to that wait where it is longer.
 * @param fraction a random number in [0, 1), for the jitter that keeps retries from coming in step.
 */
export function retryWaitMs(attempts: number, retryAfterMs: number | null, fraction: number): number {
  const base = FIRST_RETRY_MS * 2 ** (attempts - 1);
  if (retryAfterMs !== null) return Math.max(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), base);
  return Math.round(base * (1 - JITTER + 2 * JITTER * fraction));
}

/**
 * `Retry-After` in seconds or as an HTTP date (RFC 9110 §10.2.3), as milliseconds from now; null when there is none.
 *
 * @param now real time, as the receiver dates by.
 */
export function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
