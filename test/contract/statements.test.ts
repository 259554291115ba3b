/** Every statement of the store is understood by SQLite and by PostgreSQL. */
import { PGlite } from '@electric-sql/pglite';
import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { POSTGRES_MIGRATIONS } from '@/db/postgres/migrations.ts';
import { migrate } from '@/db/sqlite/migrate.ts';
import type { StoreStatement } from '../support/store-statements.ts';

const TEST = join(import.meta.dir, '..');
const STORE = join(TEST, '../src/store');

const statements: StoreStatement[] = [];
const sources = new Map<string, string>();
const sqlite = new SqliteDatabase(':memory:', { strict: true });
const postgres = new PGlite();

beforeAll(async () => {
  const script = Bun.spawn([process.execPath, join(TEST, 'support/store-statements.ts')], { stdout: 'pipe' });
  statements.push(...((await new Response(script.stdout).json()) as StoreStatement[]));
  for await (const name of new Bun.Glob('*.ts').scan(STORE))
    sources.set(name, await Bun.file(join(STORE, name)).text());
  migrate(sqlite, ':memory:');
});

afterAll(async () => {
  sqlite.close();
  await postgres.close();
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

test('PostgreSQL accepts the schema and prepares every statement', async () => {
  for (const { sql } of POSTGRES_MIGRATIONS) await postgres.exec(sql);
  const refused = [];
  for (const [index, { place, postgres: sql }] of statements.entries())
    try {
      await postgres.exec(`PREPARE statement_${index} AS ${sql}`);
    } catch (error) {
      refused.push({ place, error: String(error), sql });
    }
  expect(refused).toEqual([]);
});
