/** UTC hours and days, each identified by its start in epoch milliseconds. */
import { DAY, HOUR } from './clock.ts';

export function startOfHour(at: number): number {
  return at - (at % HOUR);
}

export function startOfDay(at: number): number {
  return at - (at % DAY);
}

export function isoDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
