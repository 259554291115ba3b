/** Allows one backup of a data folder at a time. */
import { join } from 'node:path';
import { engineErrorKind } from '../errors.ts';
import { type FileLock, lockFile } from './file-lock.ts';
import { chownToOwnerOf } from './file-owner.ts';

/** @returns null where another backup is under way. */
export function lockBackups(folder: string): FileLock | null {
  const path = join(folder, 'backup.lock');
  try {
    const lock = lockFile(path);
    chownToOwnerOf(folder, [path]);
    return lock;
  } catch (error) {
    if (engineErrorKind(error) === 'busy') return null;
    throw error;
  }
}
