/** Rate counters: the in-memory limiter's, saved so that a restart forgives nobody, and those counted only here. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange, rawNote } from '../db/statements.ts';

export interface RateCounter {
  readonly bucket: string;
  readonly subject: string;
  readonly windowStartedAt: number;
  readonly windowEndsAt: number;
  readonly count: number;
}

const live = raw<RateCounter, [number, number]>(
  `SELECT bucket, subject, window_started_at AS "windowStartedAt", window_ends_at AS "windowEndsAt", count
   FROM rate_counters WHERE window_ends_at > ?1 AND window_started_at <= ?1 ORDER BY count DESC LIMIT ?2`,
);

/** Returns counters of current windows, highest count first. */
export function listRateCounters(reader: Reader, now: number, limit: number): Promise<RateCounter[]> {
  return live(reader, now, limit);
}

const upsert = raw<never, [string, string, number, number, number]>(
  `INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (bucket, subject) DO UPDATE SET window_started_at = excluded.window_started_at,
     window_ends_at = excluded.window_ends_at, count = excluded.count`,
);

/** Replaces the subjects' counts, in one statement per counter. */
export async function saveRateCounters(unit: Unit, counters: readonly RateCounter[]): Promise<void> {
  for (const { bucket, subject, windowStartedAt, windowEndsAt, count } of counters)
    await upsert(unit, bucket, subject, windowStartedAt, windowEndsAt, count);
}

export type CounterKey = Omit<RateCounter, 'count'>;

const countOf = raw<{ count: number }, [string, string, number]>(
  'SELECT count FROM rate_counters WHERE bucket = ? AND subject = ? AND window_started_at = ?',
);

export async function findRateCount(reader: Reader, { bucket, subject, windowStartedAt }: CounterKey): Promise<number> {
  const [row] = await countOf(reader, bucket, subject, windowStartedAt);
  return row?.count ?? 0;
}

const add = rawChange<[string, string, number, number, number]>(
  `INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (bucket, subject) DO UPDATE SET
     count = excluded.count + CASE WHEN window_started_at = excluded.window_started_at THEN count ELSE 0 END,
     window_started_at = excluded.window_started_at, window_ends_at = excluded.window_ends_at`,
);

/** Adds to a counter that the in-memory limiter does not have. */
export async function addToRateCounter(unit: Unit, key: CounterKey, count: number): Promise<void> {
  const { bucket, subject, windowStartedAt, windowEndsAt } = key;
  await add(unit, bucket, subject, windowStartedAt, windowEndsAt, count);
}

const FORGET = 250;

const forget = rawChange<[number]>(
  `DELETE FROM rate_counters WHERE (bucket, subject) IN
     (SELECT bucket, subject FROM rate_counters WHERE window_ends_at <= ? LIMIT ${FORGET})`,
);

/** Deletes a batch of counters whose window has ended. @returns whether there may be more. */
export async function forgetRateCounters(unit: Unit): Promise<boolean> {
  return (await forget(unit, unit.now)) === FORGET;
}

/** Commits a dummy row, to probe whether the database accepts writes. Cleanup deletes it like any counter. */
export function noteProbe(unit: Unit): Promise<void> {
  const { now } = unit;
  return saveRateCounters(unit, [
    { bucket: 'probe', subject: '', windowStartedAt: now, windowEndsAt: now + 1, count: 1 },
  ]);
}

/** Sized for rows of 1 KiB, index entry included. */
const FILLER = 'x'.repeat(500);

const fill = rawNote<[number, string]>(
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
   INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count)
   SELECT 'probe', i || ?2, 0, 0, 0 FROM n`,
);
const empty = rawNote<[]>("DELETE FROM rate_counters WHERE bucket = 'probe'");

/** Writes this many KiB to the disk and leaves no row: `secure_delete` writes the pages of deleted rows too. */
export async function writeProbe(unit: Unit, kibibytes: number): Promise<void> {
  await fill(unit, kibibytes, FILLER);
  await empty(unit);
}
