/** The drizzle schema and the migrations describe the same database; changing only one of them fails here. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { migrate, SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  /** The position in the primary key, from 1; 0 outside it. */
  readonly keyPosition: number;
}

const sqlite = new SqliteDatabase(':memory:', { strict: true });
migrate(sqlite, ':memory:');

const tables = sqlite
  .query(
    "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
  .all() as { name: string; strict: number }[];

const byName = (left: Column, right: Column) => left.name.localeCompare(right.name);

function migratedColumns(table: string): Column[] {
  const rows = sqlite.query('SELECT name, type, "notnull" AS isRequired, pk FROM pragma_table_info(?)').all(table);
  return (rows as { name: string; type: string; isRequired: number; pk: number }[])
    .map(({ name, type, isRequired, pk }) => ({
      name,
      type,
      // A STRICT table's primary key is never null, although table_info does not say so.
      isNullable: isRequired === 0 && pk === 0,
      keyPosition: pk,
    }))
    .sort(byName);
}

async function drizzleTables(): Promise<Map<string, Column[]>> {
  const folder = join(import.meta.dir, '../../../src/store/schema');
  const found = new Map<string, Column[]>();
  for (const file of new Bun.Glob('*.ts').scanSync(folder))
    for (const exported of Object.values(await import(join(folder, file)))) {
      if (!is(exported, SQLiteTable)) continue;
      const { name, columns, primaryKeys } = getTableConfig(exported);
      const compound = primaryKeys[0]?.columns.map((column) => column.name) ?? [];
      const described = columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        isNullable: !column.notNull && !column.primary,
        keyPosition: column.primary ? 1 : compound.indexOf(column.name) + 1,
      }));
      expect(found.has(name), `${name} is declared once`).toBe(false);
      found.set(name, described.sort(byName));
    }
  return found;
}

const declared = await drizzleTables();

describe('the schema', () => {
  test('declares exactly the tables that the migrations make', () => {
    const advice = 'each table has its migration, and stands in src/store/schema/';
    expect([...declared.keys()].sort(), advice).toEqual(tables.map(({ name }) => name).sort());
    expect(declared.size).toBeGreaterThan(10);
  });

  test.each([...declared.keys()])('has the columns, types, nullability and primary key of %s', (table) => {
    expect(declared.get(table)).toEqual(migratedColumns(table));
  });
});

describe('the migrations', () => {
  test('are all those of the folder, each at its number', () => {
    const files = [...new Bun.Glob('*.sql').scanSync(join(import.meta.dir, '../../../migrations'))].sort();
    expect(files.map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
    expect(files.length, 'import each in src/db/sqlite/migrate.ts').toBe(SCHEMA_VERSION);
  });

  test.each(tables.map(({ name }) => name))('make %s STRICT', (table) => {
    expect(tables.find(({ name }) => name === table)?.strict).toBe(1);
  });

  test('leave no dangling foreign key, in tables or rows', () => {
    const keys = tables.flatMap(
      ({ name }) =>
        sqlite.query('SELECT "table" AS target FROM pragma_foreign_key_list(?)').all(name) as { target: string }[],
    );
    const names = new Set(tables.map(({ name }) => name));
    expect(keys.filter(({ target }) => !names.has(target))).toEqual([]);
    expect(sqlite.query('PRAGMA foreign_key_check').all()).toEqual([]);
  });
});
