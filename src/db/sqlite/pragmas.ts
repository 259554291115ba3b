/** Opens connections to the database file with the pragmas that the product relies on, each with its reason. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const LOG_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Whether Litestream copies the database, by its folder, which stays after it has stopped. It checkpoints the log and
 * then reads on from the old end: truncating or checkpointing the log ourselves corrupts its replica silently (seen,
 * with the limit above).
 */
export function isCopiedByLitestream(path: string): boolean {
  return existsSync(join(dirname(path), `.${basename(path)}-litestream`));
}

/** Opens the writer, for migrations first. @param isDurable false for a temporary folder. */
export function openWriter(path: string, { isDurable = true } = {}): SqliteDatabase {
  const sqlite = new SqliteDatabase(path, { create: true, readwrite: true, strict: true });
  // Another process (setup-link, backup) may hold the write lock for a moment.
  sqlite.run('PRAGMA busy_timeout = 5000');
  // Readers never wait for the writer.
  sqlite.run('PRAGMA journal_mode = WAL');
  // SQLite itself flushes writes made before the server runs, such as a migration.
  sqlite.run(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}`);
  // Off by default in SQLite.
  sqlite.run('PRAGMA foreign_keys = ON');
  // Erases deleted bytes from the file, and from the log once it is checkpointed. Costs 40 µs per freed page; not
  // measurable for a mail that is sent.
  sqlite.run('PRAGMA secure_delete = ON');
  tune(sqlite);
  if (isCopiedByLitestream(path)) {
    sqlite.run('PRAGMA wal_autocheckpoint = 0');
    sqlite.run('PRAGMA journal_size_limit = -1');
  }
  return sqlite;
}

/** Prepares a migrated writer for the queue. @param isServer whether a background thread checkpoints the log. */
export function prepareForQueue(writer: SqliteDatabase, isDurable: boolean, isServer: boolean): void {
  dropStatistics(writer);
  // The queue retries itself: waiting here would block the event loop.
  writer.run('PRAGMA busy_timeout = 0');
  // `durability.ts` flushes; NORMAL keeps the order of log and database.
  writer.run(`PRAGMA synchronous = ${isDurable ? 'NORMAL' : 'OFF'}`);
  if (!isServer) return;
  // The background thread checkpoints the log, and the writer truncates it bit by bit.
  writer.run('PRAGMA wal_autocheckpoint = 0');
  writer.run('PRAGMA journal_size_limit = -1');
}

/** Opens a connection for reads, which creates the log where there is none. */
export function openReader(path: string): SqliteDatabase {
  const reader = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  reader.run('PRAGMA query_only = ON');
  tune(reader);
  reader.query('SELECT count(*) FROM sqlite_schema').get();
  return reader;
}

function tune(sqlite: SqliteDatabase): void {
  // A lookup among a million sessions (1.4 GB) takes 83 µs through the 2 MB page cache, 7 µs mapped; SQLite maps 2 GB
  // at most.
  sqlite.run('PRAGMA mmap_size = 2147483648');
  // Truncates the log after a burst; otherwise it keeps its largest size.
  sqlite.run(`PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`);
  sqlite.run('PRAGMA temp_store = MEMORY');
}

/**
 * Drops the planner's statistics; nothing here runs ANALYZE or PRAGMA optimize. Without them the planner takes every
 * table for a large one, as the statements expect, and keeps plans (https://sqlite.org/queryplanner-ng.html#qpstab).
 * With them, on 60,000 rows a table, 17 of 726 statements changed plan: some scanned all keys, or a limit's counters.
 */
function dropStatistics(writer: SqliteDatabase): void {
  for (const table of ['sqlite_stat1', 'sqlite_stat4']) writer.run(`DROP TABLE IF EXISTS ${table}`);
}

/** Checkpoints the whole log and flushes the database file. @throws where anything of it was refused. */
export async function checkpointAndFlush(path: string): Promise<void> {
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  try {
    sqlite.run('PRAGMA synchronous = FULL');
    const result = sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    if (result.busy !== 0) throw new Error('the log could not be folded into the database yet');
  } finally {
    sqlite.close();
  }
}
