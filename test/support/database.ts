/** A real database for a test: its own file, copied from one that is migrated once per process. */
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
  /** The test's own connection to the same file, to read and insert rows. */
  readonly sqlite: SqliteDatabase;
  readonly path: string;
}

let folder: string | undefined;
let migrated: Uint8Array | undefined;
let count = 0;

/** Returns a folder in memory where possible: tests make thousands of files and keep none. */
function testFolder(): string {
  if (folder === undefined) {
    const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    sweep(parent);
    folder = mkdtempSync(join(parent, `gatehouse-test-${process.pid}-`));
  }
  return folder;
}

/** Removes folders of ended processes: a test process cannot clean up when it is killed. */
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

/** Returns a file with the current schema and no rows. */
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
