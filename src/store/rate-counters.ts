/** Rate counters: what the limiter counts in memory, written down so that a restart forgives nobody. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** One subject's count in one window of one limit. */
export interface RateCounter {
  readonly bucket: string;
  readonly subject: string;
  readonly windowStartedAt: number;
  readonly windowEndsAt: number;
  readonly count: number;
}

const live = raw<RateCounter, [number]>(
  `SELECT bucket, subject, window_started_at AS windowStartedAt, window_ends_at AS windowEndsAt, count
   FROM rate_counters WHERE window_ends_at > ?`,
);

/** Counters whose window has not ended. */
export function listRateCounters(reader: Reader, now: number): Promise<RateCounter[]> {
  return live(reader, now);
}

const upsert = raw<never, [string, string, number, number, number]>(
  `INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (bucket, subject) DO UPDATE SET window_started_at = excluded.window_started_at,
     window_ends_at = excluded.window_ends_at, count = excluded.count`,
);

/** Each in the place of the subject's count before; one statement a counter. */
export async function saveRateCounters(unit: Unit, counters: readonly RateCounter[]): Promise<void> {
  for (const { bucket, subject, windowStartedAt, windowEndsAt, count } of counters)
    await upsert(unit, bucket, subject, windowStartedAt, windowEndsAt, count);
}

const FORGET = 250;

const forget = rawChange<[number]>(
  `DELETE FROM rate_counters WHERE (bucket, subject) IN
     (SELECT bucket, subject FROM rate_counters WHERE window_ends_at <= ? LIMIT ${FORGET})`,
);

/** Removes a batch of counters whose window has ended. @returns whether there may be more. */
export async function forgetRateCounters(unit: Unit): Promise<boolean> {
  return (await forget(unit, unit.now)) === FORGET;
}
