/** Untrusted table files: excessive ones are refused before anything is shown. */
import { expect, test } from 'bun:test';
import { readTable, UnreadableFile } from '@/console/views/import/read-table.ts';

const tableOf = (name: string, text: string) => readTable(new File([text], name));

test.each([
  ['users.csv', `a@example.com${','.repeat(2000)}`],
  ['users.json', JSON.stringify(Array.from({ length: 2000 }, (_, index) => ({ [`c${index}`]: 'x' })))],
])('a table with thousands of columns is refused: %s', async (name, text) => {
  const problem = await tableOf(name, text).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(UnreadableFile);
  expect((problem as Error).message).toContain('columns');
});

test('names of Object.prototype are ordinary column names', async () => {
  const text = '[{"__proto__":{"email":"a@example.com"},"constructor":"x","toString":"y"}]';
  const { columns, rows } = await tableOf('users.json', text);
  expect(columns).toEqual(['email', 'constructor', 'toString']);
  expect(rows).toEqual([{ line: 1, cells: ['a@example.com', 'x', 'y'] }]);
});
