/** Tells since when a number is counted that was not counted before an upgrade. */
import { DAY } from '../../../core/clock.ts';
import { dayOf } from '../../components/format.ts';

interface Compared {
  /** ISO date. */
  readonly today: string;
  /** Length of the period, which is compared with the one before it. */
  readonly days: number;
}

/**
 * Returns the first counted day in words until both periods are counted in whole: the first day may be counted in part.
 *
 * @param since ISO date of the first counted day; null if nothing is missing.
 */
export function countedSince(since: string | null, { today, days }: Compared): string | undefined {
  if (since === null || (Date.parse(today) - Date.parse(since)) / DAY >= 2 * days) return undefined;
  return `Counted since ${dayOf(since)}`;
}
