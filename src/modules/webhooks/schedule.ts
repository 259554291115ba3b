/** The retry schedule of failed deliveries: 15 attempts with exponential backoff over about 2.8 days. */
import { HOUR, SECOND } from '../../core/clock.ts';

export const MAX_ATTEMPTS = 15;
const FIRST_RETRY_MS = 15 * SECOND;
const MAX_RETRY_AFTER_MS = 6 * HOUR;
const JITTER = 0.1;

/**
 * @param attempts number of attempts made, at least one.
 * @param retryAfterMs the receiver's Retry-After, honoured up to six hours, but never below the regular backoff.
 * @param fraction a random number in [0, 1), for the jitter that keeps retries from synchronizing.
 */
export function retryWaitMs(attempts: number, retryAfterMs: number | null, fraction: number): number {
  const base = FIRST_RETRY_MS * 2 ** (attempts - 1);
  if (retryAfterMs !== null) return Math.max(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), base);
  return Math.round(base * (1 - JITTER + 2 * JITTER * fraction));
}

/** Parses `Retry-After` (RFC 9110 §10.2.3) to milliseconds from now. @param now real time, as the receiver dates by. */
export function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
