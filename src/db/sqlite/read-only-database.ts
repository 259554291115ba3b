/**
 * Opens a read-only connection that changes no byte, leaves no file behind and takes no lock that a writer waits for.
 */
import { statSync } from 'node:fs';
import { CONNECTION } from '../database.ts';
import { createConnection } from './connection.ts';
import { type CheckOptions, checkTables } from './integrity-check.ts';
import { openReadOnly } from './read-only.ts';

export type ReadOnlyDatabase = ReturnType<typeof openReadOnlyDatabase>;

export function openReadOnlyDatabase(path: string) {
  const { sqlite, close } = openReadOnly(path);
  sqlite.run('PRAGMA busy_timeout = 5000');
  return {
    reader: { [CONNECTION]: createConnection(sqlite) },
    bytes: statSync(path).size,
    logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    check: (options: CheckOptions) => checkTables(sqlite, options),
    close,
  };
}
