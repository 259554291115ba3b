/** Locks a file for one process by an exclusive SQLite transaction, whose lock no kill leaves behind. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { chmodSync, statSync } from 'node:fs';
import { PRIVATE_FILE } from './data-folder.ts';

export interface FileLock {
  readonly inode: number;
  release(): void;
}

/** Creates the file where it is missing. @param waitMs for another process. @throws SQLITE_BUSY while one holds it. */
export function lockFile(path: string, waitMs = 0): FileLock {
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
