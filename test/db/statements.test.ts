/** Raw statements bind named values, and return what their declaration says. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import { change, longRead, query } from '@/db/statements.ts';
import { openTestDatabase, type TestDatabase } from '../support/database.ts';

let instance: TestDatabase;

beforeAll(async () => {
  instance = await openTestDatabase(systemClock);
});

afterAll(async () => {
  instance.sqlite.close();
  await instance.db.close();
});

const reader = () => instance.db.reader;
const write = <Result>(work: Parameters<typeof instance.db.write<Result>>[1]) => instance.db.write(SYSTEM_ACTOR, work);

const insert = change<{ id: string; name: string }>(
  'INSERT INTO workspaces (id, name, created_at) VALUES (:id, :name, :now)',
);
const nameOf = query.value<string, string>('SELECT name FROM workspaces WHERE id = :id');

test('a value is bound wherever its name stands, in any order', async () => {
  const pair = query.row<{ b: number; a: number; again: number }, { a: number; b: number }>(
    'SELECT :b AS b, :a AS a, :b AS again',
  );
  expect(await pair(reader(), { a: 1, b: 2 })).toEqual({ b: 2, a: 1, again: 2 });
});

test('`:now` in a change is the time of the change', async () => {
  const now = await write(async (unit) => {
    expect(await insert(unit, { id: 'wsp_a', name: 'Ada' })).toBe(1);
    return unit.now;
  });
  const created = query.value<number, string>('SELECT created_at FROM workspaces WHERE id = :id');
  expect([await nameOf(reader(), 'wsp_a'), await created(reader(), 'wsp_a')]).toEqual(['Ada', now]);
});

test('a statement with a missing value is refused and writes nothing', async () => {
  const given = { id: 'wsp_b' } as { id: string; name: string };
  await expect(write((unit) => insert(unit, given))).rejects.toThrow('the value :name is missing');
  const two = query.rows<object, string>('SELECT id FROM workspaces WHERE id = :id AND name = :name');
  await expect(two(reader(), 'wsp_a')).rejects.toThrow('one value is given for several');
  expect(await nameOf(reader(), 'wsp_b')).toBeUndefined();
});

test('a list is bound as a set of ids, and an object as JSON', async () => {
  const among = query.count<readonly string[]>(
    ({ idList }) => `SELECT count(*) FROM workspaces WHERE id IN ${idList(':ids')}`,
  );
  expect([await among(reader(), ['wsp_a', 'wsp_z']), await among(reader(), [])]).toEqual([1, 0]);
  const echo = query.aggregate<string, { data: object }>('SELECT :data');
  expect(await echo(reader(), { data: { a: [1] } })).toBe('{"a":[1]}');
});

test.each([
  ['a query', query],
  ['a long read', longRead],
])('%s returns rows, columns or values as declared, and booleans for columns named so', async (_, from) => {
  const SQL = `SELECT 1 = 1 AS "isTrue", 1 = 2 AS "hasMore", 7 AS seven`;
  expect(await from.rows(SQL)(reader())).toEqual([{ isTrue: true, hasMore: false, seven: 7 }]);
  expect(await from.values('SELECT 1 AS one UNION SELECT 2 ORDER BY 1')(reader())).toEqual([1, 2]);
  const none = 'SELECT 1 AS one WHERE 1 = 2';
  expect(await from.row(none)(reader())).toBeUndefined();
  expect(await from.value(none)(reader())).toBeUndefined();
  expect([await from.exists(none)(reader()), await from.exists(SQL)(reader())]).toEqual([false, true]);
  expect(await from.aggregate('SELECT max(created_at) FROM workspaces WHERE 1 = 2')(reader())).toBeNull();
});
