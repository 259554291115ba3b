/** A command alongside a server on the same folder finds it, and never upgrades its database. */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerNote } from '@/db/opened-data.ts';
import { findServer, removeStaleNote, serverNotes } from '@/db/sqlite/running-server.ts';
import { lockDataFolder } from '@/db/sqlite/locks.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { openData } from '@/dependencies.ts';

const root = mkdtempSync(join(tmpdir(), 'gatehouse-beside-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
async function madeFolder(): Promise<string> {
  const folder = join(root, `${(count += 1)}`);
  await (await openData(folder, { isDurable: false })).close();
  return folder;
}

const NOTE: ServerNote = {
  pid: 4711,
  url: 'https://auth.example.com',
  localUrl: 'http://127.0.0.1:8080',
  startedAt: 1,
  version: '0.0.9',
  schemaVersion: SCHEMA_VERSION - 1,
  instanceId: 'id',
  pass: 'pass',
  mailServer: null,
  settings: {},
};

describe('a server on a folder', () => {
  test('is found with its note only while it holds the lock, even if files are left', async () => {
    const folder = await madeFolder();
    expect(findServer(folder)).toBeNull();
    const lock = lockDataFolder(folder);
    expect(findServer(folder)).toEqual({ note: null });
    serverNotes(folder).write(NOTE);
    expect(findServer(folder)).toEqual({ note: NOTE });
    expect(statSync(join(folder, 'gatehouse.server.json')).mode & 0o777).toBe(0o600);
    lock.release();
    expect(findServer(folder)).toBeNull();
    expect([removeStaleNote(folder), removeStaleNote(folder)]).toEqual([true, false]);
  });

  test('is found even if its note is corrupt', async () => {
    const folder = await madeFolder();
    const lock = lockDataFolder(folder);
    writeFileSync(join(folder, 'gatehouse.server.json'), '{"pid":');
    expect(findServer(folder)).toEqual({ note: null });
    lock.release();
  });
});

describe('a command of a newer binary', () => {
  async function older(): Promise<{ folder: string; bytes: () => string }> {
    const folder = await madeFolder();
    const path = join(folder, 'gatehouse.db');
    const sqlite = new Database(path);
    sqlite.run(`PRAGMA user_version = ${SCHEMA_VERSION - 1}`);
    sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
    sqlite.close();
    return { folder, bytes: () => Bun.SHA256.hash(readFileSync(path), 'hex') };
  }

  test('upgrades nothing alongside a running server, and names its version', async () => {
    const { folder, bytes } = await older();
    const before = bytes();
    const lock = lockDataFolder(folder);
    const open = () => openData(folder, { isServer: false });
    await expect(open()).rejects.toThrow(
      /a server that says nothing of itself holds it, .* Wait, or restart it with this binary/,
    );
    serverNotes(folder).write(NOTE);
    await expect(open()).rejects.toThrow(/is of version 0\.0\.9, process 4711\. Restart it/);
    expect(bytes()).toBe(before);
    lock.release();
  });

  test('upgrades nothing without a server either, since only its start does', async () => {
    const { folder, bytes } = await older();
    const before = bytes();
    await expect(openData(folder, { isServer: false })).rejects.toThrow(/Start the server once with this binary/);
    expect(bytes()).toBe(before);
  });
});
