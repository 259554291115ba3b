/**
 * Rate limits: fixed windows counted in this process and written down now and then, so that a restart does not forgive
 * anyone. At most one flush interval of counts is lost to a kill.
 */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/error.ts';
import type { Database } from '../db/database.ts';
import { forgetRateCounters, listRateCounters, saveRateCounters } from '../store/rate-counters.ts';

/** Where a caller stands in a window, for the RateLimit headers. */
export interface LimitState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

interface Counter {
  bucket: Bucket;
  readonly subject: string;
  windowEndsAt: number;
  count: number;
  isDirty: boolean;
}

/** One limit: a name under which its counters are stored, and how long its windows are. */
export interface Bucket {
  readonly name: string;
  readonly windowMs: number;
  /** Its windows are short and its subjects many: worth a row at a clean stop only. */
  readonly isBrief?: boolean;
}

const MAX_SUBJECTS_PER_BUCKET = 200_000;
const FLUSH_ROWS = 250;

/** Counts uses by bucket and subject, in windows that all begin at multiples of their length. */
export interface RateLimiter {
  /** Counts one use against the subject's window of the clock; a refused use is not counted. */
  consume(bucket: Bucket, subject: string, limit: number): LimitState;
  /** Where the subject stands, without counting. */
  peek(bucket: Bucket, subject: string, limit: number): LimitState;
  /** How many uses are counted in the present window. */
  used(bucket: Bucket, subject: string): number;
  /** Takes up what was written down before a restart. */
  load(): Promise<void>;
  /** Writes changed counters, at most a few hundred a change, and forgets windows that have ended. */
  flush(): Promise<void>;
  /** Writes everything, brief windows too; for a clean stop. */
  flushAll(): Promise<void>;
}

/** To be loaded before its first use; else a restart forgives what was counted before. */
export function rateLimiter({ db, clock }: { db: Database; clock: Clock }): RateLimiter {
  const buckets = new Map<string, Map<string, Counter>>();
  let dirty: Counter[] = [];

  function subjectsOf(bucket: string): Map<string, Counter> {
    let subjects = buckets.get(bucket);
    if (!subjects) buckets.set(bucket, (subjects = new Map()));
    return subjects;
  }

  function current(bucket: Bucket, subject: string, now: number): Counter | undefined {
    const counter = buckets.get(bucket.name)?.get(subject);
    return counter && isOfNow(counter, now) ? counter : undefined;
  }

  const used = (bucket: Bucket, subject: string) => current(bucket, subject, clock.now())?.count ?? 0;

  function state(bucket: Bucket, count: number, limit: number, isAllowed: boolean, now: number): LimitState {
    const elapsed = now % bucket.windowMs;
    return {
      isAllowed,
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: Math.max(1, Math.ceil((bucket.windowMs - elapsed) / 1000)),
    };
  }

  /** Only what is on the disk is clean: after a failure the next flush takes the rest again. */
  async function writeDirty(): Promise<void> {
    const changed = dirty;
    dirty = [];
    for (let from = 0; from < changed.length; from += FLUSH_ROWS) {
      const chunk = changed.slice(from, from + FLUSH_ROWS);
      const rows = chunk.map(({ bucket, subject, windowEndsAt, count }) => ({
        bucket: bucket.name,
        subject,
        windowStartedAt: windowEndsAt - bucket.windowMs,
        windowEndsAt,
        count,
      }));
      // Before the write: what is counted while it waits is written the next time.
      for (const counter of chunk) counter.isDirty = false;
      try {
        await db.write(SYSTEM_ACTOR, (unit) => saveRateCounters(unit, rows));
      } catch (error) {
        dirty = [...new Set([...changed.slice(from), ...dirty])];
        for (const counter of dirty) counter.isDirty = true;
        throw error;
      }
    }
  }

  return {
    consume(bucket, subject, limit) {
      const now = clock.now();
      let counter = current(bucket, subject, now);
      if (!counter) {
        const subjects = subjectsOf(bucket.name);
        if (subjects.size >= MAX_SUBJECTS_PER_BUCKET) evict(subjects, now);
        const windowEndsAt = now - (now % bucket.windowMs) + bucket.windowMs;
        counter = { bucket, subject, windowEndsAt, count: 0, isDirty: false };
        subjects.set(subject, counter);
      }
      if (counter.count >= limit) return state(bucket, counter.count, limit, false, now);
      counter.count += 1;
      // One that was loaded does not know what it counts.
      counter.bucket = bucket;
      if (!counter.isDirty && !bucket.isBrief) {
        counter.isDirty = true;
        dirty.push(counter);
      }
      return state(bucket, counter.count, limit, true, now);
    },
    used,
    peek(bucket, subject, limit) {
      const now = clock.now();
      const count = used(bucket, subject);
      return state(bucket, count, limit, count < limit, now);
    },
    async load() {
      for (const { bucket: name, subject, windowStartedAt, windowEndsAt, count } of await listRateCounters(
        db.reader,
        clock.now(),
      )) {
        const bucket = { name, windowMs: windowEndsAt - windowStartedAt };
        subjectsOf(name).set(subject, { bucket, subject, windowEndsAt, count, isDirty: false });
      }
    },
    async flush() {
      await writeDirty();
      while (await db.write(SYSTEM_ACTOR, forgetRateCounters));
      const now = clock.now();
      for (const subjects of buckets.values()) dropEnded(subjects, now);
    },
    async flushAll() {
      const now = clock.now();
      for (const subjects of buckets.values())
        for (const counter of subjects.values())
          if (counter.bucket.isBrief && isOfNow(counter, now)) dirty.push(counter);
      await writeDirty();
    },
  };
}

