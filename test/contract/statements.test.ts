/** Raw statements of the store keep to what SQLite and PostgreSQL both understand, where that costs nothing. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';

const STORE = join(import.meta.dir, '../../src/store');

const lines = await Array.fromAsync(new Bun.Glob('**/*.ts').scan(STORE), async (path) =>
  (await Bun.file(join(STORE, path)).text()).split('\n').map((line, at) => ({ place: `${path}:${at + 1}`, line })),
).then((files) => files.flat().filter(({ line }) => !/^\s*(?:\/?\*|\/\/)/.test(line)));

const where = (pattern: RegExp) => lines.filter(({ line }) => pattern.test(line)).map(({ place }) => place);

test('names with capitals stand in quotes: PostgreSQL makes small letters of others', () => {
  expect(where(/\b(?:AS|GROUP BY|ORDER BY) [a-z]+[A-Z]/)).toEqual([]);
});

test.each([
  ['iif(), but CASE', /\biif\(/i],
  ['ifnull(), but coalesce()', /\bifnull\(/i],
  ['INSERT OR REPLACE, but ON CONFLICT', /\bINSERT OR\b/i],
])('none says %s', (_, pattern) => {
  expect(where(pattern)).toEqual([]);
});
