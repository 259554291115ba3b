/** PostgreSQL's migrations lead to the same schema as SQLite's. */
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { POSTGRES_MIGRATIONS } from '@/db/postgres/migrations.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { translatedSchema } from '../support/translated-schema.ts';

const FOLDER = join(import.meta.dir, '../../migrations/postgres');

const postgres = new PGlite();

/** Each kind of object, one line per object, without the name of its schema. */
const CATALOGUE = {
  columns: `SELECT table_name || '.' || column_name || ' ' || concat_ws(' ', data_type, collation_name, is_nullable,
      column_default, is_identity, generation_expression)
    FROM information_schema.columns WHERE table_schema = $1`,
  constraints: `SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = $1::regnamespace`,
  indexes: `SELECT replace(indexdef, $1 || '.', '') FROM pg_indexes WHERE schemaname = $1`,
};

async function catalogue(schema: string): Promise<Record<string, string[]>> {
  await postgres.exec(`SET search_path = ${schema}`);
  const found = Object.entries(CATALOGUE).map(async ([kind, sql]) => {
    const { rows } = await postgres.query<string[]>(sql, [schema], { rowMode: 'array' });
    return [kind, rows.flat().sort()] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

beforeAll(async () => {
  await postgres.exec('CREATE SCHEMA migrated; CREATE SCHEMA translated; SET search_path = migrated');
  for (const { sql } of POSTGRES_MIGRATIONS) await postgres.exec(sql);
  await postgres.exec('SET search_path = translated');
  for (const sql of translatedSchema()) await postgres.exec(sql);
});

afterAll(() => postgres.close());

test('every column, constraint and index of SQLite is there with its type, and no other', async () => {
  const migrated = await catalogue('migrated');
  expect(migrated).toEqual(await catalogue('translated'));
  expect(migrated['columns']?.length).toBeGreaterThan(300);
});

test('every text is sorted by its bytes, whatever the locale of the database', async () => {
  const { rows } = await postgres.query(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = 'migrated' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
  );
  expect(rows).toEqual([]);
});

/** Tables of which the store deletes no row. */
const KEPT = ['api_keys', 'applications', 'workspaces'];

test('a foreign key has an index, unless the rows that it refers to stay', async () => {
  const { rows } = await postgres.query<{ key: string; refersTo: string }>(
    `SELECT c.conname AS key, f.relname AS "refersTo" FROM pg_constraint c JOIN pg_class f ON f.oid = c.confrelid
     WHERE c.contype = 'f' AND c.connamespace = 'migrated'::regnamespace AND NOT EXISTS (
       SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1])`,
  );
  expect(rows.filter(({ refersTo }) => !KEPT.includes(refersTo))).toEqual([]);
});

test('every migration is embedded in the order of its number, and the last leads to the schema of SQLite', () => {
  const files = readdirSync(FOLDER).sort();
  expect(POSTGRES_MIGRATIONS.map(({ sql }) => sql)).toEqual(
    files.map((name) => readFileSync(join(FOLDER, name), 'utf8')),
  );
  expect(POSTGRES_MIGRATIONS.map(({ version }) => version)).toEqual(files.map((name) => Number(name.slice(0, 4))));
  expect(POSTGRES_MIGRATIONS.at(-1)?.version).toBe(SCHEMA_VERSION);
});

test('a migration never lets in a binary that the one before it has kept out', () => {
  const limits = POSTGRES_MIGRATIONS.map(({ readableFrom }) => readableFrom);
  expect(limits).toEqual(limits.toSorted((a, b) => a - b));
  expect(POSTGRES_MIGRATIONS.filter(({ version, readableFrom }) => readableFrom > version)).toEqual([]);
});
