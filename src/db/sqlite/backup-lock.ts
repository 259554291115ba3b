/** Allows one backup of a data folder at a time, by an operating-system lock, which no kill leaves behind. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from './data-folder.ts';
import { engineErrorKind } from '../errors.ts';
import { chownToOwnerOf } from './file-owner.ts';

/** @returns null where another backup is under way. */
export function lockBackups(folder: string): { release(): void } | null {
  const path = join(folder, 'backup.lock');
  const lock = new SqliteDatabase(path, { create: true, readwrite: true });
  try {
    lock.run('PRAGMA journal_mode = MEMORY');
    lock.run('BEGIN EXCLUSIVE');
    chmodSync(path, PRIVATE_FILE);
    chownToOwnerOf(folder, [path]);
  } catch (error) {
    lock.close();
    if (engineErrorKind(error) === 'busy') return null;
    throw error;
  }
  return { release: () => lock.close() };
}
