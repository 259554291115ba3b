/**
 * Rate limiter of a server with threads: the limits of verification are counted in memory that all threads share, every
 * other one in the main thread.
 */
import type { Clock } from '../core/clock.ts';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { together, type Unwritten, writeBatches } from '../core/last-batches.ts';
import type { Database } from '../db/database.ts';
import { listRateCounters, saveRateCounters } from '../store/rate-counters.ts';
import type { CountingLimiter } from './counting-limiter.ts';
import type { Bucket } from './limits.ts';
import { windowEnd } from './rate-limit.ts';
import type { SharedCounters } from './shared-counters.ts';
import { SHARED_LIMITS, type SharedLimits } from './shared-limits.ts';

const FLUSH_ROWS = 250;
/** Most counters of a limit that a start loads. */
const MOST_LOADED = 500_000;

export interface SharedLimiterOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Counts the limits that no verification counts. */
  readonly others: CountingLimiter;
  readonly shared: SharedLimits;
}

export function sharedLimiter({ db, clock, others, shared }: SharedLimiterOptions): CountingLimiter {
  const limiterOf = (bucket: Bucket) => (shared.countersOf(bucket) === undefined ? others : shared);
  const windowOf = ({ windowMs }: Bucket) => windowEnd(clock.now(), windowMs);

  async function write(bucket: Bucket, table: SharedCounters, windowEndsAt: number): Promise<number> {
    const taken = table.takeChanged(windowEndsAt, FLUSH_ROWS);
    if (taken.length > 0) await store(bucket, table, windowEndsAt, taken);
    return taken.length;
  }

  async function store(
    { name, windowMs }: Bucket,
    table: SharedCounters,
    windowEndsAt: number,
    taken: readonly { readonly subject: string; readonly count: number }[],
  ): Promise<void> {
    const window = { bucket: name, windowStartedAt: windowEndsAt - windowMs, windowEndsAt };
    try {
      await db.write(SYSTEM_ACTOR, (unit) =>
        saveRateCounters(
          unit,
          taken.map((counter) => ({ ...window, ...counter })),
        ),
      );
    } catch (error) {
      table.markChanged(
        taken.map(({ subject }) => subject),
        windowEndsAt,
      );
      throw error;
    }
  }

  return {
    consume: (bucket, subject, limit) => limiterOf(bucket).consume(bucket, subject, limit),
    release: (bucket, subject, use) => limiterOf(bucket).release(bucket, subject, use),
    peek: (bucket, subject, limit) => limiterOf(bucket).peek(bucket, subject, limit),
    used(bucket, subjects) {
      const table = shared.countersOf(bucket);
      if (table === undefined) return others.used(bucket, subjects);
      const windowEndsAt = windowOf(bucket);
      return new Map(subjects.map((subject) => [subject, table.countOf(subject, windowEndsAt)]));
    },
    async load() {
      await others.load();
      const now = clock.now();
      const rows = await listRateCounters(db.reader, { now, limit: MOST_LOADED });
      for (const bucket of SHARED_LIMITS)
        for (const row of rows)
          if (row.bucket === bucket.name && row.windowEndsAt === windowEnd(now, bucket.windowMs))
            shared.countersOf(bucket)?.restore(row, row.windowEndsAt);
    },
    async flush() {
      for (const bucket of SHARED_LIMITS) {
        const [table, windowEndsAt] = [shared.countersOf(bucket), windowOf(bucket)];
        if (bucket.isBrief || table === undefined) continue;
        while ((await write(bucket, table, windowEndsAt)) === FLUSH_ROWS);
      }
      await others.flush();
    },
    async flushAll(deadline) {
      const parts: Unwritten[] = [];
      for (const bucket of SHARED_LIMITS) {
        const [table, windowEndsAt] = [shared.countersOf(bucket), windowOf(bucket)];
        const taken = table?.takeChanged(windowEndsAt, Infinity) ?? [];
        if (table !== undefined)
          parts.push(await writeBatches(taken, deadline, (batch) => store(bucket, table, windowEndsAt, batch)));
      }
      return together([...parts, await others.flushAll(deadline)]);
    },
  };
}
