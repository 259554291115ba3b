/**
 * Rate limits: fixed windows counted in this process and flushed to SQLite, so that a restart does not forgive anyone.
 * At most one flush interval of counts is lost to a kill.
 */
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/error.ts';
import type { Database } from '../db/unit-of-work.ts';

/** Where a caller stands in a window, for the RateLimit headers. */
export interface LimitState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

interface Counter {
  windowEndsAt: number;
  count: number;
  isDirty: boolean;
}

/** One limit: a name under which its counters are stored, and how long its windows are. */
export interface Bucket {
  readonly name: string;
  readonly windowMs: number;
}

const MAX_SUBJECTS_PER_BUCKET = 200_000;
const FLUSH_ROWS = 250;

export interface RateLimiter {
  /** Counts one use against the subject's window of the clock; a refused use is not counted. */
  consume(bucket: Bucket, subject: string, limit: number): LimitState;
  /** Where the subject stands, without counting. */
  peek(bucket: Bucket, subject: string, limit: number): LimitState;
  /** Writes changed counters, at most a few hundred a transaction, and forgets windows that have ended. */
  flush(): void;
}

export function rateLimiter({ db, clock }: { db: Database; clock: Clock }): RateLimiter {
  const buckets = new Map<string, Map<string, Counter>>();
  const dirty: [bucket: string, subject: string, windowMs: number][] = [];
  const upsert = db.sqlite.prepare(
    `INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (bucket, subject) DO UPDATE SET window_started_at = excluded.window_started_at,
       window_ends_at = excluded.window_ends_at, count = excluded.count`,
  );
  const forget = db.sqlite.prepare(
    `DELETE FROM rate_counters WHERE (bucket, subject) IN
       (SELECT bucket, subject FROM rate_counters WHERE window_ends_at <= ? LIMIT ${FLUSH_ROWS})`,
  );
  load();

  function load(): void {
    const rows = db.sqlite
      .prepare(
        'SELECT bucket, subject, window_ends_at AS windowEndsAt, count FROM rate_counters WHERE window_ends_at > ?',
      )
      .all(clock.now()) as { bucket: string; subject: string; windowEndsAt: number; count: number }[];
    for (const { bucket, subject, windowEndsAt, count } of rows)
      subjectsOf(bucket).set(subject, { windowEndsAt, count, isDirty: false });
  }

  function subjectsOf(bucket: string): Map<string, Counter> {
    let subjects = buckets.get(bucket);
    if (!subjects) buckets.set(bucket, (subjects = new Map()));
    return subjects;
  }

  function current(bucket: Bucket, subject: string, now: number): Counter | undefined {
    const counter = buckets.get(bucket.name)?.get(subject);
    return counter && counter.windowEndsAt > now ? counter : undefined;
  }

  function state(bucket: Bucket, count: number, limit: number, isAllowed: boolean, now: number): LimitState {
    const elapsed = now % bucket.windowMs;
    return {
      isAllowed,
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: Math.max(1, Math.ceil((bucket.windowMs - elapsed) / 1000)),
    };
  }

  return {
    consume(bucket, subject, limit) {
      const now = clock.now();
      let counter = current(bucket, subject, now);
      if (!counter) {
        const subjects = subjectsOf(bucket.name);
        if (subjects.size >= MAX_SUBJECTS_PER_BUCKET) evict(subjects, now);
        counter = { windowEndsAt: now - (now % bucket.windowMs) + bucket.windowMs, count: 0, isDirty: false };
        subjects.set(subject, counter);
      }
      if (counter.count >= limit) return state(bucket, counter.count, limit, false, now);
      counter.count += 1;
      if (!counter.isDirty) {
        counter.isDirty = true;
        dirty.push([bucket.name, subject, bucket.windowMs]);
      }
      return state(bucket, counter.count, limit, true, now);
    },
    peek(bucket, subject, limit) {
      const now = clock.now();
      const count = current(bucket, subject, now)?.count ?? 0;
      return state(bucket, count, limit, count < limit, now);
    },
    flush() {
      const now = clock.now();
      while (dirty.length > 0) {
        const chunk = dirty.slice(0, FLUSH_ROWS);
        const counters = chunk.map(([bucket, subject]) => buckets.get(bucket)?.get(subject));
        db.sqlite.transaction(() => {
          chunk.forEach(([bucket, subject, windowMs], index) => {
            const counter = counters[index];
            if (counter)
              upsert.run(bucket, subject, counter.windowEndsAt - windowMs, counter.windowEndsAt, counter.count);
          });
        })();
        // Only what has been committed is clean: after a failure the next flush takes it again.
        dirty.splice(0, chunk.length);
        for (const counter of counters) if (counter) counter.isDirty = false;
      }
      forget.run(now);
      for (const subjects of buckets.values()) dropEnded(subjects, now);
    },
  };
}

/** Map order is insertion order, so the first entries are the oldest; looking at a few each time keeps this cheap. */
function dropEnded(subjects: Map<string, Counter>, now: number): void {
  let looked = 0;
  for (const [subject, counter] of subjects) {
    if (counter.windowEndsAt <= now && !counter.isDirty) subjects.delete(subject);
    if (++looked >= 1000) return;
  }
}

/** A flood of made-up subjects must not grow memory without bound: the oldest tenth makes room. */
function evict(subjects: Map<string, Counter>, now: number): void {
  for (const [subject, counter] of subjects) if (counter.windowEndsAt <= now) subjects.delete(subject);
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
  if (!state.isAllowed) throw new AppError('rate_limited', { retryAfterSeconds: state.resetSeconds });
}
