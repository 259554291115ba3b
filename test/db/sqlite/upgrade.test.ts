/**
 * Databases of every released schema: upgraded completely or not at all, with a copy to return to, and usable
 * afterwards.
 */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { adjustableClock } from '@/core/clock.ts';
import { openData } from '@/dependencies.ts';
import { findInstance } from '@/db/sqlite/find-instance.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { writeFixture, migrationNames } from '../../fixtures/schemas.ts';
import { FIXTURE_KEY, FIXTURE_TIME, HELD } from '../../fixtures/world.ts';
import { emptyFolder } from '../../support/binary.ts';
import { createInstanceOn } from '../../support/instance.ts';
import { hasSmallDisks, smallDisk } from '../../support/small-disk.ts';

setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

let folders = 0;

/** A data folder as the release of a schema left it. */
function folderOf(version: number, parent = scratch.path): string {
  const folder = join(parent, `${(folders += 1)}`);
  mkdirSync(folder, { mode: 0o700 });
  writeFixture(version, join(folder, 'gatehouse.db'));
  writeFileSync(join(folder, 'instance.key'), `${Buffer.from(FIXTURE_KEY).toString('base64url')}\n`);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
  return folder;
}

const copiesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.includes('.schema-'))
    .sort();

const clock = () => adjustableClock({ now: () => FIXTURE_TIME });

async function upgrade(folder: string, lines: string[] = []): Promise<string | null> {
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const data = await openData(folder, { clock: clock(), isDurable: false, log });
  await data.close();
  return data.upgradeCopy;
}

function faultsOf(path: string): unknown[] {
  const sqlite = new Database(path, { readonly: true });
  try {
    const [integrity] = sqlite.query('PRAGMA integrity_check').values() as [string][];
    return [...(integrity?.[0] === 'ok' ? [] : [integrity]), ...sqlite.query('PRAGMA foreign_key_check').all()];
  } finally {
    sqlite.close();
  }
}

const schemaOf = (path: string) => {
  const sqlite = new Database(path, { readonly: true });
  try {
    return sqlite
      .query("SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name")
      .all();
  } finally {
    sqlite.close();
  }
};

describe('a database of schema', () => {
  const released = migrationNames().map((_, at) => at + 1);

  test.each(released)('%d is intact after its upgrade, and everything in it still works', async (version) => {
    const folder = folderOf(version);
    const sent: { url: string; body: string }[] = [];
    const instance = await createInstanceOn(folder, {
      time: { now: () => FIXTURE_TIME },
      outbound: async ({ url, body }) => {
        sent.push({ url, body: String(body) });
        return { status: 200, headers: new Headers(), body: new Uint8Array() };
      },
    });
    try {
      expect(faultsOf(join(folder, 'gatehouse.db'))).toEqual([]);
      expect(findInstance(join(folder, 'gatehouse.db'))?.schema).toBe(SCHEMA_VERSION);
      const session = await instance.call('POST', '/api/v1/session', { token: HELD.session });
      expect([session.status, session.json.email]).toEqual([200, HELD.email]);
      const users = await instance.call('GET', `/api/applications/${session.json.applicationId}/users`, {
        token: HELD.apiKey,
      });
      expect(users.json.data.items.map(({ email }: { email: string }) => email)).toContain(HELD.email);
      expect((await instance.signIn(HELD.clientId, HELD.email)).userId).toBe(
        users.json.data.items.find(({ email }: { email: string }) => email === HELD.email).userId,
      );
      const banned = await instance.trySignIn(HELD.clientId, 'bob@example.com');
      expect(banned.status).toBe(403);
      if (version >= 3) {
        await instance.services.deliveries.runOnce();
        expect(sent.map(({ url }) => url)).toContain(HELD.webhookUrl);
        expect(sent[0]?.body).toContain('user.signed_in');
      }
      await instance.services.tasks.runOnce();
    } finally {
      await instance.close();
    }
    expect(copiesIn(folder)).toHaveLength(version === SCHEMA_VERSION ? 0 : 1);
  });

  test('1 becomes the same as a new one', async () => {
    const folder = folderOf(1);
    await upgrade(folder);
    const fresh = join(scratch.path, 'fresh');
    await upgrade(fresh);
    expect(schemaOf(join(folder, 'gatehouse.db'))).toEqual(schemaOf(join(fresh, 'gatehouse.db')));
  });
});

