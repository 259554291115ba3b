/**
 * Tells commands about the server of a data folder: its lock proves that it runs, its note describes it. A note without
 * the lock is left from a crash.
 */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from './data-folder.ts';
import { lockPathOf } from './locks.ts';
import { engineErrorKind } from '../errors.ts';

/** Note of a running server, readable by its own user only. */
export interface ServerNote {
  readonly pid: number;
  /** Public URL, without a trailing slash. */
  readonly url: string;
  /** URL on this machine, which bypasses any proxy. */
  readonly localUrl: string;
  /** In epoch milliseconds. */
  readonly startedAt: number;
  readonly version: string;
  readonly schemaVersion: number;
  /** New at each start, so that a command knows which server it has reached. */
  readonly instanceId: string;
  /** Secret by which the server recognises a command of its own machine. */
  readonly pass: string;
  /** Host and port of the mail server; null where mail stays in the outbox. */
  readonly mailServer: string | null;
  /** Given settings by variable; secrets are hidden. */
  readonly settings: Readonly<Record<string, string>>;
}

const notePathOf = (folder: string) => join(folder, 'gatehouse.server.json');

/** Writes the note atomically. */
export function writeServerNote(folder: string, note: ServerNote): void {
  const path = notePathOf(folder);
  writeFileSync(`${path}.new`, `${JSON.stringify(note, null, 2)}\n`, { mode: PRIVATE_FILE });
  renameSync(`${path}.new`, path);
}

export function removeServerNote(folder: string): void {
  rmSync(notePathOf(folder), { force: true });
}

/** A running server checks its lock file five times in this time. */
const RELOCK_MS = 1000;

/** Waits 1 s where a note exists without its lock file, which a server that still runs recreates meanwhile. */
export async function waitForRelock(folder: string): Promise<void> {
  if (existsSync(notePathOf(folder)) && !existsSync(lockPathOf(folder))) await Bun.sleep(RELOCK_MS);
}

/** Removes the note of a server that has crashed; the caller must hold the lock. @returns whether there was one. */
export function removeStaleNote(folder: string): boolean {
  const isLeft = existsSync(notePathOf(folder));
  if (isLeft) removeServerNote(folder);
  return isLeft;
}

/** @returns null where no server runs. `note` is null for one that is starting, or of an earlier version. */
export function findServer(folder: string): { readonly note: ServerNote | null } | null {
  if (!isLocked(lockPathOf(folder))) return null;
  try {
    return { note: JSON.parse(readFileSync(notePathOf(folder), 'utf8')) as ServerNote };
  } catch {
    return { note: null };
  }
}

/** Takes the lock for a moment; a server that starts just then waits. */
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
