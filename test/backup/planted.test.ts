/** Files and links planted at the target of a backup are neither overwritten nor followed. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFlushed } from '@/backup/encryption.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const bytes = () => new Response('secret').body!;

test('a new file is private, and an existing one stays unchanged', async () => {
  const path = join(folder, 'new');
  expect(await writeFlushed(bytes(), path)).toMatchObject({ bytes: 6 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(writeFlushed(bytes(), path)).rejects.toMatchObject({ code: 'EEXIST' });
});

test('a link is not followed, whether or not its target exists', async () => {
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'kept');
  for (const [name, target] of [
    ['link', victim],
    ['dangling', join(folder, 'nowhere')],
  ] as const) {
    symlinkSync(target, join(folder, name));
    expect(writeFlushed(bytes(), join(folder, name))).rejects.toMatchObject({ code: 'EEXIST' });
  }
  expect(readFileSync(victim, 'utf8')).toBe('kept');
});
