/** Rate counters: the in-memory limiter's, saved so that a restart forgives nobody, and those counted only here. */
import type { Reader, Unit } from '../db/database.ts';
import { change, note, query } from '../db/statements.ts';

export interface RateCounter {
  readonly bucket: string;
  readonly subject: string;
  readonly windowStartedAt: number;
  readonly windowEndsAt: number;
  readonly count: number;
}

/** Returns counters of current windows, highest count first. */
export const listRateCounters = query.rows<RateCounter, { now: number; limit: number }>(
  `SELECT bucket, subject, window_started_at AS "windowStartedAt", window_ends_at AS "windowEndsAt", count
   FROM rate_counters WHERE window_ends_at > :now AND window_started_at <= :now ORDER BY count DESC LIMIT :limit`,
);

const INSERT = `INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count)
  VALUES (:bucket, :subject, :windowStartedAt, :windowEndsAt, :count)
  ON CONFLICT (bucket, subject) DO UPDATE SET window_started_at = excluded.window_started_at,
    window_ends_at = excluded.window_ends_at`;

const replace = change<RateCounter>(`${INSERT}, count = excluded.count`);

/** Replaces the subjects' counts, in one statement per counter. */
export async function saveRateCounters(unit: Unit, counters: readonly RateCounter[]): Promise<void> {
  for (const counter of counters) await replace(unit, counter);
}

export type CounterKey = Omit<RateCounter, 'count'>;

const countOf = query.value<number, CounterKey>(
  `SELECT count FROM rate_counters
   WHERE bucket = :bucket AND subject = :subject AND window_started_at = :windowStartedAt`,
);

export async function findRateCount(reader: Reader, key: CounterKey): Promise<number> {
  return (await countOf(reader, key)) ?? 0;
}

/** Adds to a counter that the in-memory limiter does not have. */
export const addToRateCounter = change<RateCounter>(
  `${INSERT}, count = excluded.count
     + CASE WHEN rate_counters.window_started_at = excluded.window_started_at THEN rate_counters.count ELSE 0 END`,
);

const FORGET = 250;

const forget = note<number>(
  ({ skipLocked }) => `DELETE FROM rate_counters WHERE (bucket, subject) IN
     (SELECT bucket, subject FROM rate_counters WHERE window_ends_at <= :before LIMIT ${FORGET} ${skipLocked})`,
);

/** Deletes a batch of counters whose window has ended by then. @returns whether there may be more. */
export async function purgeRateCounters(unit: Unit, before = unit.now): Promise<boolean> {
  return (await forget(unit, before)) === FORGET;
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

const fill = note<{ kibibytes: number; filler: string }>(
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :kibibytes)
   INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count)
   SELECT 'probe', i || :filler, 0, 0, 0 FROM n`,
);
const empty = note("DELETE FROM rate_counters WHERE bucket = 'probe'");

/** Writes this many KiB to the disk and leaves no row: `secure_delete` writes the pages of deleted rows too. */
export async function writeProbe(unit: Unit, kibibytes: number): Promise<void> {
  await fill(unit, { kibibytes, filler: FILLER });
  await empty(unit);
}
