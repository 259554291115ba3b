/** The data folder: made with private permissions, held by one server at a time, home of the database and instance key. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartupError } from '../core/startup-error.ts';

/** The paths of a data folder, all absolute. */
export interface DataFolder {
  readonly path: string;
  readonly databasePath: string;
  readonly instanceKeyPath: string;
}

const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/** The key, and the database with its log and its copies. */
const SECRET_FILE = /^(?:instance\.key(?:\.new)?|gatehouse\.db.*)$/;

/**
 * Makes the folder where it does not exist and checks that it can be written, and by nobody else. New files in it are
 * private (0600).
 *
 * @throws {StartupError} when it cannot be made or written, or when others could change or read what is in it.
 */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  process.umask(0o077);
  try {
    mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const database = join(path, 'gatehouse.db');
    if (existsSync(database)) accessSync(database, constants.R_OK | constants.W_OK);
  } catch (cause) {
    if (statSync(path, { throwIfNoEntry: false })?.isFile())
      throw new StartupError(`The data folder ${path} is a file; name a folder with --data.`, { cause });
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw new StartupError(
      `The data folder ${path} cannot be written (${code}). Give this user write access to it, or name another with --data.`,
      { cause },
    );
  }
  refuseOpenToOthers(path);
  return { path, databasePath: join(path, 'gatehouse.db'), instanceKeyPath: join(path, 'instance.key') };
}

/**
 * Whoever may write the folder could put another database in place of ours, and whoever may read the database or its key
 * could read all that is in it. Reading the folder itself tells names only, and volumes of containers are often so.
 */
function refuseOpenToOthers(path: string): void {
  // There permissions are lists, of which the mode says nothing.
  if (process.platform === 'win32') return;
  const modeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if (modeOf(path) & WRITABLE_BY_OTHERS)
    throw new StartupError(`Other users can write to the data folder ${path}. Run: chmod go-w ${quoted(path)}`);
  const open = readdirSync(path)
    .filter((name) => SECRET_FILE.test(name))
    .map((name) => join(path, name))
    .filter((file) => modeOf(file) & OPEN_TO_OTHERS);
  if (open.length > 0)
    throw new StartupError(
      `Other users can read or change ${open.join(', ')}. Run: chmod 600 ${open.map(quoted).join(' ')}`,
    );
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * Holds the folder for one server. The lock is an operating-system lock on a file, taken through SQLite, so a killed
 * process never leaves it behind.
 *
 * @throws {StartupError} when another server holds it.
 */
export function lockDataFolder({ path }: DataFolder): { release(): void } {
  const lockPath = join(path, 'gatehouse.lock');
  let lock: SqliteDatabase | undefined;
  try {
    lock = new SqliteDatabase(lockPath, { create: true, readwrite: true });
    lock.run('PRAGMA journal_mode = MEMORY');
    lock.run('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    const { code } = cause as { code?: string };
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
      throw new StartupError(
        `${lockPath} is not the lock that Gatehouse made. Remove it while no server runs on this folder, then start again.`,
        { cause },
      );
    if (code !== 'SQLITE_BUSY') throw cause;
    throw new StartupError(
      `The data folder ${path} is in use by another running instance. Stop it, or name another folder with --data.`,
      { cause },
    );
  }
  chmodSync(lockPath, PRIVATE_FILE);
  const held = lock;
  return { release: () => held.close() };
}
