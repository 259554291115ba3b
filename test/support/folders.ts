/** Data folders with the rows of the fixtures' world, for tests of what moves them. */
import { Database } from 'bun:sqlite';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { makeFixture } from '../fixtures/schemas.ts';
import { FIXTURE_KEY } from '../fixtures/world.ts';

/** Makes a data folder of this binary's schema. @returns its path. */
export function makeDataFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const umask = process.umask(0o077);
  using made = makeFixture(SCHEMA_VERSION);
  made.run('VACUUM INTO ?', [join(path, 'gatehouse.db')]);
  process.umask(umask);
  inFolder(path, (sqlite) => sqlite.run('PRAGMA journal_mode = WAL'));
  writeFileSync(join(path, 'instance.key'), `${Buffer.from(FIXTURE_KEY).toString('base64url')}\n`, { mode: 0o600 });
  return path;
}

/** Runs work on a folder's database, beside whatever else has it open. */
export function inFolder<Result>(path: string, work: (sqlite: Database) => Result): Result {
  using sqlite = new Database(join(path, 'gatehouse.db'), { readwrite: true, strict: true });
  sqlite.run('PRAGMA busy_timeout = 5000');
  return work(sqlite);
}

/** Returns the rows of every table, sorted, so that two databases can be compared. */
export function allRows(path: string, isCompared: (table: string) => boolean): Record<string, string[]> {
  return inFolder(path, (sqlite) => {
    const tables = sqlite
      .query(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .values() as [string][];
    return Object.fromEntries(
      tables
        .map(([name]) => name)
        .filter(isCompared)
        .map((name) => [name, (sqlite.query(`SELECT * FROM ${name}`).values() as unknown[]).map(rowText).sort()]),
    );
  });
}

const rowText = (row: unknown) =>
  JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value));
