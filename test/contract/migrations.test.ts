/**
 * Databases of existing installations: a released migration is never edited, and each schema has a fixture that later
 * builds open.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { dumpOf, fixturePath, makeFixture, migrationNames, migrationText } from '../fixtures/schemas.ts';
import released from '../fixtures/released.json' with { type: 'json' };

const COMMAND = 'bun test/fixtures/make.ts';
const known: Record<string, string> = released;

test('every migration is embedded in numerical order', () => {
  const names = migrationNames();
  expect(names).toHaveLength(SCHEMA_VERSION);
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, at) => at + 1));
});

test('a new migration comes with a fixture of its schema', () => {
  const missing = migrationNames()
    .filter((name, at) => known[name] === undefined || !existsSync(fixturePath(at + 1)))
    .map((name) => `${name}: give what it adds believable rows in test/fixtures/world.ts, then run: ${COMMAND}`);
  expect(missing).toEqual([]);
});

test('a released migration is unchanged', () => {
  const edited = Object.entries(known)
    .filter(
      ([name, hash]) =>
        !migrationNames().includes(name) || createHash('sha256').update(migrationText(name)).digest('hex') !== hash,
    )
    .map(
      ([name]) =>
        `${name} was changed, and databases have it already: put it back, and write what is new as another migration. ` +
        `If no release has it yet, delete its line in test/fixtures/released.json and test/fixtures/schema-${name.slice(2, 4)}.sql, then run: ${COMMAND}`,
    );
  expect(edited).toEqual([]);
});

test('a fixture has rows in every table of its schema, and is reproducible', () => {
  for (const [at] of migrationNames().entries()) {
    const sqlite = new Database(':memory:');
    sqlite.run(readFileSync(fixturePath(at + 1), 'utf8'));
    const tables = sqlite
      .query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'")
      .values()
      .flat() as string[];
    expect(tables.filter((table) => sqlite.query(`SELECT 1 FROM ${table} LIMIT 1`).get() === null)).toEqual([]);
    expect(sqlite.query('PRAGMA user_version').values()).toEqual([[at + 1]]);
    sqlite.close();
  }
  expect(dumpOf(makeFixture(SCHEMA_VERSION))).toBe(dumpOf(makeFixture(SCHEMA_VERSION)));
});
