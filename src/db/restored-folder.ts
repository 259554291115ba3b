/**
 * The moment in which a restored database takes the place of another: all or nothing, whenever the process is killed. What is
 * restored is made ready in a folder of its own; once that has its final name, the restore has happened, and whoever opens the
 * data folder next does what is left of it before anything else.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flush } from './flush.ts';
import { giveToOwnerOf } from './folder-owner.ts';

const UNFINISHED = 'restore.unfinished';
const READY = 'restore.ready';
const ASIDE_NOTE = 'aside';
const DATABASE = 'gatehouse.db';
const KEY = 'instance.key';

/** All that belongs to an instance: the database with its log and its copies, and the key. */
const OWN = /^(?:gatehouse\.db.*|instance\.key(?:\.new)?)$/;

/** What may lie in a folder in which there is nothing yet. */
const NOTHING =
  /^(?:gatehouse\.lock.*|backup\.(?:lock|unfinished).*|lost\+found|restore\.unfinished|before-restore-.*)$/;

/** Whether a restore would find anything in the folder. */
export function isFolderEmpty(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).every((name) => NOTHING.test(name));
}

/** An empty folder in which a restore is prepared, with the paths of what belongs into it. */
export function stagingIn(folder: string): { path: string; databasePath: string; keyPath: string; remove(): void } {
  const path = join(folder, UNFINISHED);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
  return {
    path,
    databasePath: join(path, DATABASE),
    keyPath: join(path, KEY),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/**
 * Puts what is in the staging folder in the place of what is there. To be called under the folder's lock.
 *
 * @param aside name of a folder in this one, for what was there before.
 * @returns the path of that, or null where there was nothing.
 */
export function commitRestore(folder: string, aside: string): string | null {
  const staging = join(folder, UNFINISHED);
  writeFileSync(join(staging, ASIDE_NOTE), aside, { flush: true });
  for (const name of [DATABASE, KEY]) flush(join(staging, name));
  flush(staging);
  renameSync(staging, join(folder, READY));
  flush(folder);
  finishRestore(folder);
  const path = join(folder, aside);
  giveToOwnerOf(folder, [path, ...[DATABASE, KEY, 'gatehouse.lock'].map((name) => join(folder, name))]);
  return existsSync(path) ? path : null;
}

/** Whether a restore has happened that was not finished. */
export function isRestorePending(folder: string): boolean {
  return existsSync(join(folder, READY));
}

/** Does what is left of a restore that has happened, and clears away one that has not. To be called under the folder's lock. */
export function finishRestore(folder: string): void {
  const ready = join(folder, READY);
  // One that was killed before it happened.
  rmSync(join(folder, UNFINISHED), { recursive: true, force: true });
  if (!existsSync(ready)) return;
  const isMoved = (name: string) => !existsSync(join(ready, name));
  // The database is moved last: until then whatever stands in the folder is old, but for a key that has been moved already.
  if (!isMoved(DATABASE)) {
    const aside = join(folder, readFileSync(join(ready, ASIDE_NOTE), 'utf8'));
    const old = readdirSync(folder).filter((name) => OWN.test(name) && !(name === KEY && isMoved(KEY)));
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
