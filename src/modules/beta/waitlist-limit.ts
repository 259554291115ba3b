/** Rate limits of the waitlist by e-mail address: requests across all senders, and reads of a standing. */
import { normalizeEmail } from '../../core/email.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { applyLimit, type RateLimiter } from '../../http/rate-limit.ts';
import type { RequestContext } from '../../http/request-context.ts';

/** @returns a function that counts one request and @throws {AppError} rate_limited past the limit. */
export function waitlistLimit(limiter: RateLimiter, limits: LimitSettings) {
  return async (text: string, { headers }: RequestContext): Promise<void> => {
    const email = normalizeEmail(text) ?? text;
    applyLimit(headers, await limiter.consume(LIMITS.interestPerEmail, email, limits.interestPerEmail));
  };
}

/** @returns a function that counts one read in an application and @throws {AppError} rate_limited past the limit. */
export function standingLimit(limiter: RateLimiter, { standingsPerEmail }: LimitSettings) {
  return async (applicationId: string, email: string, { headers }: RequestContext): Promise<void> => {
    const subject = `${applicationId} ${email}`;
    applyLimit(headers, await limiter.consume(LIMITS.standingsPerEmail, subject, standingsPerEmail));
  };
}
