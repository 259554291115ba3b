/** Hourly counts of applications, API keys and webhook endpoints, incremented as things happen. */
import { DAY } from '../core/clock.ts';
import type { TimeSeries } from '../core/time-series.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, longRead, query } from '../db/statements.ts';

/** A counter, or an increment to it. */
export interface HourlyCount {
  /** Id of an application, API key or webhook endpoint. */
  readonly subject: string;
  readonly metric: string;
  /** Start of the UTC hour, in epoch milliseconds. */
  readonly hour: number;
  readonly count: number;
}

const COUNT = { subject: 'text', metric: 'text', hour: 'integer', count: 'integer' } as const;

/** Rows are locked in the order of their key, so that instances that count at the same time do not deadlock. */
const add = change<{ counts: readonly HourlyCount[] }>(
  ({ jsonRows }) => `INSERT INTO hourly_counts (subject, metric, hour, count)
   SELECT subject, metric, hour, count FROM ${jsonRows(':counts', COUNT)} WHERE true ORDER BY 1, 2, 3
   ON CONFLICT (subject, metric, hour) DO UPDATE SET count = hourly_counts.count + excluded.count`,
);

/** Adds to the counters, each named once, in one statement. */
export async function addHourlyCounts(unit: Unit, counts: readonly HourlyCount[]): Promise<void> {
  await add(unit, { counts });
}

/** Metrics of a subject in a range of hours, both ends included. Named metrics are ranges of the key. */
export interface CountedHours {
  readonly subject: string;
  readonly metrics: readonly string[];
  readonly first: number;
  readonly last: number;
}

/** Returns the sum of each metric over the hours. */
export const sumHourlyCounts = query.rows<Omit<HourlyCount, 'subject' | 'hour'>, CountedHours>(
  ({ idList }) => `SELECT metric, CAST(sum(count) AS bigint) AS count FROM hourly_counts
   WHERE subject = :subject AND metric IN ${idList(':metrics')} AND hour BETWEEN :first AND :last GROUP BY metric`,
);

interface SteppedCount {
  readonly metric: string;
  /** Start of the step, in epoch milliseconds. */
  readonly at: number;
  readonly count: number;
}

/** Returns the sum of each metric in each step, without steps that have none. A long read if the range is long. */
const listSteps = (start: string) =>
  longRead.rows<SteppedCount, CountedHours>(
    ({ idList }) => `SELECT metric, ${start} AS at, CAST(sum(count) AS bigint) AS count FROM hourly_counts
     WHERE subject = :subject AND metric IN ${idList(':metrics')} AND hour BETWEEN :first AND :last GROUP BY 1, 2`,
  );
const LISTS = { hour: listSteps('hour'), day: listSteps(`hour - hour % ${DAY}`) };

/** Returns the counts of a subject in each step of a series, by the step's start and metric. */
export async function countsOver(
  reader: Reader,
  { subject, metrics }: Pick<CountedHours, 'subject' | 'metrics'>,
  { unit, stepMs, starts }: TimeSeries,
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const [first = 0] = starts;
  const last = (starts.at(-1) ?? 0) + stepMs - 1;
  const counts = new Map<number, Map<string, number>>();
  for (const { metric, at, count } of await LISTS[unit](reader, { subject, metrics, first, last }))
    counts.set(at, (counts.get(at) ?? new Map()).set(metric, count));
  return counts;
}
