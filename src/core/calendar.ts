/** UTC days, weeks and months, each identified by its start in epoch milliseconds. */
import { DAY } from './clock.ts';

export function startOfDay(at: number): number {
  return at - (at % DAY);
}

/** Weeks begin on Monday (ISO 8601); the epoch was a Thursday. */
export function startOfWeek(at: number): number {
  const day = startOfDay(at);
  return day - ((day / DAY + 3) % 7) * DAY;
}

/** @param months number of months later, negative for earlier. */
export function startOfMonth(at: number, months = 0): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

export function isoDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
