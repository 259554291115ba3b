/** The list of what only SQLite has names tests that exist. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQLITE_ONLY } from '../support/one-engine.ts';

const ROOT = join(import.meta.dir, '../..');

test('each entry names a folder, a file or a test', () => {
  const unknown = Object.keys(SQLITE_ONLY).filter((entry) => {
    const [path = '', name] = entry.split(/(?<=\.test\.tsx?): /);
    const file = join(ROOT, path);
    return !existsSync(file) || (name !== undefined && !readFileSync(file, 'utf8').includes(name.split(' > ').at(-1)!));
  });
  expect(unknown).toEqual([]);
});
