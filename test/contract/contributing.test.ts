/** Holds the index of CONTRIBUTING.md to the files and names in it. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');
const text = await Bun.file(join(ROOT, 'CONTRIBUTING.md')).text();
const [, table = ''] = /## Where is …\n\n\|.*\n\|.*\n((?:\|.*\n)+)/.exec(text) ?? [];
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, behaviour = '', file = '', name = '']) => ({ behaviour, file, name }));

test('the index names at least thirty behaviours, each once', () => {
  const behaviours = rows.map(({ behaviour }) => behaviour);
  expect(behaviours.length).toBeGreaterThanOrEqual(30);
  expect(new Set(behaviours).size).toBe(behaviours.length);
});

test.each(rows)('the index finds "$behaviour" in $file', async ({ file, name }) => {
  const source = await Bun.file(join(ROOT, file)).text();
  expect(source).toMatch(new RegExp(`\\b${name}\\b`));
});

test('every file that CONTRIBUTING.md names exists', async () => {
  const prose = text.replace(/```.*?```/gs, '');
  const named = [...prose.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:tsx?|json|md|sql))`/g)].map(([, path = '']) => path);
  const roots = ['', 'src/', 'src/modules/', 'src/pages/'];
  const missing = [];
  for (const path of new Set(named)) {
    const found = await Promise.all(roots.map((root) => Bun.file(join(ROOT, root, path)).exists()));
    if (!found.includes(true)) missing.push(path);
  }
  expect(missing).toEqual([]);
});
