/**
 * Locks of a data folder: one server, and one backup, at a time. Each is an exclusive SQLite transaction on a file, whose
 * lock no kill leaves behind.
 */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import { engineErrorKind } from '../errors.ts';
import { PRIVATE_FILE } from './data-folder.ts';
import { chownToOwnerOf } from './file-owner.ts';
import { folderError } from './folder-error.ts';

interface FileLock {
  readonly inode: number;
  release(): void;
}

/** Creates the file where it is missing. @param waitMs for another process. @throws SQLITE_BUSY while one holds it. */
function lockFile(path: string, waitMs = 0): FileLock {
  const lock = new SqliteDatabase(path, { create: true, readwrite: true });
  try {
    lock.run(`PRAGMA busy_timeout = ${waitMs}`);
    lock.run('PRAGMA journal_mode = MEMORY');
    lock.run('BEGIN EXCLUSIVE');
    chmodSync(path, PRIVATE_FILE);
    return { inode: statSync(path).ino, release: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** A command that checks for a server holds the lock for a moment. */
const CHECK_MS = 100;

/** Returns the path of the file that a server keeps locked. */
export function lockPathOf(path: string): string {
  return join(path, 'gatehouse.lock');
}

export interface FolderLock extends Pick<FileLock, 'release'> {
  /** Recreates a deleted lock file. @returns false once another server holds the folder. */
  isHeld(): boolean;
}

/** @param onRecreated called after a deleted lock file was recreated. @throws {StartupError} if a server has it. */
export function lockDataFolder(path: string, onRecreated: () => void = () => {}): FolderLock {
  const lockPath = lockPathOf(path);
  let held = takeLock(path, lockPath);
  return {
    isHeld() {
      try {
        if (statSync(lockPath, { throwIfNoEntry: false })?.ino === held.inode) return true;
        const again = takeLock(path, lockPath);
        held.release();
        held = again;
      } catch (error) {
        // A disk that refuses a new lock file refuses it to every other server too.
        return engineErrorKind((error as Error).cause) !== 'busy';
      }
      onRecreated();
      return true;
    },
    release: () => held.release(),
  };
}

function takeLock(path: string, lockPath: string): FileLock {
  try {
    return lockFile(lockPath, CHECK_MS);
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
      throw new StartupError(
        `${lockPath} is not the lock that Gatehouse made. Remove it while no server runs on this folder, then start again.`,
        { cause },
      );
    if (engineErrorKind(cause) !== 'busy') throw folderError(cause, lockPath) ?? cause;
    throw new StartupError(
      `The data folder ${path} is in use by another running instance. Stop it, or name another folder with --data.`,
      { cause },
    );
  }
}

/** Locks a folder for one backup. @returns null if another backup is running. */
export function lockBackups(folder: string): FileLock | null {
  const path = join(folder, 'backup.lock');
  let lock: FileLock | null = null;
  try {
    lock = lockFile(path);
    chownToOwnerOf(folder, [path]);
    return lock;
  } catch (error) {
    lock?.release();
    if (engineErrorKind(error) === 'busy') return null;
    throw error;
  }
}