describe('the copy before an upgrade', () => {
  const OLD = SCHEMA_VERSION - 1;

  test('is a private backup of the old database, named by schemas and time', async () => {
    const folder = folderOf(1);
    const lines: string[] = [];
    const copy = await upgrade(folder, lines);
    expect(copy).toBe(join(folder, `gatehouse.db.schema-1-to-${SCHEMA_VERSION}.20260301T120000Z`));
    expect(statSync(copy!).mode & 0o777).toBe(0o600);
    expect(findInstance(copy!)?.schema).toBe(1);
    expect(faultsOf(copy!)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toStartWith(`Upgrading the database from schema 1 to ${SCHEMA_VERSION}; a copy of its `);
    expect(lines[0]).toMatch(/ its \d+ KiB is made first\. The port opens when it is done\.$/);
  });

  test('is kept with the two before it; unfinished ones of a kill are removed', async () => {
    const folder = folderOf(OLD);
    const name = (day: number) => `gatehouse.db.schema-${OLD}-to-${SCHEMA_VERSION}.2026020${day}T000000Z`;
    for (const file of [1, 2, 3, 4].map(name)) writeFileSync(join(folder, file), '', { mode: 0o600 });
    writeFileSync(join(folder, `${name(5)}.unfinished`), 'half', { mode: 0o600 });
    await upgrade(folder);
    expect(copiesIn(folder)).toEqual([
      name(3),
      name(4),
      `gatehouse.db.schema-${OLD}-to-${SCHEMA_VERSION}.20260301T120000Z`,
    ]);
  });

  test('leaves the database unchanged with advice if it cannot be made', async () => {
    const folder = folderOf(OLD);
    const path = join(folder, 'gatehouse.db');
    const sqlite = new Database(path, { readwrite: true });
    // Overwrites a page in the middle.
    const { page } = sqlite.query("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'audit_records'").get() as {
      page: number;
    };
    sqlite.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, (page - 1) * 4096, page * 4096));
    const opening = upgrade(folder);
    expect(opening).rejects.toThrow(/nothing was upgraded: .*gatehouse doctor/);
    await opening.catch(() => {});
    expect(findInstance(path)?.schema).toBe(OLD);
    expect(copiesIn(folder)).toEqual([]);
  });

  test('is named to an older binary, which changes nothing', async () => {
    const folder = folderOf(SCHEMA_VERSION);
    const path = join(folder, 'gatehouse.db');
    const newer = new Database(path, { readwrite: true });
    newer.run(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    newer.run('PRAGMA journal_mode = DELETE');
    newer.close();
    const copy = (from: number, day: number) => `${path}.schema-${from}-to-${from + 1}.2026020${day}T000000Z`;
    const later = copy(SCHEMA_VERSION, 2);
    for (const file of [copy(OLD, 1), later, copy(SCHEMA_VERSION + 1, 3)]) writeFileSync(file, '', { mode: 0o600 });
    const before = readFileSync(path);
    const files = readdirSync(folder);
    const opening = upgrade(folder);
    expect(opening).rejects.toThrow(
      `has schema ${SCHEMA_VERSION + 1}, this binary knows ${SCHEMA_VERSION}. Start the newer binary that wrote it; or, to go back ` +
        `to how it was before that upgrade and give up what came later, restore the copy made then: ` +
        `gatehouse restore ${later} --force --data ${folder}. Nothing was changed.`,
    );
    await opening.catch(() => {});
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder).filter((name) => name !== 'gatehouse.lock')).toEqual(files);
  });
});

