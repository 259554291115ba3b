/** Daily metrics of applications by UTC day, incremented as things happen so that reads need no source rows. */
import { only } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { longRead, raw, rawChange } from '../db/statements.ts';

/**
 * Metrics. `active_week` and `active_month` use the first day of their period. Labels: `sign_in` method, `refusal`
 * reason, endpoint of deliveries, `limit_reached` limit; the others have none.
 */
export type Metric =
  | 'sign_in'
  | 'new_user'
  | 'active_day'
  | 'active_week'
  | 'active_month'
  | 'refusal'
  | 'delivered'
  | 'failed_attempt'
  | 'limit_reached';

/** A counter, or an increment to it. */
export interface DailyCount {
  readonly applicationId: string;
  readonly metric: Metric;
  /** Start of the day, in epoch milliseconds. */
  readonly day: number;
  readonly label: string;
  readonly count: number;
}

/** A limit refused somebody who signs in to an application or uses it. */
export interface LimitReached {
  readonly applicationId: string;
  readonly limit: string;
}

export const LIMIT_REACHED = topic<LimitReached>('limit reached');

const add = rawChange<[string, Metric, number, string, number]>(
  `INSERT INTO daily_counts (application_id, metric, day, label, count) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (application_id, metric, day, label) DO UPDATE SET count = daily_counts.count + excluded.count`,
);

/** Adds to the counters, in one statement per counter. */
export async function addDailyCounts(unit: Unit, counts: readonly DailyCount[]): Promise<void> {
  for (const { applicationId, metric, day, label, count } of counts)
    await add(unit, applicationId, metric, day, label, count);
}

/** Range of days, both ends included. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

const byDay = raw<Pick<DailyCount, 'metric' | 'day' | 'count'>, [string, number, number]>(
  `SELECT metric, day, sum(count) AS count FROM daily_counts
   WHERE application_id = ? AND metric IN ('sign_in', 'new_user', 'active_day', 'refusal') AND day BETWEEN ? AND ?
   GROUP BY metric, day`,
);

/** Returns the daily totals over all labels, without days and metrics that have none. */
export function listCountsByDay(reader: Reader, applicationId: string, { first, last }: Days) {
  return byDay(reader, applicationId, first, last);
}

const byLabel = longRead<Pick<DailyCount, 'metric' | 'label' | 'count'>, [string, number, number]>(
  `SELECT metric, label, sum(count) AS count FROM daily_counts
   WHERE application_id = ? AND metric IN ('sign_in', 'refusal', 'delivered', 'failed_attempt', 'limit_reached')
     AND day BETWEEN ? AND ?
   GROUP BY metric, label ORDER BY sum(count) DESC, label`,
);

/** Returns totals by label over a range of days, largest first per metric. A long read if the range is long. */
export function listCountsByLabel(reader: Reader, applicationId: string, { first, last }: Days) {
  return byLabel(reader, applicationId, first, last);
}

const one = raw<{ count: number }, [string, Metric, number]>(
  "SELECT count FROM daily_counts WHERE application_id = ? AND metric = ? AND day = ? AND label = ''",
);

/** Returns a counter that has no label. */
export async function findCount(reader: Reader, applicationId: string, metric: Metric, day: number): Promise<number> {
  const [row] = await one(reader, applicationId, metric, day);
  return row?.count ?? 0;
}

const activeMembers = longRead<{ count: number }, [string]>(
  `SELECT (SELECT count(*) FROM application_users WHERE application_id = ?1 AND status = 'active') -
     (SELECT count(DISTINCT m.id) FROM api_keys k CROSS JOIN application_users m ON m.id = k.application_user_id
      WHERE k.application_id = ?1 AND k.source <> 'device' AND m.application_id = ?1 AND m.status = 'active') AS count`,
);

/** Returns the number of people with an active membership, including imported ones who have never come. A long read. */
export async function countActivePeople(reader: Reader, applicationId: string): Promise<number> {
  return only(await activeMembers(reader, applicationId)).count;
}
