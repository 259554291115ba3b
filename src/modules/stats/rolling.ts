/**
 * Counts people active in a rolling number of days, from how many came on each day after how many days. A person is
 * counted once: on the first day in the period, whose gap reaches back beyond its beginning.
 */
import { DAY } from '../../core/clock.ts';

/** Rolling periods of active people, in days. */
export const ACTIVE_PERIODS = [1, 7, 30] as const;
export type ActivePeriod = (typeof ACTIVE_PERIODS)[number];

/** Longer gaps, and first visits, are counted as this one: no period is longer. */
export const LONGEST_GAP = 30;

/** Name of the hourly metric: people who came that day after at least this many days. */
export const activeMetric = (period: ActivePeriod) => `active_${period}` as const;

/** People who were active on a day, and before it that many days earlier. */
export interface ActiveGap {
  readonly day: number;
  readonly gap: number;
  readonly count: number;
}

/** Returns the number of people active in the days up to `last`, inclusive. @param last start of a UTC day. */
export function activeIn(gaps: readonly ActiveGap[], days: number, last: number): number {
  const before = last - days * DAY;
  return gaps.reduce(
    (sum, { day, gap, count }) => (day > before && day <= last && day - gap * DAY <= before ? sum + count : sum),
    0,
  );
}

/**
 * The same, with the last day counted up to an hour.
 *
 * @param onLast people who came by that hour of the last day after at least `days` days.
 */
export function activeUntil(gaps: readonly ActiveGap[], days: number, last: number, onLast: number): number {
  const earlier = gaps.filter(({ day }) => day < last);
  return activeIn(earlier, days, last) + onLast;
}
