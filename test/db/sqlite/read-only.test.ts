import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReadOnlyDatabase } from '@/db/sqlite/read-only.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-database-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = join(folder, 'gatehouse.db');
const sqlite = new Database(path, { create: true });
sqlite.run('PRAGMA journal_mode = WAL');
sqlite.run('CREATE TABLE small (id INTEGER PRIMARY KEY)');
sqlite.run('CREATE TABLE large (id INTEGER PRIMARY KEY)');
sqlite.run('INSERT INTO small VALUES (1)');
sqlite.run('INSERT INTO large VALUES (900000000)');
sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
sqlite.close();

function checked(withinMs: number) {
  const database = openReadOnlyDatabase(path);
  const check = database.check({ withinMs, isThorough: false });
  let next = check.next();
  while (!next.done) next = check.next();
  database.close();
  return next.value;
}

test('a table that exceeds the time limit is skipped and named; without a limit none is', () => {
  expect(checked(10_000)).toEqual({ problems: [], checked: 1, leftOut: ['large'] });
  expect(checked(Infinity)).toEqual({ problems: [], checked: 2, leftOut: [] });
});

test('no file is left next to the database', () => {
  const database = openReadOnlyDatabase(path);
  database.close();
  expect(readdirSync(folder)).toEqual(['gatehouse.db']);
});
