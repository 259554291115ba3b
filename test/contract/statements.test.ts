/** Every statement of the store is understood by SQLite and by PostgreSQL. */
import type { SQL } from 'bun';
import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { migratePostgres } from '@/db/postgres/migrate.ts';
import { migrate } from '@/db/sqlite/migrate.ts';
import { type EmptyDatabases, emptyDatabases } from '../support/empty-postgres.ts';
import type { StoreStatement } from '../support/store-statements.ts';

const TEST = join(import.meta.dir, '..');
const STORE = join(TEST, '../src/store');

const statements: StoreStatement[] = [];
const sources = new Map<string, string>();
const sqlite = new SqliteDatabase(':memory:', { strict: true });
let databases: EmptyDatabases;
let postgres: SQL;

beforeAll(async () => {
  const script = Bun.spawn([process.execPath, join(TEST, 'support/store-statements.ts')], { stdout: 'pipe' });
  statements.push(...((await new Response(script.stdout).json()) as StoreStatement[]));
  for await (const name of new Bun.Glob('*.ts').scan(STORE))
    sources.set(name, await Bun.file(join(STORE, name)).text());
  migrate(sqlite, ':memory:');
  databases = await emptyDatabases();
  postgres = (await databases.create()).client();
  await migratePostgres(postgres, { binaryVersion: '0' });
});

afterAll(async () => {
  sqlite.close();
  await databases.drop();
});

/** Each call that declares or builds a statement. */
const DECLARATION =
  /^(?!\s*(?:\*|\/|import)).*?\b(?:(?:query|longRead|change)\.\w+|change|note|prepared|cachedRow|uncachedRow|longReadOf)[<(]/gm;

test('each statement of the store is found, whether declared or built at each use', () => {
  const found = Map.groupBy(statements, ({ place }) => place.split(':')[0] ?? '');
  const declared = [...sources].map(([name, source]) => ({ name, count: source.match(DECLARATION)?.length ?? 0 }));
  expect(declared.filter(({ name, count }) => (found.get(name)?.length ?? 0) < count)).toEqual([]);
  expect(declared.filter(({ count }) => count > 0).length).toBeGreaterThan(30);
});

test('names with capitals are quoted, since PostgreSQL lowercases others', () => {
  expect(statements.filter(({ postgres: sql }) => /\b(?:AS|GROUP BY|ORDER BY) [a-z]+[A-Z]/.test(sql))).toEqual([]);
});

test('SQLite prepares every statement', () => {
  const refused = statements.flatMap(({ place, sqlite: sql }) => {
    try {
      sqlite.prepare(sql).finalize();
      return [];
    } catch (error) {
      return [{ place, error: String(error), sql }];
    }
  });
  expect(refused).toEqual([]);
});

test('PostgreSQL prepares every statement', async () => {
  const refused = [];
  for (const [index, { place, postgres: sql }] of statements.entries())
    try {
      await postgres.unsafe(`PREPARE statement_${index} AS ${sql}`);
    } catch (error) {
      refused.push({ place, error: String(error), sql });
    }
  expect(refused).toEqual([]);
});

/** Columns that sort although they may be NULL, and the condition by which no NULL meets another row. */
const SORTED_NULLS = [
  'sessions.ts: revoked_at',
  'sessions.ts: s.id',
  'address-search.ts: workspace_id',
  'address-search.ts: email',
];

test('no statement sorts by a column that may be NULL: PostgreSQL has NULLs last, SQLite first', () => {
  const nullable = sqlite
    .query(
      `SELECT m.name AS "table", x.name AS column FROM sqlite_schema m JOIN pragma_table_info(m.name) x
       WHERE m.type = 'table' AND x."notnull" = 0 AND x.pk = 0`,
    )
    .all() as { table: string; column: string }[];
  const sorted = statements.flatMap(({ place, sqlite: sql }) => {
    const tables = [...sql.matchAll(/\b(?:FROM|JOIN|UPDATE) "?(\w+)/gi)].map(([, table]) => table);
    const outer = [...sql.matchAll(/\bLEFT JOIN "?\w+"? (\w+)/gi)].map(([, alias]) => `${alias}.`);
    return [...sql.matchAll(/\bORDER BY ([\w"., ]+)/gi)]
      .flatMap(([, keys = '']) => keys.replaceAll('"', '').split(','))
      .filter((key) => !key.includes(' IS '))
      .map((key) => key.trim().split(' ')[0] ?? '')
      .filter(
        (key) =>
          outer.some((alias) => key.startsWith(alias)) ||
          nullable.some(({ table, column }) => tables.includes(table) && column === key.split('.').at(-1)),
      )
      .map((key) => `${place.split(':')[0]}: ${key}`);
  });
  expect([...new Set(sorted)].filter((one) => !SORTED_NULLS.includes(one))).toEqual([]);
});
