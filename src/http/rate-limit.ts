/**
 * Rate limits: fixed windows counted in this process and stored now and then, so that a restart resets no count. A kill
 * loses at most one flush interval.
 */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Clock } from '../core/clock.ts';
import type { Deadline } from '../core/deadline.ts';
import { together, type Unwritten, writeBatches } from '../core/last-batches.ts';
import { AppError } from '../core/error.ts';
import type { Database } from '../db/database.ts';
import { purgeRateCounters, listRateCounters, saveRateCounters } from '../store/rate-counters.ts';
import type { Bucket } from './limits.ts';
import { type Counter, type CounterTable, counterTable } from './rate-limit-table.ts';

/** State of a caller's window, for the RateLimit headers. */
export interface LimitState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
  readonly name?: string;
}

/** Bounds memory against a flood of made-up subjects, of some 250 bytes each. */
const MAX_SUBJECTS_PER_BUCKET = 200_000;
const MAX_SUBJECTS = 500_000;
const FLUSH_ROWS = 250;

/** Counts uses by bucket and subject, in windows aligned to multiples of their length. */
export interface RateLimiter {
  /** Counts one use in the subject's current window; a refused use is not counted. */
  consume(bucket: Bucket, subject: string, limit: number): LimitState;
  peek(bucket: Bucket, subject: string, limit: number): LimitState;
  used(bucket: Bucket, subject: string): number;
  /** Loads what was stored before a restart. */
  load(): Promise<void>;
  /** Stores changed counters in batches of 250, and deletes windows that have ended. */
  flush(): Promise<void>;
  /** Stores everything, brief windows too, for a clean stop. @returns how many counters missed the deadline. */
  flushAll(deadline: Deadline): Promise<Unwritten>;
}

