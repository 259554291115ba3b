/** Limits guesses: an attempt counts before its lookup, and is taken back if it was right. */
import type { Bucket } from './limits.ts';
import { announceLimit, applyLimit, type LimitState, type RateLimiter, tightest } from './rate-limit.ts';

export interface GuessLimit {
  readonly bucket: Bucket;
  readonly subject: string;
  readonly limit: number;
}

/**
 * Looks something up by a value that may be guessed. Concurrent guesses, also at other instances, cannot exceed a limit.
 *
 * @returns what `look` finds; null for a wrong guess, which is counted.
 * @throws {AppError} rate_limited after too many wrong guesses, even for a right one.
 */
export async function limitGuess<Result>(
  limiter: RateLimiter,
  headers: Record<string, string>,
  limits: readonly GuessLimit[],
  look: () => Promise<Result | null>,
): Promise<Result | null> {
  const uses = await Promise.all(limits.map(({ bucket, subject, limit }) => limiter.consume(bucket, subject, limit)));
  const takeBack = () =>
    limits.flatMap(({ bucket, subject }, index) => {
      const use = uses[index];
      return use?.isAllowed ? [limiter.release(bucket, subject, use)] : [];
    });
  const refused = uses.find(({ isAllowed }) => !isAllowed);
  if (refused) {
    takeBack();
    applyLimit(headers, refused);
  }
  let states: readonly LimitState[] = uses;
  let isWrong = false;
  try {
    const found = await look();
    isWrong = found === null;
    return found;
  } finally {
    if (!isWrong) states = takeBack();
    announceLimit(headers, states.reduce(tightest));
  }
}
