/**
 * Describes the server of a data folder to commands. Its lock proves that it runs, and its note says where. A note
 * without the lock is left from a crash.
 */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from './data-folder.ts';
import { lockPathOf } from './locks.ts';
import { engineErrorKind } from '../errors.ts';
import type { ServerNote, ServerNotes } from '../opened-data.ts';

const notePathOf = (folder: string) => join(folder, 'gatehouse.server.json');

export function serverNotes(folder: string): ServerNotes {
  const path = notePathOf(folder);
  return {
    write(note) {
      writeFileSync(`${path}.new`, `${JSON.stringify(note, null, 2)}\n`, { mode: PRIVATE_FILE });
      renameSync(`${path}.new`, path);
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/** Five times the interval at which a running server checks its lock file. */
const RELOCK_MS = 1000;

/** Waits 1 s if the note exists but the lock file was deleted: a running server recreates its lock file within that. */
export async function waitForRelock(folder: string): Promise<void> {
  if (existsSync(notePathOf(folder)) && !existsSync(lockPathOf(folder))) await Bun.sleep(RELOCK_MS);
}

/** Removes the note of a server that has crashed; the caller must hold the lock. @returns whether there was one. */
export function removeStaleNote(folder: string): boolean {
  const isLeft = existsSync(notePathOf(folder));
  if (isLeft) serverNotes(folder).remove();
  return isLeft;
}

/** @returns null if no server runs. `note` is null while the server starts, or if its version is older. */
export function findServer(folder: string): { readonly note: ServerNote | null } | null {
  if (!isLocked(lockPathOf(folder))) return null;
  try {
    return { note: JSON.parse(readFileSync(notePathOf(folder), 'utf8')) as ServerNote };
  } catch {
    return { note: null };
  }
}

/** Takes the lock briefly; a server that starts in that moment waits. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let lock: SqliteDatabase | undefined;
  try {
    lock = new SqliteDatabase(path, { readonly: true });
    lock.query('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return engineErrorKind(error) === 'busy';
  } finally {
    lock?.close();
  }
}
