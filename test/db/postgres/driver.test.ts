/** Values as the driver binds and returns them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { SQL } from 'bun';
import { type Bindable, execute } from '@/db/postgres/driver.ts';
import { postgresDialect } from '@/db/postgres/dialect.ts';
import { type EmptyDatabases, emptyDatabases } from '../../support/empty-postgres.ts';

let databases: EmptyDatabases;
let sql: SQL;

beforeAll(async () => {
  databases = await emptyDatabases();
  sql = (await databases.create()).client();
});

afterAll(() => databases.drop());

const run = async (text: string, ...values: Bindable[]) => (await execute(sql, text, values)).rows;

test('a text with NUL, as in a hostile cursor, is compared and matches nothing', async () => {
  const text = "SELECT n FROM (VALUES (1), (2)) v (n) WHERE CAST(n AS text) = $1 OR 'b' < $1";
  expect(await run(text, '1\0')).toEqual([]);
  expect(await run('SELECT 1 AS n WHERE $1 = ANY ($2)', 'x', { type: 'TEXT', items: ['x\0', 'y'] })).toEqual([]);
});

test('a text that no UTF-8 can encode is bound with a replacement', async () => {
  expect(await run('SELECT CAST($1 AS text) AS text', 'a\ud800b')).toEqual([{ text: 'a\ufffdb' }]);
});

test('a list of ids is bound as its JSON text', async () => {
  const text = `SELECT id FROM (VALUES ('a'), ('b'), ('c')) v (id) WHERE id IN ${postgresDialect.idList('$1')} ORDER BY id`;
  expect(await run(text, '["a","c"]')).toEqual([{ id: 'a' }, { id: 'c' }]);
});

test('counts, times and sums cast to bigint are numbers', async () => {
  const text = 'SELECT count(*) AS count, CAST(sum(n) AS bigint) AS sum, $1 + 1 AS time FROM (VALUES (1), (2)) v (n)';
  expect(await run(text, 1_790_000_000_000)).toEqual([{ count: 2, sum: 3, time: 1_790_000_000_001 }]);
});
