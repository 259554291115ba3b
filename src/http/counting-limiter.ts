/**
 * Rate limits of a database with one instance: counted in its memory and stored now and then, so that a restart resets
 * no count. A kill loses at most one flush interval.
 */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { together, type Unwritten, writeBatches } from '../core/last-batches.ts';
import { listRateCounters, purgeRateCounters, saveRateCounters } from '../store/rate-counters.ts';
import type { Bucket } from './limits.ts';
import { limitState, type LimiterDependencies, type RateLimiter, windowEnd, type WindowState } from './rate-limit.ts';
import { type Counter, type CounterTable, counterTable } from './rate-limit-table.ts';

/** Bounds memory against a flood of made-up subjects, of some 250 bytes each. */
const MAX_SUBJECTS_PER_BUCKET = 200_000;
const MAX_SUBJECTS = 500_000;
const FLUSH_ROWS = 250;

/** Answers at once. */
export interface CountingLimiter extends RateLimiter {
  consume(bucket: Bucket, subject: string, limit: number): WindowState;
  peek(bucket: Bucket, subject: string, limit: number): WindowState;
  used(bucket: Bucket, subjects: readonly string[]): ReadonlyMap<string, number>;
}

/**
 * Call `load` before the first use; else a restart resets the counts.
 *
 * @param isCounted false for the names of buckets that are counted elsewhere.
 */
export function countingLimiter(
  { db, clock }: LimiterDependencies,
  isCounted: (name: string) => boolean = () => true,
): CountingLimiter {
  /** Tables by bucket. All windows of a bucket end at once, so a table is dropped whole. */
  const tables = new Map<string, CounterTable>();

  function tableOf({ name }: Bucket, now: number): CounterTable | undefined {
    const table = tables.get(name);
    return table === undefined || hasEnded(table, now) ? undefined : table;
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

  const countOf = (bucket: Bucket, subject: string) => tableOf(bucket, clock.now())?.get(subject)?.count ?? 0;

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
      return limitState(bucket, { count: counter.count, limit, isAllowed, now, windowEndsAt: table.windowEndsAt });
    },
    release(bucket, subject, { limit, windowEndsAt }) {
      const now = clock.now();
      const table = tableOf(bucket, now);
      const counter = table?.get(subject);
      if (table?.windowEndsAt === windowEndsAt && counter) {
        table.giveBack(counter, limit);
        if (!table.isBrief) table.changed.add(counter);
      }
      const count = counter?.count ?? 0;
      return limitState(bucket, { count, limit, isAllowed: count < limit, now });
    },
    used: (bucket, subjects) => new Map(subjects.map((subject) => [subject, countOf(bucket, subject)])),
    peek(bucket, subject, limit) {
      const count = countOf(bucket, subject);
      return limitState(bucket, { count, limit, isAllowed: count < limit, now: clock.now() });
    },
    async load() {
      const now = clock.now();
      for (const row of await listRateCounters(db.reader, { now, limit: MAX_SUBJECTS })) {
        if (!isCounted(row.bucket)) continue;
        const bucket = { name: row.bucket, windowMs: row.windowEndsAt - row.windowStartedAt };
        const table = tableOf(bucket, now) ?? openTable(bucket, now);
        if (table.size() < MAX_SUBJECTS_PER_BUCKET) table.add(row.subject, row.count);
      }
    },
    async flush() {
      await writeChanged();
      while (await db.write(SYSTEM_ACTOR, (unit) => purgeRateCounters(unit)));
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

/** Also true for a future window, from before the clock went back: it would refuse until that time. */
function hasEnded({ windowMs, windowEndsAt }: CounterTable, now: number): boolean {
  return now >= windowEndsAt || now < windowEndsAt - windowMs;
}
