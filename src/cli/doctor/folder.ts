/** Checks the data folder: existence, permissions, file system and free space. */
import { accessSync, constants, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bytesText } from '../../core/quantities.ts';
import { StartupError } from '../../core/startup-error.ts';
import { refuseOpenToOthers } from '../../db/sqlite/data-folder.ts';
import { type FileSystem, fileSystemOf } from '../../db/sqlite/file-system.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { DoctorContext } from './context.ts';

const LEAST_BYTES = 128 * 2 ** 20;
const LITTLE_BYTES = 2 ** 30;
/** Disk space is needed for a copy before an upgrade and for a backup on the same disk. */
const COPIES = 2;
const READABLE_BY_OTHERS = 0o055;

export function folderFindings(context: DoctorContext, fileSystem = readFileSystem(context.folder)): Finding[] {
  const { folder } = context;
  const { fail } = findingsOf('data folder');
  if (isOpenToUs(folder))
    return [...fileSystemFindings(folder, fileSystem), ...permissionFindings(folder), ...diskSpaceFindings(context)];
  const uid = ownerOf(folder);
  if (uid === null && isMissing(folder))
    return fail(`${folder} does not exist.`, 'Name the folder of the server with --data, or start a server on it.');
  if (uid !== null && isFile(folder)) return fail(`${folder} is a file.`, 'Name the folder of the server with --data.');
  const who = uid === null ? 'the user of the server' : `user ${uid}`;
  const command = uid === null ? 'sudo -u USER' : `sudo -u '#${uid}'`;
  return fail(
    `${folder} is not readable by this user.`,
    `Run this as ${who}: ${command} gatehouse doctor --data ${folder}`,
  );
}

function readFileSystem(folder: string): FileSystem | null {
  try {
    return fileSystemOf(folder);
  } catch {
    return null;
  }
}

/** Returns whether this user can list the folder; no other check of it works without that. */
export function isOpenToUs(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function ownerOf(folder: string): number | null {
  try {
    return statSync(folder).uid;
  } catch {
    return null;
  }
}

function isFile(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isFile() === true;
}

function isMissing(folder: string): boolean {
  try {
    statSync(folder);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EACCES';
  }
}

/** Returns the network file system warning, which a starting server prints too; null when the disk is local. */
export function networkFileSystemWarning(folder: string, fileSystem = readFileSystem(folder)): string | null {
  if (fileSystem?.kind !== 'network') return null;
  return (
    `${folder} is on a network file system (${fileSystem.type}), whose locks and flushes are unreliable: ` +
    'the database can be damaged there. Move it to a local disk.'
  );
}

function fileSystemFindings(folder: string, fileSystem: FileSystem | null): Finding[] {
  const { ok, warn, fail } = findingsOf('data folder');
  if (fileSystem === null) return ok(`${folder}; its file system is unknown.`);
  const { type, kind } = fileSystem;
  const moved = 'Stop the server, move the folder to a local disk, and name it with --data.';
  if (kind === 'network')
    return fail(`${folder} is on a network file system (${type}): the database can be damaged there.`, moved);
  if (kind === 'shared')
    return warn(`${folder} is shared from another system (${type}): its locks may not work.`, moved);
  if (kind === 'fleeting' && /^(?:tmpfs|ramfs)$/.test(type))
    return warn(`${folder} is in memory (${type}): a restart of the machine deletes it.`, moved);
  if (kind === 'fleeting')
    return warn(`${folder} is on ${type}: it is deleted with the container.`, 'Mount a volume there.');
  return ok(`${folder}, on ${type}.`);
}

function permissionFindings(folder: string): Finding[] {
  const { ok, warn, fail } = findingsOf('permissions');
  if (process.platform === 'win32') return [];
  try {
    refuseOpenToOthers(folder);
  } catch (error) {
    if (!(error instanceof StartupError)) return fail(`${folder} cannot be listed.`, 'Run this as the server’s user.');
    const [message = '', command] = error.message.split(/ (?=Run: )/);
    return fail(message, `${command ?? 'Close it to others'}.`);
  }
  const { uid, mode } = statSync(folder);
  const strangers = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.uid ?? uid) !== uid);
  if (strangers.length > 0)
    return fail(
      `${strangers.length === 1 ? 'A file' : 'Files'} in it belong${strangers.length === 1 ? 's' : ''} to another user than the folder: ${strangers.slice(0, 3).join(', ')}.`,
      `Run: chown --reference=${folder} ${strangers.slice(0, 3).join(' ')}`,
    );
  if (mode & READABLE_BY_OTHERS)
    return warn('Other users can list its files, but not read them.', `Run: chmod 700 ${folder}`);
  return ok('Only their owner can read the folder and its files.');
}

function diskSpaceFindings({ folder, databasePath }: DoctorContext): Finding[] {
  const { ok, warn, fail } = findingsOf('disk');
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const size = statSync(databasePath, { throwIfNoEntry: false })?.size ?? 0;
  const left = `${bytesText(free)} are free, next to a database of ${bytesText(size)}`;
  const more = 'Free some space, or move the data folder to a larger disk.';
  if (free < LEAST_BYTES) return fail(`${left}: soon every change is refused.`, more);
  if (free < LITTLE_BYTES || free < COPIES * size)
    return warn(`${left}: too little for an upgrade’s copy and a backup.`, more);
  return ok(`${left}.`);
}
