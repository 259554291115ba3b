/** Instances on one database: which of them live, and whether their versions and clocks agree. */
import { SECOND, type WorldClock } from '../../core/clock.ts';
import { counted } from '../../core/quantities.ts';
import type { Reader } from '../../db/database.ts';
import { type InstanceRow, listInstances } from '../../store/instances.ts';
import { clockDifference, compareClocks } from './clock.ts';

/** An instance that was not seen for this long is stopped or cut off from the database. */
const INSTANCE_GONE_MS = 30 * SECOND;

export interface ListedInstance extends InstanceRow {
  /** Whether it was seen lately; one that was killed is listed for a day. */
  readonly isAlive: boolean;
}

export const INSTANCE_WARNING_CODES = ['versions_differ', 'clock_differs'] as const;

export interface InstanceWarning {
  readonly code: (typeof INSTANCE_WARNING_CODES)[number];
  readonly message: string;
  readonly remedy: string;
}

/** Returns the instances of the last day, oldest first. @param clock of any process: the times are the database's. */
export async function findInstances(
  reader: Reader,
  clock: Pick<WorldClock, 'real'>,
): Promise<readonly ListedInstance[]> {
  const [rows, { databaseTime }] = await Promise.all([listInstances(reader), compareClocks(reader, clock)]);
  return rows.map((row) => ({ ...row, isAlive: databaseTime - row.seenAt < INSTANCE_GONE_MS }));
}

export function versionsOf(instances: readonly ListedInstance[]): readonly string[] {
  return [...new Set(instances.filter(({ isAlive }) => isAlive).map(({ version }) => version))].toSorted();
}

export function instanceWarnings(instances: readonly ListedInstance[]): InstanceWarning[] {
  const versions = versionsOf(instances);
  const wrong = instances.flatMap(({ isAlive, host, clockOffsetMs }) => {
    const difference = isAlive ? clockDifference(clockOffsetMs) : null;
    return difference === null ? [] : [`that of ${host} is ${difference}`];
  });
  const found: (InstanceWarning | false)[] = [
    wrong.length > 0 && {
      code: 'clock_differs',
      message: `Clocks differ: ${wrong.join('; ')}.`,
      remedy: 'Synchronize the machines of the instances and of the database with NTP.',
    },
    versions.length > 1 && {
      code: 'versions_differ',
      message: `${counted(versions.length, 'version')} run on this database: ${versions.join(', ')}. A rolling update is under way, or was left.`,
      remedy: 'Finish the update: start the instances of the older version with the newer one.',
    },
  ];
  return found.filter((warning) => warning !== false);
}
