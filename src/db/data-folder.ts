/** The data folder: made with private permissions, held by one server at a time, home of the database and instance key. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartupError } from '../core/startup-error.ts';
import { folderTrouble } from './folder-trouble.ts';

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
const ALL_RIGHTS_OF_OTHERS = 0o007;

/** The key, and the database with its log and its copies. */
const SECRET_FILE = /^(?:instance\.key(?:\.new)?|gatehouse\.db.*)$/;

/**
 * Makes the folder where it does not exist and checks that it can be written, and by nobody else. New files in it are
 * private (0600).
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
    throw folderTrouble(cause, path) ?? cause;
  }
  refuseOpenToOthers(path);
  return paths;
}

/** Where everything of a folder lies; nothing is looked at. */
export function pathsIn(folder: string): DataFolder {
  const path = resolve(folder);
  return { path, databasePath: join(path, 'gatehouse.db'), instanceKeyPath: join(path, 'instance.key') };
}

/** Of a folder that a command was given and no server has used: a wrong --data. */
export function noDatabaseIn(folder: string): StartupError {
  return new StartupError(`There is no Gatehouse database in ${resolve(folder)}; name its folder with --data.`);
}

/**
 * Whoever may write the folder could put another database in place of ours, and whoever may read the database or its key
 * could read all that is in it. Reading the folder itself tells names only, and volumes of containers are often so. So are
 * folders of root that a container has by its group alone: there the group's rights are this process's own, see below.
 */
export function refuseOpenToOthers(path: string): void {
  // There permissions are lists, of which the mode says nothing.
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
 * What an orchestrator hands to a container that does not run as root (`fsGroup`): a folder of root, given to a group of the
 * process, closed to all others. The group is then the only way in, and root could do as it likes anyway. A folder of our own
 * needs no group, and one of somebody else is theirs: there a group may have members who are people.
 */
function isOursByGroup({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): boolean {
  if (uid !== 0 || process.geteuid?.() === 0 || mode & ALL_RIGHTS_OF_OTHERS) return false;
  return gid === process.getegid?.() || process.getgroups?.().includes(gid) === true;
}

/** As a shell takes it. */
export function quoted(path: string): string {
  return /^[\w./:@%+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const LOOK_MS = 100;

/** The file in a data folder that its server keeps locked. */
export function lockPathOf(path: string): string {
  return join(path, 'gatehouse.lock');
}

/** The hold of one server on its folder. */
export interface FolderLock {
  /** Makes a deleted lock file anew. @returns false once another server holds the folder. */
  isHeld(): boolean;
  release(): void;
}

/**
 * Holds the folder for one server. The lock is an operating-system lock on a file, taken through SQLite, so a killed
 * process never leaves it behind.
 *
 * @param onRemade called where the file was deleted and made anew.
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
    // A command that looks whether a server runs holds it for a moment.
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
    if (code !== 'SQLITE_BUSY') throw folderTrouble(cause, lockPath) ?? cause;
    throw new StartupError(
      `The data folder ${path} is in use by another running instance. Stop it, or name another folder with --data.`,
      { cause },
    );
  }
}

const codeOf = (error: unknown) => (error as { code?: string } | undefined)?.code;
