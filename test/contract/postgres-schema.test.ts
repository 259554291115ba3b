/** PostgreSQL's migrations lead to the same schema as SQLite's. */
import type { SQL } from 'bun';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { POSTGRES_MIGRATIONS } from '@/db/postgres/migrations.ts';
import { POSTGRES_SCHEMA_VERSION } from '@/db/postgres/schema-version.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { migrationNames, migrationText } from '../fixtures/schemas.ts';
import { type EmptyDatabases, emptyDatabases } from '../support/empty-postgres.ts';
import { translatedSchema } from '../support/translated-schema.ts';

let databases: EmptyDatabases;
let postgres: SQL;

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
  await postgres.unsafe(`SET search_path = ${schema}`);
  const found: Record<string, string[]> = {};
  for (const [kind, sql] of Object.entries(CATALOGUE))
    found[kind] = ((await postgres.unsafe(sql, [schema]).values()) as string[][]).flat().sort();
  return found;
}

beforeAll(async () => {
  databases = await emptyDatabases();
  postgres = (await databases.create()).client();
  await postgres.unsafe('CREATE SCHEMA migrated; CREATE SCHEMA translated; SET search_path = migrated');
  for (const { sql } of POSTGRES_MIGRATIONS) await postgres.unsafe(sql);
  await postgres.unsafe('SET search_path = translated');
  for (const sql of translatedSchema()) await postgres.unsafe(sql);
});

afterAll(() => databases.drop());

test('every column, constraint and index of SQLite is there with its type, and no other', async () => {
  const migrated = await catalogue('migrated');
  expect(migrated).toEqual(await catalogue('translated'));
  expect(migrated['columns']?.length).toBeGreaterThan(300);
});

test('every text is sorted by its bytes, whatever the locale of the database', async () => {
  const rows = await postgres.unsafe(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = 'migrated' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
  );
  expect([...rows]).toEqual([]);
});

/** Tables of which the store deletes no row. */
const KEPT = ['api_keys', 'applications', 'workspaces'];

test('a foreign key has an index, unless the rows that it refers to stay', async () => {
  const rows: { key: string; refersTo: string }[] = await postgres.unsafe(
    `SELECT c.conname AS key, f.relname AS "refersTo" FROM pg_constraint c JOIN pg_class f ON f.oid = c.confrelid
     WHERE c.contype = 'f' AND c.connamespace = 'migrated'::regnamespace AND NOT EXISTS (
       SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1])`,
  );
  expect(rows.filter(({ refersTo }) => !KEPT.includes(refersTo))).toEqual([]);
  const store = join(import.meta.dir, '../../src/store');
  for await (const name of new Bun.Glob('*.ts').scan(store))
    expect(await Bun.file(join(store, name)).text()).not.toMatch(
      /DELETE FROM (?:api_keys|applications|workspaces)\b|\.delete\((?:apiKeys|applications|workspaces)\)/,
    );
});

test('every migration since the baseline is embedded, PostgreSQL’s own file before the shared one', () => {
  const own = migrationNames('postgres');
  const shared = migrationNames().filter((name) => name > (own[0] ?? ''));
  const numberOf = (name: string) => name.slice(0, 4);
  const files = [
    ...own.map((name) => ({ name, text: migrationText(join('postgres', name)) })),
    ...shared
      .filter((name) => !own.some((other) => numberOf(other) === numberOf(name)))
      .map((name) => ({ name, text: migrationText(name) })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
  expect(POSTGRES_MIGRATIONS.map(({ version }) => version)).toEqual(files.map(({ name }) => Number(numberOf(name))));
  expect(POSTGRES_MIGRATIONS.map(({ sql }) => sql)).toEqual(files.map(({ text }) => text));
  expect(POSTGRES_SCHEMA_VERSION).toBe(SCHEMA_VERSION);
});

test('a migration never lets in a binary that the one before it has kept out', () => {
  const limits = POSTGRES_MIGRATIONS.map(({ readableFrom }) => readableFrom);
  expect(limits).toEqual(limits.toSorted((a, b) => a - b));
  expect(POSTGRES_MIGRATIONS.filter(({ version, readableFrom }) => readableFrom > version)).toEqual([]);
});
