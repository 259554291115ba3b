/** Rate limits wrong user codes per session, person and client address: the first two are easy to get. */
import { AppError } from '../../core/error.ts';
import { pool } from '../../core/pool.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { announceLimit, applyLimit, type RateLimiter } from '../../http/rate-limit.ts';
import { addressPrefix } from '../../core/ip-address.ts';
import type { RequestContext } from '../../http/request-context.ts';

interface Caller {
  readonly principal: SessionPrincipal;
  readonly context: RequestContext;
}

export type UserCodeLimit = ReturnType<typeof userCodeLimit>;

/** @returns a function that looks up a code for its caller and counts it if wrong. */
export function userCodeLimit(limiter: RateLimiter, limits: LimitSettings) {
  const {
    wrongUserCodesPerPerson: perPerson,
    wrongUserCodesPerSession: perSession,
    wrongUserCodesPerAddress: perAddress,
  } = limits;
  /** Runs the attempts of one guesser one after the other, so that concurrent ones cannot exceed the limit. */
  const guessers = pool({ perKey: 1 });

  /** @throws {AppError} the same not_found for every wrong guess; rate_limited after too many, even for a right one */
  return <Result>({ principal, context }: Caller, look: () => Promise<Result | null>): Promise<Result> => {
    const { sessionId, userId } = principal;
    const address = addressPrefix(context.ip);
    const attempt = async () => {
      if (perAddress !== null)
        applyLimit(context.headers, limiter.peek(LIMITS.wrongUserCodesPerAddress, address, perAddress));
      applyLimit(context.headers, limiter.peek(LIMITS.wrongUserCodesPerPerson, userId, perPerson));
      applyLimit(context.headers, limiter.peek(LIMITS.wrongUserCodesPerSession, sessionId, perSession));
      const found = await look();
      if (found !== null) return found;
      if (perAddress !== null) limiter.consume(LIMITS.wrongUserCodesPerAddress, address, perAddress);
      limiter.consume(LIMITS.wrongUserCodesPerPerson, userId, perPerson);
      announceLimit(context.headers, limiter.consume(LIMITS.wrongUserCodesPerSession, sessionId, perSession));
      throw new AppError('not_found', { hint: 'user_code_unknown' });
    };
    return guessers.run(address, () => guessers.run(userId, attempt));
  };
}
