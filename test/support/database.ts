/** A real database for a test: a file of its own, migrated once a process and copied, gone when the next process comes. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/core/clock.ts';
import { CONNECTION, type Database, type Reader } from '../../src/db/database.ts';
import { migrate } from '../../src/db/sqlite/migrate.ts';
import { openEngine } from '../../src/db/sqlite/engine.ts';
import { openWriter } from '../../src/db/sqlite/pragmas.ts';

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
    const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    sweep(parent);
    folder = mkdtempSync(join(parent, `gatehouse-test-${process.pid}-`));
  }
  return folder;
}

/** Test processes end without a last word, so the next one clears away what those before it have left. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^gatehouse-test-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
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
  const db = await openEngine(openWriter(path), path, { clock, isDurable: false, isServer: false });
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
