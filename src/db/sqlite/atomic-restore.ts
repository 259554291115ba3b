/**
 * Replaces a database by a restored one, all or nothing at any kill. It is prepared in a folder of its own; once that
 * has its final name, the next process to open the data folder finishes the restore.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import { type DataFolder, INSTANCE_FILE, pathsIn } from './data-folder.ts';
import { flush } from './flush.ts';
import { chownToOwnerOf } from './file-owner.ts';

const UNFINISHED = 'restore.unfinished';
const READY = 'restore.ready';
/** Folder in which a move into this one prepares the instance; kept until it is whole. */
export const MOVE_STAGING = 'move.unfinished';
const ASIDE_NOTE = 'aside';
const DATABASE = 'gatehouse.db';
const KEY = 'instance.key';

/** Files that an empty data folder may contain. */
const NOTHING =
  /^(?:gatehouse\.(?:lock.*|holder)|backup\.(?:lock|unfinished).*|lost\+found|restore\.unfinished|before-restore-.*)$/;

/** Returns whether a restore would replace nothing. */
export function isFolderEmpty(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).every((name) => NOTHING.test(name));
}

/** Makes an empty folder in which a restore is prepared. */
export function makeStagingFolder(folder: string): DataFolder & { remove(): void } {
  const path = join(folder, UNFINISHED);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return { ...pathsIn(path), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Replaces the instance by the staged one. Call it under the folder's lock. @param aside name of a folder in this one,
 * for the old files. @param name of the staging folder. @returns its path, or null where there was nothing.
 */
export function commitRestore(folder: string, aside: string, name = UNFINISHED): string | null {
  const staging = join(folder, name);
  writeFileSync(join(staging, ASIDE_NOTE), aside, { flush: true });
  for (const file of [DATABASE, KEY]) flush(join(staging, file));
  flush(staging);
  renameSync(staging, join(folder, READY));
  flush(folder);
  finishRestore(folder);
  const path = join(folder, aside);
  chownToOwnerOf(folder, [path, ...[DATABASE, KEY, 'gatehouse.lock'].map((file) => join(folder, file))]);
  return existsSync(path) ? path : null;
}

/** @throws {StartupError} during an unfinished restore, when the folder may hold files of two instances. */
export function requireNoRestore(folder: string): void {
  if (existsSync(join(folder, READY)))
    throw new StartupError(
      `A restore into ${resolve(folder)} is running or was interrupted. Wait for it, or start the server, which finishes it.`,
    );
}

/** @throws {StartupError} where a move into the folder was interrupted: a server would begin a new instance beside it. */
export function requireNoMove(folder: string): void {
  const staging = join(resolve(folder), MOVE_STAGING);
  if (existsSync(staging))
    throw new StartupError(`A move into ${resolve(folder)} is unfinished. Run it again, or remove ${staging}.`);
}

/** Finishes a restore that has happened, or removes one that has not. Call it under the folder's lock. */
export function finishRestore(folder: string): void {
  const ready = join(folder, READY);
  // Removes a restore that was killed before it happened.
  rmSync(join(folder, UNFINISHED), { recursive: true, force: true });
  if (!existsSync(ready)) return;
  const isMoved = (name: string) => !existsSync(join(ready, name));
  // The database moves last: until then all files in the folder are old, except a key that has moved already.
  if (!isMoved(DATABASE)) {
    const aside = join(folder, readFileSync(join(ready, ASIDE_NOTE), 'utf8'));
    const old = readdirSync(folder).filter((name) => INSTANCE_FILE.test(name) && !(name === KEY && isMoved(KEY)));
    if (old.length > 0) mkdirSync(aside, { recursive: true, mode: 0o700 });
    for (const name of old) renameSync(join(folder, name), join(aside, name));
    if (old.length > 0) flush(aside);
    if (!isMoved(KEY)) renameSync(join(ready, KEY), join(folder, KEY));
    flush(folder);
    renameSync(join(ready, DATABASE), join(folder, DATABASE));
    flush(folder);
  }
  rmSync(ready, { recursive: true, force: true });
  flush(folder);
}
