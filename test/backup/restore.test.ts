/** A restore is all or nothing: of damaged or manipulated backups, and if it is killed at any point. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Keys, type Locks, NO_LOCKS } from '@/backup/encryption.ts';
import type { BackupOrder } from '@/backup/make.ts';
import { parsePlace } from '@/backup/place.ts';
import { type RestoreOrder, restoreBackup } from '@/backup/restore.ts';
import { BackupRunningError, startBackup } from '@/backup/run.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { finishRestore } from '@/db/sqlite/atomic-restore.ts';
import { openData } from '@/dependencies.ts';
import { Database } from 'bun:sqlite';
import { emptyFolder } from '../support/binary.ts';
import { createInstanceOn } from '../support/instance.ts';
import { startBucket } from '../support/s3.ts';

const ACCESS = { endpoint: null, region: null, accessKeyId: null, secretAccessKey: null };
const NO_KEYS: Keys = { identities: [], passphrase: null };
const PASSPHRASE = 'a passphrase of a test';

const scratch = emptyFolder();
const source = join(scratch.path, 'source');
const plain = join(scratch.path, 'plain.db');
const sealed = join(scratch.path, 'sealed.db.age');
const secret = join(scratch.path, 'secret.db.age');
let identity: string;
let count = 0;
let target: string;

function make(path: string, locks: Locks = NO_LOCKS, over: Partial<BackupOrder> = {}) {
  const place = parsePlace(path)!;
  const order = { dataFolder: source, target: place, isReplacing: false, access: ACCESS, locks, keep: null };
  return startBackup({ ...order, now: 1_700_000_000_000, version: '0.0.0-test', ...over }).done;
}

function restore(path: string, over: Partial<RestoreOrder> = {}) {
  const order = { access: ACCESS, keys: NO_KEYS, dataFolder: target, isForced: false, now: 1_700_000_001_000 };
  return restoreBackup({ source: parsePlace(path)!, ...order, ...over }, () => {});
}

/** Returns the name of a folder's instance, by the application in it. */
async function nameIn(folder: string): Promise<string> {
  const data = await openData(folder, { isDurable: false });
  const sqlite = new Database(join(folder, 'gatehouse.db'));
  const { name } = sqlite.query("SELECT name FROM applications WHERE client_id <> 'console'").get() as { name: string };
  sqlite.close();
  await data.close();
  return name;
}

const namesIn = (folder: string) =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((name) => !name.endsWith('.lock')).sort();

beforeAll(async () => {
  const instance = await createInstanceOn(source);
  await instance.createApplication({ name: 'Backed up' });
  await instance.close();
  identity = await generateX25519Identity();
  await make(plain);
  await make(sealed, { recipients: [await identityToRecipient(identity)], passphrase: null });
  await make(secret, { recipients: [], passphrase: PASSPHRASE });
}, 120_000);
beforeEach(() => {
  target = join(scratch.path, `target-${(count += 1)}`);
});
afterAll(() => scratch.remove());

