/** Rate limits access requests per requested e-mail address, across all senders. */
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
