import { isoDate, startOfDay, startOfHour } from '../../core/calendar.ts';
import { type Clock, DAY } from '../../core/clock.ts';
import { SESSION_METHODS } from '../../core/sign-in-methods.ts';
import type { Database } from '../../db/database.ts';
import { REPORTED_LIMITS } from '../../http/limits.ts';
import type { Application } from '../../store/applications.ts';
import { sumHourlyCounts } from '../../store/hourly-counts.ts';
import {
  countActivePeople,
  findFirstCounts,
  type GapMetric,
  listActiveGaps,
  listCountsByDay,
  listCountsByLabel,
  type Metric,
} from '../../store/stats.ts';
import { listWebhooks } from '../../store/webhooks.ts';
import { MAX_WEBHOOKS } from '../webhooks/model.ts';
import { DEFAULT_DAYS, type Stats, type StatsQuery } from './model.ts';
import {
  type ActiveGap,
  ACTIVE_PERIODS,
  activeIn,
  activeMetric,
  type ActivePeriod,
  activeUntil,
  LONGEST_GAP,
  sessionMetric,
} from './rolling.ts';

/** Metrics that are compared up to an hour. */
const COMPARED = [
  'sign_in',
  'new_user',
  'refusal',
  ...ACTIVE_PERIODS.flatMap((of) => [activeMetric(of), sessionMetric(of)]),
];
/** Days whose counts are kept by the hour. */
const HOURLY_DAYS = 31;

export type Statistics = ReturnType<typeof statsService>;

/** Reads what is written: counts of the last few seconds may be missing. */
export function statsService({ db, clock }: { readonly db: Database; readonly clock: Clock }) {
  const { reader } = db;

  /** Returns what was counted on a day up to the present hour of the day, by metric. */
  async function untilThisHour(id: string, day: number, now: number): Promise<ReadonlyMap<string, number>> {
    const last = day + startOfHour(now) - startOfDay(now);
    const sums = await sumHourlyCounts(reader, { subject: id, metrics: COMPARED, first: day, last });
    return new Map(sums.map(({ metric, count }) => [metric, count]));
  }

  async function listGaps(id: string, metric: GapMetric, today: number): Promise<ActiveGap[]> {
    const first = today - 2 * LONGEST_GAP * DAY;
    const rows = await listActiveGaps(reader, { applicationId: id, metric, first, last: today });
    return rows.map(({ day, label, count }) => ({ day, gap: Number(label), count }));
  }

  async function active(id: string, now: number): Promise<Pick<Stats, 'activeUsers' | 'activeSessions'>> {
    const today = startOfDay(now);
    const [people, sessions] = [await listGaps(id, 'active_gap', today), await listGaps(id, 'session_gap', today)];
    const compared = async (days: ActivePeriod) => {
      const before = today - days * DAY;
      const onLast = await untilThisHour(id, before, now);
      const of = (gaps: readonly ActiveGap[], metric: string) => ({
        count: activeIn(gaps, days, today),
        previous: activeUntil(gaps, days, before, onLast.get(metric) ?? 0),
      });
      return { people: of(people, activeMetric(days)), sessions: of(sessions, sessionMetric(days)) };
    };
    const [day, week, month] = [await compared(1), await compared(7), await compared(30)];
    return {
      activeUsers: { day: day.people, week: week.people, month: month.people },
      activeSessions: {
        day: day.sessions,
        week: week.sessions,
        month: month.sessions,
        since: await sessionsCountedSince(id),
      },
    };
  }

  /** Returns the first day of counted sessions; null where nobody had signed in before it. */
  async function sessionsCountedSince(id: string): Promise<string | null> {
    const { session = null, signIn = null } = (await findFirstCounts(reader, id)) ?? {};
    return session !== null && signIn !== null && signIn < session ? isoDate(session) : null;
  }

  /** Returns the counts of each day; `previous` is the range of equal length before. */
  async function byDay(id: string, now: number, length: number) {
    const last = startOfDay(now);
    const first = last - (length - 1) * DAY;
    const counts = new Map<string, number>();
    for (const { metric, day, count } of await listCountsByDay(reader, {
      applicationId: id,
      first: first - length * DAY,
      last,
    }))
      counts.set(`${metric} ${day}`, count);
    const on = (metric: Metric, day: number) => counts.get(`${metric} ${day}`) ?? 0;
    const starts = Array.from({ length }, (_, index) => first + index * DAY);
    const lastBefore = last - length * DAY;
    const onLast = length <= HOURLY_DAYS ? await untilThisHour(id, lastBefore, now) : null;
    const previousOn = (metric: Metric, day: number) =>
      day === lastBefore && onLast ? (onLast.get(metric) ?? 0) : on(metric, day);
    const total = (metric: Metric) => ({
      count: sum(starts.map((day) => on(metric, day))),
      previous: sum(starts.map((day) => previousOn(metric, day - length * DAY))),
    });
    return {
      from: isoDate(first),
      to: isoDate(last),
      days: starts.map((day) => ({
        date: isoDate(day),
        signIns: on('sign_in', day),
        newUsers: on('new_user', day),
        activeUsers: on('active_day', day),
        refusals: on('refusal', day),
      })),
      totals: { signIns: total('sign_in'), newUsers: total('new_user'), refusals: total('refusal') },
    };
  }

  async function byLabel(id: string, first: number, last: number) {
    const counts = await listCountsByLabel(reader, { applicationId: id, first, last });
    const of = (metric: Metric) => counts.filter((entry) => entry.metric === metric);
    const [delivered, failed] = [of('delivered'), of('failed_attempt')];
    const webhooks = await listWebhooks(reader, id, { after: undefined, limit: MAX_WEBHOOKS });
    const total = (entries: typeof counts) => sum(entries.map(({ count }) => count));
    return {
      signInsByMethod: known(SESSION_METHODS, of('sign_in')).map(({ label: method, count }) => ({ method, count })),
      refusalsByReason: of('refusal').map(({ label: reason, count }) => ({ reason, count })),
      webhooks: {
        delivered: total(delivered),
        failedAttempts: total(failed),
        endpoints: webhooks.map(({ id: webhookId }) => ({
          webhookId,
          delivered: total(delivered.filter(({ label }) => label === webhookId)),
          failedAttempts: total(failed.filter(({ label }) => label === webhookId)),
        })),
      },
      limits: known(REPORTED_LIMITS, of('limit_reached')).map(({ label: limit, count }) => ({ limit, count })),
    };
  }

  return {
    async read({ id }: Application, { days = DEFAULT_DAYS }: StatsQuery): Promise<Stats> {
      const now = clock.now();
      const today = startOfDay(now);
      const first = today - (days - 1) * DAY;
      // Long reads first: SQLite runs them on another thread, beside the short ones.
      const [total, byLabels, byDays, actives] = await Promise.all([
        countActivePeople(reader, id),
        byLabel(id, first, today),
        byDay(id, now, days),
        active(id, now),
      ]);
      return { ...byDays, ...actives, users: { total }, ...byLabels };
    },
  };
}

/** Returns the counts whose label is still in use. */
function known<const Word extends string>(words: readonly Word[], counts: readonly { label: string; count: number }[]) {
  return counts.flatMap(({ label, count }) => {
    const word = words.find((one) => one === label);
    return word === undefined ? [] : [{ label: word, count }];
  });
}

function sum(counts: readonly number[]): number {
  return counts.reduce((left, right) => left + right, 0);
}