describe('a backup', () => {
  test('is private and leaves no other files', () => {
    for (const path of [plain, sealed, secret]) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(source).filter((name) => name.includes('backup-'))).toEqual([]);
    expect(readdirSync(scratch.path).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  test('is restored into a new folder, with the key that opens it', async () => {
    const { contents, aside } = await restore(plain);
    expect(contents).toMatchObject({ madeAt: 1_700_000_000_000, version: '0.0.0-test', danglingRows: 0 });
    expect(aside).toBeNull();
    expect(namesIn(target)).toEqual(['gatehouse.db', 'instance.key']);
    expect(readFileSync(join(target, 'instance.key'))).toEqual(readFileSync(join(source, 'instance.key')));
    expect(await nameIn(target)).toBe('Backed up');
    // The key is only in its own file.
    const key = Buffer.from(readFileSync(join(target, 'instance.key'), 'utf8').trim(), 'base64url');
    expect(readFileSync(join(target, 'gatehouse.db')).includes(key)).toBe(false);
    expect(readFileSync(plain).includes(key)).toBe(true);
  });

  test('an encrypted backup reveals nothing, and is opened only by its identity or passphrase', async () => {
    const key = Buffer.from(readFileSync(join(source, 'instance.key'), 'utf8').trim(), 'base64url');
    for (const path of [sealed, secret]) {
      expect(readFileSync(path).includes(key)).toBe(false);
      expect(readFileSync(path).includes('Backed up')).toBe(false);
    }
    await expect(restore(sealed)).rejects.toThrow('give --passphrase-file or --identity-file');
    const stranger = { identities: [await generateX25519Identity()], passphrase: null };
    await expect(restore(sealed, { keys: stranger })).rejects.toThrow('The identity does not open');
    await expect(restore(secret, { keys: { identities: [], passphrase: 'another one' } })).rejects.toThrow(
      'The passphrase does not open',
    );
    await restore(sealed, { keys: { identities: [identity], passphrase: null } });
    expect(await nameIn(target)).toBe('Backed up');
    await restore(secret, { keys: { identities: [], passphrase: PASSPHRASE }, isForced: true });
    expect(await nameIn(target)).toBe('Backed up');
  }, 120_000);

  test('is made one at a time: a concurrent second one is refused', async () => {
    const first = make(join(scratch.path, 'first.db'));
    expect(() => make(join(scratch.path, 'second.db'))).toThrow(BackupRunningError);
    await first;
    expect(existsSync(join(scratch.path, 'second.db'))).toBe(false);
    await make(join(scratch.path, 'second.db'));
  });

  test('replaces no existing file unless it is forced', async () => {
    const path = join(scratch.path, 'there.db');
    writeFileSync(path, 'mine');
    await expect(make(path)).rejects.toThrow('exists already');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    await make(path, NO_LOCKS, { isReplacing: true });
    expect((await restore(path)).contents.rowCount).toBeGreaterThan(0);
  });

  test('is stored in a bucket and restored from it', async () => {
    const bucket = await startBucket();
    const { env } = bucket;
    const access = {
      endpoint: env['GATEHOUSE_S3_ENDPOINT']!,
      region: null,
      accessKeyId: env['GATEHOUSE_S3_ACCESS_KEY_ID']!,
      secretAccessKey: env['GATEHOUSE_S3_SECRET_ACCESS_KEY']!,
    };
    const locks = { recipients: [await identityToRecipient(identity)], passphrase: null };
    await make('s3://backups/one.db.age', locks, { access });
    await expect(make('s3://backups/one.db.age', locks, { access })).rejects.toThrow('exists already');
    await restore('s3://backups/one.db.age', { access, keys: { identities: [identity], passphrase: null } });
    expect(await nameIn(target)).toBe('Backed up');
    await expect(restore('s3://backups/none', { access, isForced: true })).rejects.toThrow('There is no such object');
    await bucket.stop();
  });
});

describe('an invalid backup', () => {
  const size = () => statSync(plain).size;

  test.each([0, 1, 15, 16, 99, 4096, 0.5, 0.99, -1])(
    'is refused if it is cut at %p, and nothing is touched',
    async (at) => {
      const path = join(scratch.path, 'cut');
      for (const [whole, keys] of [
        [plain, NO_KEYS],
        [sealed, { identities: [identity], passphrase: null }],
      ] as const) {
        const bytes = readFileSync(whole);
        const length = at === -1 ? bytes.length - 1 : at < 1 ? Math.floor(bytes.length * at) : at;
        writeFileSync(path, bytes.subarray(0, length));
        await expect(restore(path, { keys })).rejects.toThrow(/is no backup|damaged or not whole/);
        expect(namesIn(target)).toEqual([]);
      }
    },
  );

  test('is refused if a byte of it was changed', async () => {
    const path = join(scratch.path, 'changed');
    const bytes = readFileSync(sealed);
    for (const at of [30, 250, bytes.length - 40]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      await expect(restore(path, { keys: { identities: [identity], passphrase: null } })).rejects.toThrow();
      expect(namesIn(target)).toEqual([]);
    }
    const wiped = Buffer.from(readFileSync(plain));
    wiped.fill(0xff, size() / 2, size() / 2 + 8192);
    writeFileSync(path, wiped);
    await expect(restore(path)).rejects.toThrow('damaged or not whole');
  });

  test('is refused if it is something else', async () => {
    const path = join(scratch.path, 'foreign');
    writeFileSync(path, Buffer.alloc(300_000, 'x'));
    await expect(restore(path)).rejects.toThrow('is no backup of Gatehouse');
    await expect(restore(join(source, 'gatehouse.db'))).rejects.toThrow('there is no instance key in it');
    await expect(restore(join(scratch.path, 'none'))).rejects.toThrow('There is no file');
    await expect(restore(scratch.path)).rejects.toThrow('is no file');
  });

  function altered(name: string, sql: string): string {
    const path = join(scratch.path, name);
    cpSync(plain, path);
    const sqlite = new Database(path);
    sqlite.run(sql);
    sqlite.close();
    return path;
  }

  test('is refused if it is newer than this binary or has another instance’s key', async () => {
    const newer = altered('newer', `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    await expect(restore(newer)).rejects.toThrow('Use that one, or a newer');
    const mixed = altered('mixed', 'UPDATE gatehouse_backup SET instance_key = zeroblob(32)');
    await expect(restore(mixed)).rejects.toThrow('is that of another database');
    expect(namesIn(target)).toEqual([]);
  });
});

describe('a folder with content', () => {
  const before = join(scratch.path, 'before');
  beforeAll(async () => {
    const instance = await createInstanceOn(before);
    await instance.createApplication({ name: 'Before' });
    await instance.close();
    // The test's own connection has left them empty.
    for (const end of ['-wal', '-shm']) rmSync(join(before, `gatehouse.db${end}`), { force: true });
  });
  const occupied = () => cpSync(before, target, { recursive: true });

  test('is left alone unless forced: then its content is moved aside completely', async () => {
    occupied();
    writeFileSync(join(target, 'notes.txt'), 'mine');
    await expect(restore(plain)).rejects.toThrow('is not empty');
    expect(await nameIn(target)).toBe('Before');
    const { aside } = await restore(plain, { isForced: true });
    expect(await nameIn(target)).toBe('Backed up');
    expect(await nameIn(aside!)).toBe('Before');
    expect(readFileSync(join(target, 'notes.txt'), 'utf8')).toBe('mine');
  });

  test('is refused while a server runs on it, even if forced', async () => {
    const instance = await createInstanceOn(target);
    await instance.createApplication({ name: 'Before' });
    await expect(restore(plain, { isForced: true })).rejects.toThrow('is in use by another running instance');
    await instance.close();
    expect(await nameIn(target)).toBe('Before');
  });

  /** The steps of a restore in order; a kill can come after any of them. */
  const MOVES = [
    'nothing',
    'gatehouse.db aside',
    'gatehouse.db-wal aside',
    'instance.key aside',
    'key',
    'database',
  ] as const;

  test.each(MOVES.map((_, index) => index))(
    'is completed at the next start if the restore was killed after %p moves',
    async (moves) => {
      occupied();
      writeFileSync(join(target, 'gatehouse.db-wal'), 'what an old log says');
      const ready = join(target, 'restore.ready');
      const prepared = `${target}-prepared`;
      await restore(plain, { dataFolder: prepared });
      mkdirSync(ready);
      for (const name of ['gatehouse.db', 'instance.key']) renameSync(join(prepared, name), join(ready, name));
      writeFileSync(join(ready, 'aside'), 'before-restore-x');
      const aside = join(target, 'before-restore-x');
      const steps: (() => void)[] = [
        () => {},
        () => (mkdirSync(aside), renameSync(join(target, 'gatehouse.db'), join(aside, 'gatehouse.db'))),
        () => renameSync(join(target, 'gatehouse.db-wal'), join(aside, 'gatehouse.db-wal')),
        () => renameSync(join(target, 'instance.key'), join(aside, 'instance.key')),
        () => renameSync(join(ready, 'instance.key'), join(target, 'instance.key')),
        () => renameSync(join(ready, 'gatehouse.db'), join(target, 'gatehouse.db')),
      ];
      for (const step of steps.slice(0, moves + 1)) step();

      // A command changes nothing until a server has started.
      await expect(openData(target, { isServer: false })).rejects.toThrow('A restore into');
      expect(await nameIn(target)).toBe('Backed up');
      expect(existsSync(ready)).toBe(false);
      expect(namesIn(aside)).toEqual(['gatehouse.db', 'gatehouse.db-wal', 'instance.key']);
      rmSync(join(aside, 'gatehouse.db-wal'));
      expect(await nameIn(aside)).toBe('Before');
    },
  );

  test('is unchanged if a restore was killed before its first move', async () => {
    occupied();
    mkdirSync(join(target, 'restore.unfinished'));
    cpSync(plain, join(target, 'restore.unfinished/gatehouse.db'));
    finishRestore(target);
    expect(namesIn(target)).toEqual(['gatehouse.db', 'gatehouse.holder', 'instance.key']);
    expect(await nameIn(target)).toBe('Before');
  });
});
