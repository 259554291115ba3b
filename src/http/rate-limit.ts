/** Rate limits: what a limiter answers, and how a caller is told. */
import type { Clock } from '../core/clock.ts';
import type { Deadline } from '../core/deadline.ts';
import { AppError } from '../core/error.ts';
import type { Unwritten } from '../core/last-batches.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import type { Database, Reader } from '../db/database.ts';
import type { Bucket } from './limits.ts';

/** State of a caller's window, for the RateLimit headers. */
export interface LimitState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
  readonly name?: string;
}

/** State of the window in which a limiter has counted. */
export interface WindowState extends LimitState {
  /** Epoch milliseconds. */
  readonly windowEndsAt: number;
}

/** Counts uses by bucket and subject, in windows aligned to multiples of their length. */
export interface RateLimiter {
  /** Counts one use in the subject's current window; a refused use is not counted. */
  consume(bucket: Bucket, subject: string, limit: number): MaybePromise<WindowState>;
  /** Takes back one use that `consume` counted, of an attempt that does not count after all. */
  release(bucket: Bucket, subject: string, use: WindowState): LimitState;
  peek(bucket: Bucket, subject: string, limit: number): MaybePromise<LimitState>;
  /** Returns the uses in the current window. @param reader where several instances count. */
  used(bucket: Bucket, subjects: readonly string[], reader: Reader): MaybePromise<ReadonlyMap<string, number>>;
  /** Loads what was stored before a restart. */
  load(): Promise<void>;
  /** Stores what other instances or the next start need, and deletes windows that have ended; call it every second. */
  flush(): Promise<void>;
  /** Stores everything for a clean stop. @returns how many counters missed the deadline. */
  flushAll(deadline: Deadline): Promise<Unwritten>;
}

/** The part of a limiter that a call uses. */
export type LimitUses = Pick<RateLimiter, 'consume' | 'release' | 'peek'>;

export interface LimiterDependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/** Returns the end of the window that a time is in. */
export function windowEnd(now: number, windowMs: number): number {
  return now - (now % windowMs) + windowMs;
}

interface Uses {
  readonly count: number;
  readonly limit: number;
  readonly isAllowed: boolean;
  readonly now: number;
  /** The end of the window that `now` is in, where it is known: a remainder of two such numbers takes long. */
  readonly windowEndsAt?: number;
}

export function limitState({ name, windowMs }: Bucket, uses: Uses): WindowState {
  const { count, limit, isAllowed, now, windowEndsAt = windowEnd(now, windowMs) } = uses;
  return {
    isAllowed,
    limit,
    name,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil((windowEndsAt - now) / 1000)),
    windowEndsAt,
  };
}

/** Sets the RateLimit headers; of several limits, the one with the fewest remaining uses wins. */
export function announceLimit(headers: Record<string, string>, state: LimitState): void {
  const announced = headers['RateLimit-Remaining'];
  if (announced !== undefined && Number(announced) < state.remaining) return;
  headers['RateLimit-Limit'] = String(state.limit);
  headers['RateLimit-Remaining'] = String(state.remaining);
  headers['RateLimit-Reset'] = String(state.resetSeconds);
}

/** Returns the limit with the fewest remaining uses; the first of equals. */
export function tightest<State extends LimitState>(left: State, right: State): State {
  return right.remaining < left.remaining ? right : left;
}

/** Sets the RateLimit headers and refuses a caller past the limit. @throws {AppError} rate_limited */
export function applyLimit(headers: Record<string, string>, state: LimitState): void {
  announceLimit(headers, state);
  if (!state.isAllowed) throw rateLimited(state);
}

export function rateLimited({ resetSeconds, name }: LimitState): AppError {
  return new AppError('rate_limited', { retryAfterSeconds: resetSeconds, ...(name && { limitName: name }) });
}
