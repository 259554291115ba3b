/** Opens a database read-only: changes no byte of the file or its log, and leaves no new file beside it. */
import { constants, Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const READ_ONLY_URI = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;

/** Reads the log too, which may hold more than the file; the index that needs is removed on close. */
export function openReadOnly(path: string): { readonly sqlite: SqliteDatabase; close(): void } {
  const index = `${path}-shm`;
  const hadIndex = existsSync(index);
  // Without a log, `immutable` keeps SQLite from creating a file beside it.
  const sqlite = existsSync(`${path}-wal`)
    ? new SqliteDatabase(path, { readonly: true, strict: true })
    : new SqliteDatabase(`${pathToFileURL(path).href}?immutable=1`, READ_ONLY_URI);
  return {
    sqlite,
    close() {
      sqlite.close();
      if (!hadIndex) rmSync(index, { force: true });
    },
  };
}
