/** A real database for a test: a file of its own, migrated once a process and copied, gone when the process ends. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/core/clock.ts';
import { CONNECTION, type Database, type Reader } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openEngine, openSqlite } from '../../src/db/open.ts';

export interface TestDatabase {
  readonly db: Database;
  /** A connection of the test's own to the same file, to look at rows and to put them there. */
  readonly sqlite: SqliteDatabase;
  readonly path: string;
}

let folder: string | undefined;
let migrated: Uint8Array | undefined;
let count = 0;

/** In memory where the machine has such a file system: thousands of files are made, and none is kept. */
function testFolder(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-test-'));
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
    folder = made;
  }
  return folder;
}

/** The file of a database with the present schema and no rows. */
export function freshDatabaseFile(): string {
  if (migrated === undefined) {
    const template = new SqliteDatabase(':memory:', { strict: true });
    migrate(template, ':memory:');
    migrated = template.serialize();
    template.close();
  }
  const path = join(testFolder(), `${(count += 1)}.db`);
  writeFileSync(path, migrated);
  return path;
}

export async function openTestDatabase(clock: Clock): Promise<TestDatabase> {
  const path = freshDatabaseFile();
  const db = await openEngine(openSqlite(path), path, { clock, isDurable: false, isServer: false });
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  sqlite.run('PRAGMA busy_timeout = 1000');
  sqlite.run('PRAGMA synchronous = OFF');
  sqlite.run('PRAGMA foreign_keys = ON');
  return { db, sqlite, path };
}

/** A reader that counts its statements. */
export function countingReader(reader: Reader): { reader: Reader; count(): number } {
  const connection = reader[CONNECTION];
  let statements = 0;
  const enter = () => {
    statements += 1;
    connection.enter();
  };
  return { reader: { [CONNECTION]: { ...connection, enter } }, count: () => statements };
}
