/** The copies that upgrades have left beside the database: their names, which of them stay, and which one leads back. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileTime } from '../core/clock.ts';

/** The newest so many stay. */
const KEPT = 3;

const UNFINISHED = '.unfinished';

interface Copy {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly stamp: string;
}

/**
 * Where a copy goes: a backup, made of schema `from` before it became `to`.
 *
 * @param now in epoch milliseconds.
 */
export function upgradeCopyPath(databasePath: string, from: number, to: number, now: number): string {
  return `${databasePath}.schema-${from}-to-${to}.${fileTime(now)}`;
}

/** What it is called until it is whole. */
export const unfinishedCopy = (path: string): string => `${path}${UNFINISHED}`;

/** Newest first. */
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

/** Removes what a kill has left in the middle of making one. */
export function clearUnfinishedCopies(databasePath: string): void {
  for (const name of copyNames(databasePath))
    if (name.endsWith(UNFINISHED) || name.endsWith(`${UNFINISHED}-journal`))
      rmSync(join(dirname(databasePath), name), { force: true, recursive: true });
}

/** Removes all but the newest. */
export function removeOldCopies(databasePath: string): void {
  for (const { path } of copiesOf(databasePath).slice(KEPT)) rmSync(path, { force: true });
}

/** @returns the copy that a binary of a schema can go back to, the newest it knows; null where there is none. */
export function copyToGoBackTo(databasePath: string, schema: number): string | null {
  return copiesOf(databasePath).find(({ from, to }) => from <= schema && to > schema)?.path ?? null;
}
