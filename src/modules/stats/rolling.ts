/**
 * Counts people or sessions active in a rolling number of days, from how many came on each day after how many days. Each
 * is counted once: on the first day in the period, whose gap reaches back beyond its beginning.
 */
import { DAY } from '../../core/clock.ts';

/** Rolling periods of active people and sessions, in days. */
export const ACTIVE_PERIODS = [1, 7, 30] as const;
export type ActivePeriod = (typeof ACTIVE_PERIODS)[number];

/** Longer gaps, and first visits, are counted as this one: no period is longer. */
export const LONGEST_GAP = 30;

/** Names of hourly metrics: people and sessions that came that day after at least this many days. */
export const activeMetric = (period: ActivePeriod) => `active_${period}` as const;
export const sessionMetric = (period: ActivePeriod) => `session_${period}` as const;

/** People or sessions that were active on a day, and before it that many days earlier. */
export interface ActiveGap {
  readonly day: number;
  readonly gap: number;
  readonly count: number;
}

/**
 * Returns the number of people or sessions active in the days up to `last`, inclusive. Where counting began during the
 * period, a gap that reaches back beyond that day is enough.
 *
 * @param gaps every count from a day on, at the latest the first of the period. @param last start of a UTC day.
 */
export function activeIn(gaps: readonly ActiveGap[], days: number, last: number): number {
  const firstCounted = gaps.reduce((first, { day }) => Math.min(first, day), last);
  const before = Math.max(last - days * DAY, firstCounted - DAY);
  return gaps.reduce(
    (sum, { day, gap, count }) => (day > before && day <= last && day - gap * DAY <= before ? sum + count : sum),
    0,
  );
}

/**
 * The same, with the last day counted up to an hour.
 *
 * @param onLast people or sessions that came by that hour of the last day after at least `days` days.
 */
export function activeUntil(gaps: readonly ActiveGap[], days: number, last: number, onLast: number): number {
  const earlier = gaps.filter(({ day }) => day < last);
  return activeIn(earlier, days, last) + onLast;
}
