/** Every raw read of the store gives the same rows, of the same types and in the same order, in both engines. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { SQL } from 'bun';
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { join } from 'node:path';
import type { SqlValue } from '@/db/connection.ts';
import { execute } from '@/db/postgres/driver.ts';
import { migratePostgres } from '@/db/postgres/migrate.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { makeFixture } from '../fixtures/schemas.ts';
import { type EmptyDatabases, emptyDatabases } from '../support/empty-postgres.ts';
import { sampleValues } from '../support/sample-values.ts';
import type { StoreStatement } from '../support/store-statements.ts';

/** Combinations of values that each statement runs with. */
const RUNS = 12;

const sqlite = makeFixture(SCHEMA_VERSION);
let databases: EmptyDatabases;
let postgres: SQL;
let statements: StoreStatement[];

beforeAll(async () => {
  const script = join(import.meta.dir, '../support/store-statements.ts');
  const child = Bun.spawn([process.execPath, script], { stdout: 'pipe' });
  statements = (await new Response(child.stdout).json()) as StoreStatement[];
  databases = await emptyDatabases();
  const database = await databases.create();
  await migratePostgres(database.client(), { binaryVersion: '0' });
  // Rows of one table may refer to later ones; only the superuser may put off that check.
  postgres = database.client('superuser');
  await postgres.unsafe('SET session_replication_role = replica');
  await copyRows(sqlite, postgres);
});

afterAll(async () => {
  sqlite.close();
  await databases.drop();
});

async function copyRows(from: SqliteDatabase, to: SQL): Promise<void> {
  const tables = from
    .query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'")
    .values() as [string][];
  for (const [table] of tables) {
    const columns = from.query(`SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`).values().flat();
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, at) => `$${at + 1}`).join(', ')})`;
    for (const row of from.query(`SELECT ${columns.join(', ')} FROM ${table}`).values())
      await execute(to, text, row as SqlValue[]);
  }
}

/** SQL of each engine, with the names of its values in the order of their first mention. */
function reads(): (StoreStatement & { readonly names: readonly string[] })[] {
  return (
    statements
      .filter(({ sqlite: sql }) => /^\s*(?:SELECT|WITH)\b/.test(sql) && !/\b(?:INSERT|UPDATE|DELETE)\b|\?/.test(sql))
      // Each engine reads a clock of its own.
      .filter(({ sqlite: sql }) => !sql.includes('unixepoch'))
      .map((statement) => ({
        ...statement,
        names: [...new Set([...statement.sqlite.matchAll(/(?<![:\w]):([a-z]\w*)/gi)].map(([, name = '']) => name))],
      }))
  );
}

/** Names of columns that are booleans in both engines, but numbers before the store has read them from SQLite. */
const IS_BOOLEAN = /^(?:is|has)[A-Z]/;

/** Lists the columns' values; rows without an order are sorted. */
function comparable(rows: readonly object[], sql: string): unknown[] {
  const lists = rows.map((row) =>
    Object.entries(row)
      // Each engine has its own cursor over rows in the order of insertion.
      .filter(([name]) => name !== 'position')
      .map(([name, value]) =>
        value instanceof Uint8Array
          ? Buffer.from(value).toString('hex')
          : IS_BOOLEAN.test(name)
            ? Boolean(value)
            : value,
      ),
  );
  return sql.includes('ORDER BY') ? lists : lists.map((list) => JSON.stringify(list)).sort();
}

test('every read gives the same rows in both engines', async () => {
  const samplesOf = sampleValues(sqlite);
  const differing: unknown[] = [];
  const withRows = new Set<string>();
  for (const { place, sqlite: sql, postgres: text, names } of reads()) {
    const prepared = sqlite.prepare<object, Record<string, SqlValue>>(sql);
    for (let run = 0; run < RUNS; run += 1) {
      const values = names.map((name, at) => {
        const samples = samplesOf(name, sql);
        return samples[(run * (at + 1) + at) % samples.length] ?? null;
      });
      const inSqlite = comparable(
        prepared.all(Object.fromEntries(names.map((name, at) => [name, values[at] ?? null]))),
        sql,
      );
      const inPostgres = await execute(postgres, text, values).then(({ rows }) => comparable(rows, sql), String);
      if (inSqlite.length > 0) withRows.add(place);
      if (!Bun.deepEquals(inSqlite, inPostgres)) differing.push({ place, values, inSqlite, inPostgres });
    }
    prepared.finalize();
  }
  expect(differing).toEqual([]);
  // Rows that are compared, not only their absence.
  expect(withRows.size).toBeGreaterThan(80);
});
