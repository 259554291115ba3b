/** Compares an instance's clock with the database's: limits, leases and expiry of several instances rest on both. */
import { SECOND, type WorldClock } from '../../core/clock.ts';
import type { Reader } from '../../db/database.ts';
import { findDatabaseTime } from '../../store/instances.ts';

const TOLERANCE_MS = SECOND;

/** Returns by how much a clock differs from the database's, such as `2.0 s ahead of the database’s`; null if little. */
export function clockDifference(offsetMs: number): string | null {
  if (Math.abs(offsetMs) <= TOLERANCE_MS) return null;
  const seconds = (Math.abs(offsetMs) / SECOND).toFixed(1);
  return `${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the database’s`;
}

/** Returns a sentence about a clock that differs too much from the database's, or null. */
export function clockWarning(offsetMs: number): string | null {
  const difference = clockDifference(offsetMs);
  return difference && `The clock is ${difference}; synchronize both machines with NTP.`;
}

export interface ClockComparison {
  readonly databaseTime: number;
  /** This clock minus the database's. The time of the statement itself is not blamed on the clock. */
  readonly offsetMs: number;
}

export async function compareClocks(reader: Reader, clock: Pick<WorldClock, 'real'>): Promise<ClockComparison> {
  const [before, databaseTime, after] = [clock.real(), await findDatabaseTime(reader), clock.real()];
  if (databaseTime < before) return { databaseTime, offsetMs: before - databaseTime };
  return { databaseTime, offsetMs: Math.min(0, after - databaseTime) };
}