describe('a refused upgrade', () => {
  const OLD = 5;
  /** Files by name with the hash of their content. The lock file is made by checking for another server. */
  const filesOf = (folder: string) =>
    Object.fromEntries(
      readdirSync(folder)
        .filter((name) => name !== 'gatehouse.lock')
        .sort()
        .map((name) => [name, Bun.SHA256.hash(readFileSync(join(folder, name)), 'hex')]),
    );

  /**
   * Changes a folder as a server from before keys were bound would have, in a process that is killed, so that its WAL
   * stays.
   */
  async function leaveCrashed(folder: string): Promise<void> {
    const script = `
      const sqlite = new (require('bun:sqlite').Database)(${JSON.stringify(join(folder, 'gatehouse.db'))});
      sqlite.run('PRAGMA application_id = 0');
      sqlite.run("UPDATE workspaces SET name = 'In the log'");
      process.kill(process.pid, 'SIGKILL');`;
    await Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'ignore' }).exited;
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
    rmSync(join(folder, 'gatehouse.db-shm'));
    expect(filesOf(folder)).toHaveProperty(['gatehouse.db-wal']);
  }

  async function expectUnchanged(folder: string, words: string | RegExp): Promise<void> {
    const before = filesOf(folder);
    const opening = upgrade(folder);
    expect(opening).rejects.toThrow(words);
    await opening.catch(() => {});
    expect(filesOf(folder)).toEqual(before);
  }

  test.skipIf(!hasSmallDisks)(
    'a lack of space changes no byte of the folder, and the upgrade succeeds once there is space',
    async () => {
      const disk = smallDisk(16);
      const folder = folderOf(OLD, disk.path);
      await leaveCrashed(folder);
      disk.fill(256 * 1024);
      await expectUnchanged(
        folder,
        /The upgrade needs .* are free\. Make room, then start again\. Nothing was changed\./,
      );
      const roomy = join(scratch.path, `${(folders += 1)}`);
      cpSync(folder, roomy, { recursive: true });
      chmodSync(roomy, 0o700);
      expect(await upgrade(roomy)).toContain(`schema-${OLD}-to-`);
      expect(nameOfWorkspace(roomy)).toBe('In the log');
    },
  );

  test('a copy that cannot be made changes no byte of the folder', async () => {
    const folder = folderOf(OLD);
    const path = join(folder, 'gatehouse.db');
    const sqlite = new Database(path, { readwrite: true });
    const { page } = sqlite.query("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'audit_records'").get() as {
      page: number;
    };
    sqlite.close();
    await leaveCrashed(folder);
    writeFileSync(path, readFileSync(path).fill(0x5a, (page - 1) * 4096, page * 4096));
    await expectUnchanged(folder, 'No copy could be made before the upgrade, so nothing was upgraded');
  });

  test('a missing or damaged key changes no byte of the folder', async () => {
    const folder = folderOf(OLD);
    await leaveCrashed(folder);
    writeFileSync(join(folder, 'instance.key'), 'rubbish');
    await expectUnchanged(folder, 'instance.key is damaged');
    rmSync(join(folder, 'instance.key'));
    await expectUnchanged(folder, 'instance.key is missing');
  });

  test('another instance’s key changes no byte of the folder', async () => {
    const folder = folderOf(OLD);
    writeFileSync(join(folder, 'instance.key'), Buffer.alloc(32, 9).toString('base64url'));
    await expectUnchanged(folder, 'is the key of another instance');
  });

  const nameOfWorkspace = (folder: string) => {
    const sqlite = new Database(join(folder, 'gatehouse.db'), { readonly: true });
    const { name } = sqlite.query('SELECT name FROM workspaces').get() as { name: string };
    sqlite.close();
    return name;
  };
});
