/**
 * Opens read-only connections. They change neither the file nor its log, leave no new files, and take no lock that a
 * writer waits for.
 */
import { constants, Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, rmSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { CONNECTION } from '../database.ts';
import { createConnection } from './connection.ts';
import { type CheckOptions, checkTables } from './integrity-check.ts';

const READ_ONLY_URI = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;

/** Reads the log too, which may hold more than the file; the index that needs is removed at the end. */
export function openReadOnly(path: string): { readonly sqlite: SqliteDatabase } & Disposable {
  const index = `${path}-shm`;
  const hadIndex = existsSync(index);
  // Without a log, `immutable` stops SQLite from creating one.
  const sqlite = existsSync(`${path}-wal`)
    ? new SqliteDatabase(path, { readonly: true, strict: true })
    : new SqliteDatabase(`${pathToFileURL(path).href}?immutable=1`, READ_ONLY_URI);
  return {
    sqlite,
    [Symbol.dispose]() {
      sqlite.close();
      if (!hadIndex) rmSync(index, { force: true });
    },
  };
}

export type ReadOnlyDatabase = ReturnType<typeof openReadOnlyDatabase>;

/** Opens a database for a command that runs while its server does. */
export function openReadOnlyDatabase(path: string) {
  const opened = openReadOnly(path);
  const { sqlite } = opened;
  sqlite.run('PRAGMA busy_timeout = 5000');
  return {
    reader: { [CONNECTION]: createConnection(sqlite) },
    bytes: statSync(path).size,
    logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    check: (options: CheckOptions) => checkTables(sqlite, options),
    close: () => opened[Symbol.dispose](),
  };
}
