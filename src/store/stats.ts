/** Counts of what happens in applications, by UTC day: added to in passing, and read without looking at what was counted. */
import { only } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { longRead, raw, rawChange } from '../db/statements.ts';

/**
 * What is counted. `active_week` and `active_month` stand on the first day of theirs. Labels: of `sign_in` the method, of
 * `refusal` the reason, of deliveries the endpoint, of `limit_reached` the limit; the others have none.
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

/** One counter, or what is to be added to it. */
export interface DailyCount {
  readonly applicationId: string;
  readonly metric: Metric;
  /** The time it begins at. */
  readonly day: number;
  readonly label: string;
  readonly count: number;
}

/** Somebody was refused by a limit, on their way into an application or in it. */
export interface LimitReached {
  readonly applicationId: string;
  readonly limit: string;
}

export const LIMIT_REACHED = topic<LimitReached>('limit reached');

const add = rawChange<[string, Metric, number, string, number]>(
  `INSERT INTO daily_counts (application_id, metric, day, label, count) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (application_id, metric, day, label) DO UPDATE SET count = daily_counts.count + excluded.count`,
);

/** One statement a counter. */
export async function addDailyCounts(unit: Unit, counts: readonly DailyCount[]): Promise<void> {
  for (const { applicationId, metric, day, label, count } of counts)
    await add(unit, applicationId, metric, day, label, count);
}

/** Days from the first to the last, both included. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

const byDay = raw<Pick<DailyCount, 'metric' | 'day' | 'count'>, [string, number, number]>(
  `SELECT metric, day, sum(count) AS count FROM daily_counts
   WHERE application_id = ? AND metric IN ('sign_in', 'new_user', 'active_day', 'refusal') AND day BETWEEN ? AND ?
   GROUP BY metric, day`,
);

/** What is told of each day, over all labels. Days and metrics of which there is nothing are left out. */
export function listCountsByDay(reader: Reader, applicationId: string, { first, last }: Days) {
  return byDay(reader, applicationId, first, last);
}

const byLabel = longRead<Pick<DailyCount, 'metric' | 'label' | 'count'>, [string, number, number]>(
  `SELECT metric, label, sum(count) AS count FROM daily_counts
   WHERE application_id = ? AND metric IN ('sign_in', 'refusal', 'delivered', 'failed_attempt', 'limit_reached')
     AND day BETWEEN ? AND ?
   GROUP BY metric, label ORDER BY sum(count) DESC, label`,
);

/** What is told apart by label, over all days; of each metric the largest first. A long read where the days are many. */
export function listCountsByLabel(reader: Reader, applicationId: string, { first, last }: Days) {
  return byLabel(reader, applicationId, first, last);
}

const one = raw<{ count: number }, [string, Metric, number]>(
  "SELECT count FROM daily_counts WHERE application_id = ? AND metric = ? AND day = ? AND label = ''",
);

/** A counter without a label. */
export async function findCount(reader: Reader, applicationId: string, metric: Metric, day: number): Promise<number> {
  const [row] = await one(reader, applicationId, metric, day);
  return row?.count ?? 0;
}

const activeMembers = longRead<{ count: number }, [string]>(
  `SELECT (SELECT count(*) FROM application_users WHERE application_id = ?1 AND status = 'active') -
     (SELECT count(DISTINCT m.id) FROM api_keys k CROSS JOIN application_users m ON m.id = k.application_user_id
      WHERE k.application_id = ?1 AND k.source <> 'device' AND m.application_id = ?1 AND m.status = 'active') AS count`,
);

/** People whose membership is active, also those who were imported and have not come yet. A long read. */
export async function countActivePeople(reader: Reader, applicationId: string): Promise<number> {
  return only(await activeMembers(reader, applicationId)).count;
}
