/** A database file opened so that it can only be read: not a byte of it and of its log is changed, and no file beside it stays. */
import { constants, Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const READ_ONLY_URI = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;

/** The log may hold more than the file; reading it makes an index beside it, which is taken away again. */
export function openAsItIs(path: string): { readonly sqlite: SqliteDatabase; close(): void } {
  const index = `${path}-shm`;
  const hadIndex = existsSync(index);
  // Without a log the file is all there is, and SQLite is told so: it makes no file beside it then.
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