/** A window in the future was counted before the clock went back: it would refuse until the clock is there again. */
function isOfNow({ bucket, windowEndsAt }: Counter, now: number): boolean {
  return windowEndsAt > now && windowEndsAt - bucket.windowMs <= now;
}

/** Map order is insertion order, so the first entries are the oldest; looking at a few each time keeps this cheap. */
function dropEnded(subjects: Map<string, Counter>, now: number): void {
  let looked = 0;
  for (const [subject, counter] of subjects) {
    if (!isOfNow(counter, now) && !counter.isDirty) subjects.delete(subject);
    if (++looked >= 1000) return;
  }
}

/** A flood of made-up subjects must not grow memory without bound: the oldest tenth makes room. */
function evict(subjects: Map<string, Counter>, now: number): void {
  for (const [subject, counter] of subjects) if (!isOfNow(counter, now)) subjects.delete(subject);
  let surplus = subjects.size - Math.floor(MAX_SUBJECTS_PER_BUCKET * 0.9);
  for (const subject of subjects.keys()) {
    if (surplus-- <= 0) return;
    subjects.delete(subject);
  }
}

/** Sets the RateLimit headers; with several limits, of the one that is nearest to its end. */
export function announceLimit(headers: Record<string, string>, ...states: LimitState[]): void {
  const tightest = states.reduce((left, right) => (right.remaining < left.remaining ? right : left));
  const announced = headers['RateLimit-Remaining'];
  if (announced !== undefined && Number(announced) < tightest.remaining) return;
  headers['RateLimit-Limit'] = String(tightest.limit);
  headers['RateLimit-Remaining'] = String(tightest.remaining);
  headers['RateLimit-Reset'] = String(tightest.resetSeconds);
}

/** Announces where a caller stands and refuses who is past the limit. @throws {AppError} rate_limited */
export function applyLimit(headers: Record<string, string>, state: LimitState): void {
  announceLimit(headers, state);
  if (!state.isAllowed) throw rateLimited(state);
}

export function rateLimited({ resetSeconds }: LimitState): AppError {
  return new AppError('rate_limited', { retryAfterSeconds: resetSeconds });
}
