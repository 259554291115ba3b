/** The id under which an instance holds leases. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '@/core/random.ts';
import { openLeaseHolder } from '@/db/sqlite/lease-holder.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-holder-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function folderNamed(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

test('the lease holder is the same at each start on a data folder, and differs between folders', () => {
  const [one, other] = [folderNamed('one'), folderNamed('other')];
  const holder = openLeaseHolder(one, systemRandom);
  expect(openLeaseHolder(one, systemRandom)).toBe(holder);
  expect(openLeaseHolder(other, systemRandom)).not.toBe(holder);
});

test('the lease holder is recreated if its file is empty, and a folder that takes no file does not fail the start', () => {
  const cut = folderNamed('cut');
  writeFileSync(join(cut, 'gatehouse.holder'), '');
  const holder = openLeaseHolder(cut, systemRandom);
  expect(holder).toHaveLength(12);
  expect(openLeaseHolder(cut, systemRandom)).toBe(holder);
  expect(openLeaseHolder(join(folder, 'missing'), systemRandom)).toHaveLength(12);
});
