/** Periods of charts: the last 24 hours by the hour, or some UTC days by the day, with the running one last. */
import { startOfDay, startOfHour } from './calendar.ts';
import { DAY, HOUR } from './clock.ts';

export interface TimeSeries {
  readonly unit: 'hour' | 'day';
  readonly stepMs: number;
  /** Starts in epoch milliseconds, oldest first. */
  readonly starts: readonly number[];
}

/** @param days 1 for hours. @param now in epoch milliseconds. */
export function timeSeries(days: number, now: number): TimeSeries {
  const [unit, stepMs, last, length] =
    days === 1 ? (['hour', HOUR, startOfHour(now), 24] as const) : (['day', DAY, startOfDay(now), days] as const);
  return { unit, stepMs, starts: Array.from({ length }, (_, index) => last - (length - 1 - index) * stepMs) };
}
