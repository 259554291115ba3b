/** A real database for a test: its own file, copied from one that is migrated once per process. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/core/clock.ts';
import { CONNECTION, type Database, type Reader } from '../../src/db/database.ts';
import { migrate } from '../../src/db/sqlite/migrate.ts';
import { openEngine } from '../../src/db/sqlite/engine.ts';
import { openWriter } from '../../src/db/sqlite/pragmas.ts';
import { ENGINE } from './engine.ts';
import { leaseDatabase } from './postgres-instances.ts';
import { scratchFolder } from './scratch-folder.ts';

export interface TestDatabase {
  readonly db: Database;
  /** The test's own connection to the same file, to read and insert rows. */
  readonly sqlite: SqliteDatabase;
  readonly path: string;
}

let folder: string | undefined;
let migrated: Uint8Array | undefined;
let count = 0;

/** Returns a file with the current schema and no rows. */
export function freshDatabaseFile(): string {
  if (migrated === undefined) {
    const template = new SqliteDatabase(':memory:', { strict: true });
    migrate(template, ':memory:');
    migrated = template.serialize();
    template.close();
  }
  folder ??= scratchFolder('gatehouse-test');
  const path = join(folder, `${(count += 1)}.db`);
  writeFileSync(path, migrated);
  return path;
}

export async function openTestDatabase(clock: Clock): Promise<TestDatabase> {
  if (ENGINE === 'postgres') {
    const { db, rows, url } = await leaseDatabase(clock);
    return { db, sqlite: rows as unknown as SqliteDatabase, path: url };
  }
  const path = freshDatabaseFile();
  const db = await openEngine(openWriter(path), path, { clock, isDurable: false, isServer: false });
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  sqlite.run('PRAGMA busy_timeout = 1000');
  sqlite.run('PRAGMA synchronous = OFF');
  sqlite.run('PRAGMA foreign_keys = ON');
  return { db, sqlite, path };
}

/** Returns a reader that counts its statements. */
export function countingReader(reader: Reader): { reader: Reader; count(): number } {
  const connection = reader[CONNECTION];
  let statements = 0;
  const enter = () => {
    statements += 1;
    connection.enter();
  };
  return { reader: { [CONNECTION]: { ...connection, enter } }, count: () => statements };
}