/** Creates the limiter. Call `load` before the first use; else a restart resets the counts. */
export function rateLimiter({ db, clock }: { db: Database; clock: Clock }): RateLimiter {
  /** Tables by bucket. All windows of a bucket end at once, so a table is dropped whole. */
  const tables = new Map<string, CounterTable>();

  function tableOf({ name, windowMs }: Bucket, now: number): CounterTable | undefined {
    const table = tables.get(name);
    return table?.windowEndsAt === windowEnd(now, windowMs) ? table : undefined;
  }

  /** Replaces a table whose window has ended, or was counted before the clock went back. */
  function openTable({ name, windowMs }: Bucket, now: number): CounterTable {
    const table = counterTable({ windowMs, windowEndsAt: windowEnd(now, windowMs) });
    tables.set(name, table);
    return table;
  }

  /** Evicts from this table if it is full, else from the largest: a flood on one limit crowds out its own subjects. */
  function makeRoom(own: CounterTable): void {
    if (own.size() >= MAX_SUBJECTS_PER_BUCKET) return own.makeRoom();
    let all = 0;
    let largest = own;
    for (const table of tables.values()) {
      all += table.size();
      if (table.size() > largest.size()) largest = table;
    }
    if (all >= MAX_SUBJECTS) largest.makeRoom();
  }

  const used = (bucket: Bucket, subject: string) => tableOf(bucket, clock.now())?.get(subject)?.count ?? 0;

  function state(bucket: Bucket, count: number, limit: number, isAllowed: boolean, now: number): LimitState {
    const elapsed = now % bucket.windowMs;
    return {
      isAllowed,
      limit,
      name: bucket.name,
      remaining: Math.max(0, limit - count),
      resetSeconds: Math.max(1, Math.ceil((bucket.windowMs - elapsed) / 1000)),
    };
  }

  /** Stores counters. After a failure they are marked as changed again for the next flush. */
  async function write(name: string, table: CounterTable, counters: readonly Counter[]): Promise<void> {
    const { windowMs, windowEndsAt } = table;
    const window = { bucket: name, windowStartedAt: windowEndsAt - windowMs, windowEndsAt };
    const rows = counters.map(({ subject, count }) => ({ ...window, subject, count }));
    // Cleared before the write, so that uses counted during it are stored next time.
    for (const counter of counters) table.changed.delete(counter);
    try {
      await db.write(SYSTEM_ACTOR, (unit) => saveRateCounters(unit, rows));
    } catch (error) {
      for (const counter of counters) if (table.get(counter.subject) === counter) table.changed.add(counter);
      throw error;
    }
  }

  async function writeChanged(): Promise<void> {
    for (const [name, table] of tables) {
      if (hasEnded(table, clock.now())) continue;
      const all = [...table.changed];
      for (let from = 0; from < all.length; from += FLUSH_ROWS)
        await write(name, table, all.slice(from, from + FLUSH_ROWS));
    }
  }

  return {
    consume(bucket, subject, limit) {
      const now = clock.now();
      const table = tableOf(bucket, now) ?? openTable(bucket, now);
      let counter = table.get(subject);
      if (!counter) {
        makeRoom(table);
        counter = table.add(subject);
      }
      const isAllowed = table.use(counter, limit);
      table.isBrief = bucket.isBrief ?? false;
      if (isAllowed && !table.isBrief) table.changed.add(counter);
      return state(bucket, counter.count, limit, isAllowed, now);
    },
    used,
    peek(bucket, subject, limit) {
      const now = clock.now();
      const count = used(bucket, subject);
      return state(bucket, count, limit, count < limit, now);
    },
    async load() {
      const now = clock.now();
      for (const row of await listRateCounters(db.reader, { now, limit: MAX_SUBJECTS })) {
        const bucket = { name: row.bucket, windowMs: row.windowEndsAt - row.windowStartedAt };
        const table = tableOf(bucket, now) ?? openTable(bucket, now);
        if (table.size() < MAX_SUBJECTS_PER_BUCKET) table.add(row.subject, row.count);
      }
    },
    async flush() {
      await writeChanged();
      while (await db.write(SYSTEM_ACTOR, purgeRateCounters));
      const now = clock.now();
      for (const [name, table] of tables) if (hasEnded(table, now)) tables.delete(name);
    },
    async flushAll(deadline) {
      const parts: Unwritten[] = [];
      for (const [name, table] of tables)
        if (!hasEnded(table, clock.now())) {
          const counters = table.isBrief ? [...table.all()] : [...table.changed];
          parts.push(await writeBatches(counters, deadline, (batch) => write(name, table, batch)));
        }
      return together(parts);
    },
  };
}

function windowEnd(now: number, windowMs: number): number {
  return now - (now % windowMs) + windowMs;
}

/** Also true for a future window, from before the clock went back: it would refuse until that time. */
function hasEnded({ windowMs, windowEndsAt }: CounterTable, now: number): boolean {
  return windowEndsAt !== windowEnd(now, windowMs);
}

/** Sets the RateLimit headers; of several limits, the one with the fewest remaining uses wins. */
export function announceLimit(headers: Record<string, string>, ...states: LimitState[]): void {
  const tightest = states.reduce((left, right) => (right.remaining < left.remaining ? right : left));
  const announced = headers['RateLimit-Remaining'];
  if (announced !== undefined && Number(announced) < tightest.remaining) return;
  headers['RateLimit-Limit'] = String(tightest.limit);
  headers['RateLimit-Remaining'] = String(tightest.remaining);
  headers['RateLimit-Reset'] = String(tightest.resetSeconds);
}

/** Sets the RateLimit headers and refuses a caller past the limit. @throws {AppError} rate_limited */
export function applyLimit(headers: Record<string, string>, state: LimitState): void {
  announceLimit(headers, state);
  if (!state.isAllowed) throw rateLimited(state);
}

export function rateLimited({ resetSeconds, name }: LimitState): AppError {
  return new AppError('rate_limited', { retryAfterSeconds: resetSeconds, ...(name && { limitName: name }) });
}
