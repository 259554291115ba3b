/** Manages the data folder: private permissions, one server at a time, paths of the database and instance key. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import { folderError } from './folder-error.ts';

/** Absolute paths of a data folder. */
export interface DataFolder {
  readonly path: string;
  readonly databasePath: string;
  readonly instanceKeyPath: string;
}

const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;
const ALL_RIGHTS_OF_OTHERS = 0o007;

/** The key, and the database with its log and its copies. */
const SECRET_FILE = /^(?:instance\.key(?:\.new)?|gatehouse\.db.*)$/;

/**
 * Makes the folder if missing, and checks that this user alone can write it. New files in it are private (0600).
 *
 * @throws {StartupError} when it cannot be made or written, or when others could change or read what is in it.
 */
export function openDataFolder(folder: string): DataFolder {
  const paths = pathsIn(folder);
  const { path } = paths;
  process.umask(0o077);
  try {
    mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    if (existsSync(paths.databasePath)) accessSync(paths.databasePath, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw folderError(cause, path) ?? cause;
  }
  refuseOpenToOthers(path);
  return paths;
}

/** Returns a folder's paths without looking at the disk. */
export function pathsIn(folder: string): DataFolder {
  const path = resolve(folder);
  return { path, databasePath: join(path, 'gatehouse.db'), instanceKeyPath: join(path, 'instance.key') };
}

/** Returns the error for a folder that no server has used: a wrong --data. */
export function noDatabaseIn(folder: string): StartupError {
  return new StartupError(`There is no Gatehouse database in ${resolve(folder)}; name its folder with --data.`);
}

/**
 * Refuses a folder that others can write, as they could replace the database, and files that others can read. The
 * folder itself may be readable, as container volumes often are: it shows only names. For root's folders held by group
 * see below.
 */
export function refuseOpenToOthers(path: string): void {
  // Windows has access lists, which the mode does not show.
  if (process.platform === 'win32') return;
  const folder = statSync(path);
  const isByGroup = isOursByGroup(folder);
  if (!isByGroup && folder.mode & WRITABLE_BY_OTHERS)
    throw new StartupError(`Other users can write to the data folder ${path}. Run: chmod go-w ${quoted(path)}`);
  const open = readdirSync(path)
    .filter((name) => SECRET_FILE.test(name))
    .map((name) => join(path, name))
    .filter((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      const forbidden = isByGroup && found?.gid === folder.gid ? ALL_RIGHTS_OF_OTHERS : OPEN_TO_OTHERS;
      return found?.isFile() && found.mode & forbidden;
    });
  if (open.length > 0)
    throw new StartupError(
      `Other users can read or change ${open.join(', ')}. Run: chmod 600 ${open.map(quoted).join(' ')}`,
    );
}

/**
 * Whether an orchestrator gave a non-root container (`fsGroup`) a folder of root, open to a group of the process and
 * closed to others: its only access. In other folders the group may have members who are people.
 */
function isOursByGroup({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): boolean {
  if (uid !== 0 || process.geteuid?.() === 0 || mode & ALL_RIGHTS_OF_OTHERS) return false;
  return gid === process.getegid?.() || process.getgroups?.().includes(gid) === true;
}

/** Quotes a path for a shell. */
export function quoted(path: string): string {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const LOOK_MS = 100;

/** Returns the path of the file that a server keeps locked. */
export function lockPathOf(path: string): string {
  return join(path, 'gatehouse.lock');
}

export interface FolderLock {
  /** Recreates a deleted lock file. @returns false once another server holds the folder. */
  isHeld(): boolean;
  release(): void;
}

/**
 * Locks the folder for one server, by an operating-system lock that no kill leaves behind.
 *
 * @param onRemade called after a deleted lock file was recreated.
 * @throws {StartupError} when another server holds it.
 */
export function lockDataFolder({ path }: Pick<DataFolder, 'path'>, onRemade: () => void = () => {}): FolderLock {
  const lockPath = lockPathOf(path);
  let held = takeLock(path, lockPath);
  return {
    isHeld() {
      try {
        if (statSync(lockPath, { throwIfNoEntry: false })?.ino === held.inode) return true;
        const again = takeLock(path, lockPath);
        held.lock.close();
        held = again;
      } catch (error) {
        // A disk that refuses a new lock file refuses it to every other server too.
        return codeOf((error as Error).cause) !== 'SQLITE_BUSY';
      }
      onRemade();
      return true;
    },
    release: () => held.lock.close(),
  };
}

function takeLock(path: string, lockPath: string): { readonly lock: SqliteDatabase; readonly inode: number } {
  let lock: SqliteDatabase | undefined;
  try {
    lock = new SqliteDatabase(lockPath, { create: true, readwrite: true });
    // A command that checks for a server holds it for a moment.
    lock.run(`PRAGMA busy_timeout = ${LOOK_MS}`);
    lock.run('PRAGMA journal_mode = MEMORY');
    lock.run('BEGIN EXCLUSIVE');
    chmodSync(lockPath, PRIVATE_FILE);
    return { lock, inode: statSync(lockPath).ino };
  } catch (cause) {
    lock?.close();
    const code = codeOf(cause);
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
      throw new StartupError(
        `${lockPath} is not the lock that Gatehouse made. Remove it while no server runs on this folder, then start again.`,
        { cause },
      );
    if (code !== 'SQLITE_BUSY') throw folderError(cause, lockPath) ?? cause;
    throw new StartupError(
      `The data folder ${path} is in use by another running instance. Stop it, or name another folder with --data.`,
      { cause },
    );
  }
}

const codeOf = (error: unknown) => (error as { code?: string } | undefined)?.code;
