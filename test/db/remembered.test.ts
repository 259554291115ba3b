/** Rows kept in memory are never older than what is committed. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import type { Database } from '@/db/database.ts';
import { openEngine, openSqlite } from '@/db/open.ts';
import { tablesChangedBy } from '@/db/remembered.ts';
import { rawByHash, rawChange, rawNote } from '@/db/statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-remembered-'));
const opened: Database[] = [];
afterAll(async () => {
  for (const db of opened) await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const hash = new Uint8Array([1, 2, 3]);
const find = rawByHash<{ name: string; seen: number }>(
  'SELECT p.name, k.seen FROM keys k JOIN people p ON p.id = k.person WHERE k.hash = +?',
);
const rename = rawChange<[string]>('UPDATE people SET name = ?');
const addOther = rawChange<[string]>('INSERT INTO others (name) VALUES (?)');
const drop = rawChange<[]>('DELETE FROM keys');
const noteSeen = rawNote<[number]>('UPDATE keys SET seen = ?');

describe.each([
  ['a server’s database', true],
  ['a database without threads', false],
])('of %s, a remembered row', (_, isServer) => {
  let db: Database;
  let path: string;
  let count = 0;

  beforeEach(async () => {
    path = join(folder, `${isServer}-${(count += 1)}.db`);
    const sqlite = openSqlite(path, { isDurable: false });
    sqlite.run('CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)');
    sqlite.run('CREATE TABLE keys (hash BLOB UNIQUE, person INTEGER, seen INTEGER)');
    sqlite.run('CREATE TABLE others (name TEXT)');
    sqlite.run("INSERT INTO people VALUES (1, 'Ada')");
    sqlite.run("INSERT INTO keys VALUES (x'010203', 1, 0)");
    db = await openEngine(sqlite, path, { clock: systemClock, isDurable: false, isServer });
    opened.push(db);
  });

  test('is the same one until something changes', async () => {
    const first = await find(db.reader, hash);
    await db.write(SYSTEM_ACTOR, (unit) => addOther(unit, 'x'));
    expect(first).toEqual({ name: 'Ada', seen: 0 });
    expect(await find(db.reader, hash)).toBe(first);
  });

  test('is read anew once any table that it was read from has changed', async () => {
    await find(db.reader, hash);
    await db.write(SYSTEM_ACTOR, (unit) => rename(unit, 'Grace'));
    expect(await find(db.reader, hash)).toMatchObject({ name: 'Grace' });
    await db.write(SYSTEM_ACTOR, (unit) => drop(unit));
    expect(await find(db.reader, hash)).toBeUndefined();
  });

  test('is nobody’s inside a change: a change sees what it has changed', async () => {
    await find(db.reader, hash);
    const inside = await db.write(SYSTEM_ACTOR, async (unit) => {
      await rename(unit, 'Grace');
      return find(unit, hash);
    });
    expect(inside).toMatchObject({ name: 'Grace' });
  });

  test('of a change that is rolled back is never remembered', async () => {
    const failed = db.write(SYSTEM_ACTOR, async (unit) => {
      await rename(unit, 'Grace');
      await find(unit, hash);
      throw new Error('on purpose');
    });
    expect(failed).rejects.toThrow('on purpose');
    await failed.catch(() => {});
    expect(await find(db.reader, hash)).toMatchObject({ name: 'Ada' });
  });

  test('stays through a note of when something was last seen', async () => {
    const first = await find(db.reader, hash);
    await db.write(SYSTEM_ACTOR, (unit) => noteSeen(unit, 5));
    expect(await find(db.reader, hash)).toBe(first);
  });

  test('is read anew after another process has changed anything', async () => {
    await find(db.reader, hash);
    const other = new SqliteDatabase(path);
    other.run("UPDATE people SET name = 'Grace'");
    other.close();
    // The snapshot of a moment ends with any change of this process, and by itself after a few milliseconds.
    await db.write(SYSTEM_ACTOR, (unit) => addOther(unit, 'x'));
    expect(await find(db.reader, hash)).toMatchObject({ name: 'Grace' });
  });
});

test.each([
  ['insert into "users" ("id") values (?) returning "id"', ['users']],
  ['INSERT OR IGNORE INTO grants (a) SELECT id FROM roles r JOIN scopes s ON 1', ['grants', 'roles', 'scopes']],
  ['UPDATE sessions SET updated_at = ? WHERE id IN (SELECT id FROM members)', ['sessions', 'members']],
  ['delete from "api_keys" where 1', ['api_keys']],
  ['INSERT INTO a (b) VALUES (1) ON CONFLICT DO UPDATE SET b = 2', ['a', 'set']],
  ['SELECT updated_at, deleted_at FROM users', null],
  ['PRAGMA data_version', null],
])('%p touches %p', (sql, tables) => {
  expect(tablesChangedBy(sql)).toEqual(tables);
});
