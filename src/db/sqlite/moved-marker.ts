/** Marks a data folder whose instance lives elsewhere, so that nobody serves or changes what is left behind. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import { PRIVATE_FILE, quoted } from './data-folder.ts';
import { chownToOwnerOf } from './file-owner.ts';
import { flush } from './flush.ts';

/** Named as a file of the database, so that a restore moves it aside together with the others. */
const markerOf = (databasePath: string) => `${databasePath}.moved-to`;

/** @param to where the instance lives now, without a password. */
export function markMoved(databasePath: string, to: string): void {
  const path = markerOf(databasePath);
  writeFileSync(path, `${to}\n`, { mode: PRIVATE_FILE, flush: true });
  chownToOwnerOf(dirname(path), [path]);
  flush(dirname(path));
}

/** Returns where the instance lives now; null for one that was not moved. */
export function movedTo(databasePath: string): string | null {
  const path = markerOf(databasePath);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/** @throws {StartupError} for a folder whose instance was moved. */
export function requireNotMoved(databasePath: string): void {
  const to = movedTo(databasePath);
  if (to === null) return;
  throw new StartupError(
    `This instance was moved to ${to}: serve that. To go back to the state before, run: rm ${quoted(markerOf(databasePath))}`,
  );
}
