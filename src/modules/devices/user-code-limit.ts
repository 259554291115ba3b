/** Rate limits wrong user codes per session, person and client address: the first two are easy to get. */
import { AppError } from '../../core/error.ts';
import { pool } from '../../core/pool.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { type GuessLimit, limitGuess } from '../../http/guess-limit.ts';
import type { RateLimiter } from '../../http/rate-limit.ts';
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
  /** Runs the attempts of one guesser one after the other, so that right ones at the same time take no use of another. */
  const guessers = pool({ perKey: 1 });

  /** @throws {AppError} the same not_found for every wrong guess; rate_limited after too many, even for a right one */
  return <Result>({ principal, context }: Caller, look: () => Promise<Result | null>): Promise<Result> => {
    const { sessionId, userId } = principal;
    const address = addressPrefix(context.ip);
    const guessed: GuessLimit[] = [
      { bucket: LIMITS.wrongUserCodesPerPerson, subject: userId, limit: perPerson },
      { bucket: LIMITS.wrongUserCodesPerSession, subject: sessionId, limit: perSession },
    ];
    if (perAddress !== null)
      guessed.unshift({ bucket: LIMITS.wrongUserCodesPerAddress, subject: address, limit: perAddress });
    const attempt = async () => {
      const found = await limitGuess(limiter, context.headers, guessed, look);
      if (found !== null) return found;
      throw new AppError('not_found', { hint: 'user_code_unknown' });
    };
    return guessers.run(address, () => guessers.run(userId, attempt));
  };
}
