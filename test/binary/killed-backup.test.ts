/** Kills backups halfway: the next one removes their leftovers, and nothing that a running process writes. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, cleanEnvironment, emptyFolder, run, startServer } from '../support/binary.ts';
import { hasSmallDisks, smallDisk } from '../support/small-disk.ts';

setDefaultTimeout(120_000);

const scratch = emptyFolder();
const data = join(scratch.path, 'data');
const backups = join(scratch.path, 'backups');
afterAll(() => scratch.remove());

/** Makes the copy slow enough to be killed halfway. */
function inflate(folder: string): void {
  const sqlite = new Database(join(folder, 'gatehouse.db'), { readwrite: true });
  sqlite.run('PRAGMA synchronous = OFF');
  sqlite.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
     INSERT INTO audit_records (id, kind, ok, actor_type, detail, created_at)
     SELECT printf('aud_%010d', n), 'signin.succeeded', 1, 'anonymous', json_object('text', hex(randomblob(25000))), n FROM numbers`,
  );
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
  sqlite.close();
}

const unfinishedIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('.unfinished'));

/** Starts a backup and waits until its copy grows. */
async function startBackup(name: string, folder = data, ...args: string[]) {
  const before = unfinishedIn(backups);
  const child = Bun.spawn([BINARY, 'backup', join(backups, name), '--data', folder, ...args], {
    env: cleanEnvironment(),
    stdout: 'ignore',
    stderr: 'ignore',
  });
  let own: string | undefined;
  while (own === undefined || statSync(own).size === 0) {
    if (child.exitCode !== null) throw new Error('the backup ended before it could be stopped');
    const [found] = unfinishedIn(backups).filter((file) => file.startsWith(name) && !before.includes(file));
    own = found && join(backups, found);
    await Bun.sleep(1);
  }
  return { child, own };
}

async function kill(name: string): Promise<string> {
  const { child, own } = await startBackup(name);
  child.kill('SIGKILL');
  await child.exited;
  return own;
}

const gatehouse = (...args: string[]) => run(args, { cwd: scratch.path });

beforeAll(async () => {
  mkdirSync(backups);
  const server = await startServer(data);
  await server.stop();
  inflate(data);
});

test('a killed backup leaves one file, which the next backup removes, in any folder and under any name', async () => {
  for (const name of ['monday.db', 'tuesday.db', 'wednesday.db']) {
    const own = await kill(name);
    expect(unfinishedIn(backups).map((file) => join(backups, file))).toContain(own);
    expect(unfinishedIn(backups).filter((file) => !file.endsWith('-journal'))).toHaveLength(1);
  }
  expect((await gatehouse('backup', join(scratch.path, 'elsewhere.db'), '--data', data)).exitCode).toBe(0);
  expect(readdirSync(backups)).toEqual([]);
  expect(unfinishedIn(data)).toEqual([]);
});

test('a backup that another process is writing under the same name is not touched and completes', async () => {
  await kill('dead.db');
  // The copied folder has the key and the note of the killed backup.
  const clone = join(scratch.path, 'clone');
  cpSync(data, clone, { recursive: true });
  const { child, own } = await startBackup('same.db', clone, '--force');
  child.kill('SIGSTOP');
  try {
    expect((await gatehouse('backup', join(backups, 'same.db'), '--data', data)).exitCode).toBe(0);
    expect((await gatehouse('backup', join(backups, 'other.db'), '--data', data)).exitCode).toBe(0);
    expect(existsSync(own)).toBe(true);
  } finally {
    child.kill('SIGCONT');
  }
  expect(await child.exited).toBe(0);
  expect(readdirSync(backups).sort()).toEqual(['other.db', 'same.db']);
  for (const name of ['other.db', 'same.db'])
    expect((await gatehouse('backup', 'verify', join(backups, name))).exitCode).toBe(0);
});

test.skipIf(!hasSmallDisks)('a full data disk does not prevent a backup to another disk', async () => {
  const disk = smallDisk(16);
  const folder = join(disk.path, 'data');
  const server = await startServer(folder);
  try {
    disk.fill();
    const made = await gatehouse('backup', join(backups, 'of-a-full-disk.db'), '--data', folder);
    expect([made.exitCode, made.stderr]).toEqual([0, expect.stringContaining('of-a-full-disk.db: ')]);
    expect(unfinishedIn(backups)).toEqual([]);
  } finally {
    disk.makeRoom();
    await server.stop();
  }
});
