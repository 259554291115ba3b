/** Names the copies that upgrades leave next to the database. Decides which are kept and which a downgrade restores. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileTime } from '../../core/clock.ts';

/** Number of copies kept, newest first. */
const COPIES_KEPT = 3;

const UNFINISHED = '.unfinished';

interface Copy {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly stamp: string;
}

/** Returns the path of a backup of schema `from`, made before it became `to`. @param now in epoch milliseconds. */
export function upgradeCopyPath(databasePath: string, from: number, to: number, now: number): string {
  return `${databasePath}.schema-${from}-to-${to}.${fileTime(now)}`;
}

/** Returns the name of a copy until it is whole. */
export const unfinishedCopy = (path: string): string => `${path}${UNFINISHED}`;

/** Returns the copies, newest first. */
function copiesOf(databasePath: string): Copy[] {
  const folder = dirname(databasePath);
  if (!existsSync(folder)) return [];
  return copyNames(databasePath)
    .flatMap((name) => {
      const [, from, to, stamp = ''] = /\.schema-(\d+)-to-(\d+)\.(\d{8}T\d{6}Z)$/.exec(name) ?? [];
      return from === undefined ? [] : [{ path: join(folder, name), from: Number(from), to: Number(to), stamp }];
    })
    .sort((a, b) => (a.stamp < b.stamp ? 1 : -1));
}

function copyNames(databasePath: string): string[] {
  return readdirSync(dirname(databasePath)).filter((name) => name.startsWith(`${basename(databasePath)}.schema-`));
}

/** Removes what a kill left while a copy was being made. */
export function clearUnfinishedCopies(databasePath: string): void {
  for (const name of copyNames(databasePath))
    if (name.endsWith(UNFINISHED) || name.endsWith(`${UNFINISHED}-journal`))
      rmSync(join(dirname(databasePath), name), { force: true, recursive: true });
}

export function removeOldCopies(databasePath: string): void {
  for (const { path } of copiesOf(databasePath).slice(COPIES_KEPT)) rmSync(path, { force: true });
}

/** Returns the newest copy that a binary of the schema can go back to; null where there is none. */
export function copyToGoBackTo(databasePath: string, schema: number): string | null {
  return copiesOf(databasePath).find(({ from, to }) => from <= schema && to > schema)?.path ?? null;
}
