/** The limits of verification, counted in memory that several threads share. */
import type { Clock } from '../core/clock.ts';
import type { CountingLimiter } from './counting-limiter.ts';
import { type Bucket, KEY_DAY, KEY_MINUTE, LIMITS } from './limits.ts';
import { limitState, windowEnd } from './rate-limit.ts';
import { counterBytes } from './shared-counter-memory.ts';
import { type SharedCounters, sharedCounters } from './shared-counters.ts';

interface SharedLimit {
  readonly bucket: Bucket;
  /** Number of counters, from which on the least used are evicted. */
  readonly most: number;
}

/** Limits that a verification counts. Their memory weighs on the collector of each thread, so it is bounded tightly. */
const SHARED: readonly SharedLimit[] = [
  { bucket: LIMITS.sessionPerMinute, most: 100_000 },
  { bucket: LIMITS.failuresPerAddressPerMinute, most: 50_000 },
  { bucket: LIMITS.clientPerMinute, most: 20_000 },
  { bucket: LIMITS.wrongClientsPerAddress, most: 50_000 },
  { bucket: KEY_MINUTE, most: 50_000 },
  { bucket: KEY_DAY, most: 50_000 },
];

export const SHARED_LIMITS: readonly Bucket[] = SHARED.map(({ bucket }) => bucket);

/** Memory of the shared counters, and the secret start of their hashes. */
export interface LimitMemory {
  readonly memory: SharedArrayBuffer;
  readonly seed: number;
}

/** @param seed random bits, which clients must not know. */
export function limitMemory(seed: number): LimitMemory {
  const bytes = SHARED.reduce((sum, { most }) => sum + counterBytes(most), 0);
  return { memory: new SharedArrayBuffer(bytes), seed };
}

/** The part of a limiter that a verification needs, counted across threads. It answers at once. */
export interface SharedLimits extends Pick<CountingLimiter, 'consume' | 'release' | 'peek'> {
  /** Returns the counters of a limit; undefined where a verification does not count it. */
  countersOf(bucket: Bucket): SharedCounters | undefined;
  /** Repairs what a thread left that ended in the middle of a call. */
  recover(thread: number): void;
}

/** @param thread number of the calling thread, from 1. */
export function sharedLimits({ memory, seed }: LimitMemory, thread: number, clock: Clock): SharedLimits {
  const tables = new Map<string, SharedCounters>();
  let offset = 0;
  for (const { bucket, most } of SHARED) {
    tables.set(bucket.name, sharedCounters({ memory, offset, seed, most }, bucket.windowMs, thread));
    offset += counterBytes(most);
  }

  function tableOf({ name }: Bucket): SharedCounters {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`the limit ${name} is not shared between threads`);
    return table;
  }

  return {
    countersOf: ({ name }) => tables.get(name),
    consume(bucket, subject, limit) {
      const now = clock.now();
      const { count, isAllowed } = tableOf(bucket).use(subject, limit, windowEnd(now, bucket.windowMs));
      return limitState(bucket, { count, limit, isAllowed, now });
    },
    release(bucket, subject, { limit, windowEndsAt }) {
      const count = tableOf(bucket).giveBack(subject, limit, windowEndsAt);
      return limitState(bucket, { count, limit, isAllowed: count < limit, now: clock.now() });
    },
    peek(bucket, subject, limit) {
      const now = clock.now();
      const count = tableOf(bucket).countOf(subject, windowEnd(now, bucket.windowMs));
      return limitState(bucket, { count, limit, isAllowed: count < limit, now });
    },
    recover(thread) {
      for (const table of tables.values()) table.recover(thread);
    },
  };
}
