/** Opens the SQLite file with the settings the product relies on; each pragma stands with its reason. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { background } from './background.ts';
import type { Database, DatabaseSize } from './database.ts';
import { logDurability, noDurability } from './durability.ts';
import { databaseFigures, type SlowStatements } from './figures.ts';
import { flush } from './flush.ts';
import { openFiles } from './open-files.ts';
import { remembered as remember } from './remembered.ts';
import { noSnapshot, shortSnapshot } from './snapshot.ts';
import { createDatabase, type SqliteEngine } from './sqlite.ts';
import { wholeCheck } from './whole-check.ts';

const LOG_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Litestream reads the log, folds it into the database, and reads what came in between from the end that the next beginning has
 * left in the file. Whoever cuts the file there, or folds the log at the wrong moment, takes away what was not read yet: the copy is
 * damaged and nobody knows (seen, with the limit above). Its folder stays where it does not run any more.
 */
export function isCopiedByLitestream(path: string): boolean {
  return existsSync(join(dirname(path), `.${basename(path)}-litestream`));
}

/** A connection as every part of the product opens it, for migrations first. @param isDurable false where the folder is thrown away. */
export function openSqlite(path: string, { isDurable = true } = {}): SqliteDatabase {
  const sqlite = new SqliteDatabase(path, { create: true, readwrite: true, strict: true });
  // Another process (setup-link, backup) may hold the write lock for a moment.
  sqlite.run('PRAGMA busy_timeout = 5000');
  // Readers never wait for the writer.
  sqlite.run('PRAGMA journal_mode = WAL');
  // What is written before the server runs, such as a migration, is flushed by SQLite itself.
  sqlite.run(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}`);
  // Off by default in SQLite.
  sqlite.run('PRAGMA foreign_keys = ON');
  // What is wiped or deleted leaves no bytes in the file, nor in the log once that is folded. Not to be measured for a mail that
  // is sent; 40 µs for each page that a deletion frees.
  sqlite.run('PRAGMA secure_delete = ON');
  tune(sqlite);
  if (isCopiedByLitestream(path)) {
    sqlite.run('PRAGMA wal_autocheckpoint = 0');
    sqlite.run('PRAGMA journal_size_limit = -1');
  }
  return sqlite;
}

function tune(sqlite: SqliteDatabase): void {
  // A look-up among a million sessions: 83 µs through the 2 MB page cache, 7 µs mapped. They take 1.4 GB; SQLite maps 2 at most.
  sqlite.run('PRAGMA mmap_size = 2147483648');
  // After a burst the write-ahead log is cut back instead of keeping its largest size for ever.
  sqlite.run(`PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`);
  sqlite.run('PRAGMA temp_store = MEMORY');
}

export interface EngineOptions extends Pick<SqliteEngine, 'probe' | 'damage' | 'onRefusal' | 'onLoss' | 'onLogLeft'> {
  readonly clock: Clock;
  /** False only where the folder is thrown away on exit: nothing is flushed then. */
  readonly isDurable: boolean;
  /**
   * A server's: a thread for checkpoints and long reads, and one snapshot for the reads of a moment. Without, SQLite makes checkpoints as it
   * commits, and each read is of its very moment.
   */
  readonly isServer: boolean;
  /** Told of statements that take long; without, none is timed. */
  readonly slow?: SlowStatements;
  /** Whether this server still holds its folder; asked several times a second. */
  readonly isFolderHeld?: () => boolean;
}

/** Makes a migrated connection the writer of a database, and opens what goes beside it. */
export async function openEngine(
  writer: SqliteDatabase,
  path: string,
  { clock, isDurable, isServer, slow, isFolderHeld = () => true, ...told }: EngineOptions,
): Promise<Database> {
  forgetStatistics(writer);
  // The queue asks again by itself: waiting here would hold the loop.
  writer.run('PRAGMA busy_timeout = 0');
  // Flushing is the durability's affair; NORMAL keeps the order of log and database.
  writer.run(`PRAGMA synchronous = ${isDurable ? 'NORMAL' : 'OFF'}`);
  if (isServer) {
    // The log is folded off the loop, and cut bit by bit.
    writer.run('PRAGMA wal_autocheckpoint = 0');
    writer.run('PRAGMA journal_size_limit = -1');
  }
  const reader = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  reader.run('PRAGMA query_only = ON');
  tune(reader);
  // The log exists from the first read on, and its name in the folder must outlive a power cut as well.
  reader.query('SELECT count(*) FROM sqlite_schema').get();
  if (isDurable) flush(dirname(path));
  const remembered = remember(writer);
  const figures = databaseFigures();
  const thread = isServer ? background(path) : null;
  await thread?.begin();
  const files = openFiles(path, isServer ? isFolderHeld : null);
  const durability = isDurable
    ? await logDurability({ logPath: `${path}-wal`, secure: () => secure(path), files, figures })
    : noDurability(files);
  return createDatabase({
    writer,
    reader,
    clock,
    durability,
    figures,
    ...(slow && { slow }),
    thread,
    remembered,
    files,
    isFoldedByOthers: () => isCopiedByLitestream(path),
    check: () => wholeCheck(path),
    ...told,
    measure: () => measure(path, reader),
    // A test changes rows behind the product's back, and reads them through it in the same turn.
    snapshotOn: isServer ? shortSnapshot : noSnapshot,
  });
}

/**
 * Without counts of rows the planner takes every table for a large one, which statements are written for, and keeps to one plan
 * for each (https://www.sqlite.org/queryplanner-ng.html#qpstab). With them, tried on 60,000 rows a table, 17 of 726 statements
 * got another plan: some walked over all counters of a limit, or over everybody's keys. So nothing here runs ANALYZE or
 * PRAGMA optimize, and what another program has left of it is taken away.
 */
function forgetStatistics(writer: SqliteDatabase): void {
  for (const table of ['sqlite_stat1', 'sqlite_stat4']) writer.run(`DROP TABLE IF EXISTS ${table}`);
}

async function measure(path: string, reader: SqliteDatabase): Promise<DatabaseSize> {
  const [file, disk] = await Promise.all([stat(path).catch(() => null), statfs(dirname(path)).catch(() => null)]);
  const { free } = reader
    .query('SELECT freelist_count * page_size AS free FROM pragma_freelist_count, pragma_page_size')
    .get() as { free: number };
  return { bytes: file?.size ?? 0, reusableBytes: free, freeBytes: disk && disk.bavail * disk.bsize };
}

/** Moves the whole log into the database file and flushes that. @throws where anything of it was refused. */
async function secure(path: string): Promise<void> {
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  try {
    sqlite.run('PRAGMA synchronous = FULL');
    const result = sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    if (result.busy !== 0) throw new Error('the log could not be folded into the database yet');
  } finally {
    sqlite.close();
  }
}
