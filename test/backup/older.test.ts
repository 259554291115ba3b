/** A backup by a newer binary of a folder that an older one serves, and of folders without anything to back up. */
import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_LOCKS } from '@/backup/encryption.ts';
import { restoreBackup } from '@/backup/restore.ts';
import { startBackup } from '@/backup/run.ts';
import { openData } from '@/dependencies.ts';
import { inspectBackup } from '@/db/sqlite/backup.ts';
import { findInstance } from '@/db/sqlite/find-instance.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { writeFixture } from '../fixtures/schemas.ts';
import { FIXTURE_KEY, FIXTURE_MARK } from '../fixtures/world.ts';
import { emptyFolder } from '../support/binary.ts';

setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const OLD = 5;
const ACCESS = { endpoint: null, region: null, accessKeyId: null, secretAccessKey: null };
let folders = 0;

/** A data folder of a schema whose servers did not bind the database to their key. */
function unboundFolder(): { folder: string; database: string; key: string } {
  const folder = join(scratch.path, `data-${(folders += 1)}`);
  mkdirSync(folder, { mode: 0o700 });
  const [database, key] = [join(folder, 'gatehouse.db'), join(folder, 'instance.key')];
  writeFixture(OLD, database);
  const sqlite = new Database(database);
  sqlite.run('PRAGMA application_id = 0');
  sqlite.close();
  writeFileSync(key, `${Buffer.from(FIXTURE_KEY).toString('base64url')}\n`);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
  return { folder, database, key };
}

async function backUp(folder: string): Promise<string> {
  const path = join(scratch.path, `backup-${(folders += 1)}.db`);
  const target = { kind: 'disk', path } as const;
  const order = { dataFolder: folder, target, isReplacing: false, access: ACCESS, locks: NO_LOCKS, keep: null };
  await startBackup({ ...order, now: 1_700_000_000_000, version: '0.0.0-test' }).done;
  return path;
}

test('a folder from before keys were bound is backed up alongside its server and restored completely', async () => {
  const { folder, database, key } = unboundFolder();
  // Keeps it open with a WAL, as its server does.
  const serving = new Database(database);
  serving.run("UPDATE workspaces SET name = 'Still served'");
  const before = [database, `${database}-wal`, key].map((path) => readFileSync(path));
  const path = await backUp(folder);
  expect([database, `${database}-wal`, key].map((file) => readFileSync(file))).toEqual(before);
  serving.run("UPDATE workspaces SET name = 'Served on'");
  serving.close();

  expect(inspectBackup(path, path)).toMatchObject({ schemaVersion: OLD, mark: FIXTURE_MARK });
  const restored = join(scratch.path, 'restored');
  const source = { kind: 'disk', path } as const;
  const order = { access: ACCESS, keys: { identities: [], passphrase: null }, isForced: false, now: 1_700_000_001_000 };
  await restoreBackup({ source, dataFolder: restored, ...order }, () => {});
  await (await openData(restored, { isDurable: false })).close();
  expect(findInstance(join(restored, 'gatehouse.db'))?.schema).toBe(SCHEMA_VERSION);
  const sqlite = new Database(join(restored, 'gatehouse.db'), { readonly: true });
  expect(sqlite.query('SELECT name FROM workspaces').get()).toEqual({ name: 'Still served' });
  sqlite.close();
});

test.each<[string, (at: ReturnType<typeof unboundFolder>) => void, RegExp]>([
  [
    'beside the key of another instance',
    ({ database, key }) => {
      const sqlite = new Database(database);
      sqlite.run(`PRAGMA application_id = ${FIXTURE_MARK}`);
      sqlite.close();
      writeFileSync(key, Buffer.alloc(32, 7).toString('base64url'));
    },
    /instance\.key is the key of another instance than .*gatehouse\.db; put back/,
  ],
  ['beside a key that is rubbish', ({ key }) => writeFileSync(key, 'rubbish'), /instance\.key is damaged; put back/],
  ['without its key', ({ key }) => rmSync(key), /instance\.key is missing, but the database exists/],
  [
    'that is empty, beside a key',
    ({ database }) => writeFileSync(database, ''),
    /gatehouse\.db is missing or empty, but .*instance\.key exists\. Put back/,
  ],
  [
    'that is empty, without a key',
    ({ database, key }) => (writeFileSync(database, ''), rmSync(key)),
    /gatehouse\.db is empty and .*instance\.key is missing: there is no instance/,
  ],
  [
    'of another product',
    ({ database }) => {
      rmSync(database);
      const sqlite = new Database(database, { create: true });
      sqlite.run('CREATE TABLE bookmarks (url TEXT)');
      sqlite.close();
    },
    /is the database of something else than Gatehouse/,
  ],
  [
    'of a newer schema',
    ({ database }) => {
      const sqlite = new Database(database);
      sqlite.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
      sqlite.close();
    },
    /has schema \d+, this binary knows \d+\. Start the newer binary/,
  ],
])('no backup is made of a database %s, and the refusal gives the reason', async (_, spoil, words) => {
  const at = unboundFolder();
  spoil(at);
  const files = () => readdirSync(scratch.path).filter((name) => name.startsWith('backup-'));
  const before = files();
  await expect(backUp(at.folder)).rejects.toThrow(words);
  expect(files()).toEqual(before);
  expect(readdirSync(at.folder).filter((name) => name.startsWith('backup.unfinished'))).toEqual([]);
});
