/** Makes the data folder, keeps it private, and names its files. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs';
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

/** Files of an instance: the key, and the database with its log and its copies. */
export const INSTANCE_FILE = /^(?:instance\.key(?:\.new)?|gatehouse\.db.*)$/;

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

/** @throws {StartupError} for a folder without a database: a wrong --data. */
export function requireDatabase({ path, databasePath }: DataFolder): void {
  if (!existsSync(databasePath)) throw noDatabaseIn(path);
}

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
    .filter((name) => INSTANCE_FILE.test(name))
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
