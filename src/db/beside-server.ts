/**
 * What a command learns of the server that runs on a data folder: that it runs, which the operating system's lock says, and what
 * it says of itself in a note beside that. A note without the lock is what a crash has left.
 */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartupError } from '../core/startup-error.ts';
import { lockPathOf, PRIVATE_FILE } from './data-folder.ts';
import { engineTrouble } from './engine-error.ts';
import { SCHEMA_VERSION, schemaVersionOf } from './migrate.ts';

/** What a server writes down of itself while it runs; for its own user alone. */
export interface ServerNote {
  readonly pid: number;
  /** Where people reach it, without a trailing slash. */
  readonly url: string;
  /** Where this machine reaches it, whatever stands before it. */
  readonly localUrl: string;
  /** In epoch milliseconds. */
  readonly startedAt: number;
  readonly version: string;
  readonly schemaVersion: number;
  /** Another one at each start: by it a command knows whom it has reached. */
  readonly instanceId: string;
  /** By it the server knows a command of its own machine. */
  readonly pass: string;
  /** Host and port of the mail server; null where mail stays in the outbox. */
  readonly mailServer: string | null;
  /** The settings that were given, by variable; secrets are hidden. */
  readonly settings: Readonly<Record<string, string>>;
}

const notePathOf = (folder: string) => join(folder, 'gatehouse.server.json');

/** Whole, or not at all. */
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

/**
 * Waits a second where a server's note exists without its lock file. The file was then deleted, and a server that still runs
 * makes it anew in that time.
 */
export async function letServerRelock(folder: string): Promise<void> {
  if (existsSync(notePathOf(folder)) && !existsSync(lockPathOf(folder))) await Bun.sleep(RELOCK_MS);
}

/**
 * Takes away what a server has left that did not come to its end in order, so that nobody goes by it. For whoever holds the lock.
 *
 * @returns whether there was such a note.
 */
export function takeLeftNote(folder: string): boolean {
  const isLeft = existsSync(notePathOf(folder));
  if (isLeft) removeServerNote(folder);
  return isLeft;
}

/** @returns null where no server runs there; `note` is null where it says nothing: earlier versions do, and one that is starting. */
export function findServer(folder: string): { readonly note: ServerNote | null } | null {
  if (!isLocked(lockPathOf(folder))) return null;
  try {
    return { note: JSON.parse(readFileSync(notePathOf(folder), 'utf8')) as ServerNote };
  } catch {
    return { note: null };
  }
}

/** Takes the lock for a reading moment: a server that starts just then waits for that. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let lock: SqliteDatabase | undefined;
  try {
    lock = new SqliteDatabase(path, { readonly: true });
    lock.query('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return engineTrouble(error) === 'busy';
  } finally {
    lock?.close();
  }
}

/**
 * Commands beside a server bring no database to another schema: a server of an earlier version may be using it.
 *
 * @throws {StartupError} where the database has an earlier schema than this binary's.
 */
export function requirePresentSchema(folder: string, databasePath: string): void {
  const version = schemaVersionOf(databasePath);
  if (version >= SCHEMA_VERSION) return;
  const server = findServer(folder);
  const which = `The database in ${resolve(folder)} has schema ${version}, this binary knows ${SCHEMA_VERSION}`;
  if (server === null)
    throw new StartupError(
      `${which}. Start the server once with this binary, which upgrades the database and keeps a copy. Nothing was changed.`,
    );
  const { note } = server;
  if (note === null)
    throw new StartupError(
      `${which}: a server that says nothing of itself holds it, of an earlier version or upgrading it just now. Wait, or restart it ` +
        'with this binary, which upgrades the database and keeps a copy. Nothing was changed.',
    );
  throw new StartupError(
    `${which}: the server that runs on it is of version ${note.version}, process ${note.pid}. Restart it with this binary, which ` +
      'upgrades the database and keeps a copy; or use the binary that it was started with. Nothing was changed.',
  );
}
