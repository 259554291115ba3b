/** Daily metrics of applications by UTC day, incremented as things happen so that reads need no source rows. */
import { topic, type Unit } from '../db/database.ts';
import { change, longRead, query } from '../db/statements.ts';

/**
 * Metrics. Labels: `sign_in` method, `refusal` reason, endpoint of deliveries, `limit_reached` limit, `active_gap` and
 * `session_gap` days since the person or session was last active; the others have none.
 */
export type Metric =
  'sign_in' | 'new_user' | 'active_day' | 'refusal' | 'delivered' | 'failed_attempt' | 'limit_reached' | GapMetric;

/** People, or sessions, by the number of days since they were active before. */
export type GapMetric = 'active_gap' | 'session_gap';

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

const COUNT = { application: 'text', metric: 'text', day: 'integer', label: 'text', count: 'integer' } as const;

/** Rows are locked in the order of their key, so that instances that count at the same time do not deadlock. */
const add = change<{ counts: readonly object[] }>(
  ({ jsonRows }) => `INSERT INTO daily_counts (application_id, metric, day, label, count)
   SELECT application, metric, day, label, count FROM ${jsonRows(':counts', COUNT)} WHERE true ORDER BY 1, 2, 3, 4
   ON CONFLICT (application_id, metric, day, label) DO UPDATE SET count = daily_counts.count + excluded.count`,
);

/** Adds to the counters, each named once, in one statement. */
export async function addDailyCounts(unit: Unit, counts: readonly DailyCount[]): Promise<void> {
  await add(unit, { counts: counts.map(({ applicationId, ...count }) => ({ application: applicationId, ...count })) });
}

/** An application and a range of days, both ends included. */
export interface CountedDays {
  readonly applicationId: string;
  readonly first: number;
  readonly last: number;
}

/** Returns the daily totals over all labels, without days and metrics that have none. */
export const listCountsByDay = query.rows<Pick<DailyCount, 'metric' | 'day' | 'count'>, CountedDays>(
  `SELECT metric, day, CAST(sum(count) AS bigint) AS count FROM daily_counts
   WHERE application_id = :applicationId AND metric IN ('sign_in', 'new_user', 'active_day', 'refusal')
     AND day BETWEEN :first AND :last
   GROUP BY metric, day`,
);

const LABELLED: readonly Metric[] = ['sign_in', 'refusal', 'delivered', 'failed_attempt', 'limit_reached'];

/** Totals of one metric: SQLite groups 40,000 rows by label alone in half the time of two columns. */
const totalsOf = (metric: Metric) =>
  `SELECT '${metric}' AS metric, label, CAST(sum(count) AS bigint) AS count FROM daily_counts
   WHERE application_id = :applicationId AND metric = '${metric}' AND day BETWEEN :first AND :last GROUP BY label`;

/** Returns totals by label over a range of days, largest first per metric. A long read if the range is long. */
export const listCountsByLabel = longRead.rows<Pick<DailyCount, 'metric' | 'label' | 'count'>, CountedDays>(
  `SELECT metric, label, count FROM (${LABELLED.map(totalsOf).join(' UNION ALL ')}) AS totals ORDER BY count DESC, label`,
);

/** Returns how many people or sessions were active on each day, by the days since they were active before. */
export const listActiveGaps = query.rows<
  Pick<DailyCount, 'day' | 'label' | 'count'>,
  CountedDays & { readonly metric: GapMetric }
>(
  `SELECT day, label, count FROM daily_counts
   WHERE application_id = :applicationId AND metric = :metric AND day BETWEEN :first AND :last`,
);

const firstDayOf = (metric: Metric) =>
  `(SELECT min(day) FROM daily_counts WHERE application_id = :applicationId AND metric = '${metric}')`;

/** Returns the first days on which sessions and sign-ins were counted; null where there is none. */
export const findFirstCounts = query.row<{ session: number | null; signIn: number | null }, string>(
  `SELECT ${firstDayOf('session_gap')} AS session, ${firstDayOf('sign_in')} AS "signIn"`,
);

/** Returns the number of people with an active membership, including imported ones who have never come. A long read. */
export const countActivePeople = longRead.count<string>(
  ({ joinInOrder }) =>
    `SELECT (SELECT count(*) FROM application_users WHERE application_id = :applicationId AND status = 'active') -
       (SELECT count(DISTINCT m.id) FROM api_keys k ${joinInOrder} application_users m ON m.id = k.application_user_id
        WHERE k.application_id = :applicationId AND k.source <> 'device' AND m.application_id = :applicationId
          AND m.status = 'active')`,
);
