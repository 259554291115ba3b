/**
 * Counts the wrong user codes of a session, of its person, and of the client's address, since sessions and accounts are
 * easily had: whoever tries codes is stopped long before one could be right.
 */
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { announceLimit, applyLimit, type RateLimiter } from '../../http/rate-limit.ts';
import { addressBlock, type RequestContext } from '../../http/request-context.ts';

/** Who asks about a code. */
interface Asking {
  readonly principal: SessionPrincipal;
  readonly context: RequestContext;
}

export type GuessLimit = ReturnType<typeof guessLimit>;

/** @returns a function that looks a code up for its caller and counts it when it was wrong. */
export function guessLimit(limiter: RateLimiter, limits: LimitSettings) {
  const {
    wrongUserCodesPerPerson: perPerson,
    wrongUserCodesPerSession: perSession,
    wrongUserCodesPerAddress: perAddress,
  } = limits;
  /** The last try under way of each person, and of each client address. */
  const tries = new Map<string, Promise<unknown>>();

  /** A try is judged by the count of those before it, so those of one guesser come one after the other. */
  async function inTurn<Result>(guesser: string, attempt: () => Promise<Result>): Promise<Result> {
    const before = tries.get(guesser) ?? Promise.resolve();
    const own = before.then(attempt, attempt);
    tries.set(guesser, own);
    try {
      return await own;
    } finally {
      if (tries.get(guesser) === own) tries.delete(guesser);
    }
  }

  /**
   * Answers what was found, and a wrong guess by the same refusal whatever was wrong about it.
   *
   * @throws {AppError} rate_limited after too many wrong ones, for right ones too; not_found
   */
  return <Result>({ principal, context }: Asking, look: () => Promise<Result | null>): Promise<Result> => {
    const { sessionId, userId } = principal;
    const address = addressBlock(context.ip);
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
    return inTurn(address, () => inTurn(userId, attempt));
  };
}
