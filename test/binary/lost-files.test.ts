/** Files are deleted under a running server: acknowledged changes stay, and no more are acknowledged. */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  emptyFolder,
  eventually,
  readDatabase,
  request,
  run,
  type RunningServer,
  startServer,
} from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const key = (await run(['key'], { cwd: scratch.path })).stdout.trim();
const BOOTSTRAP = { GATEHOUSE_OWNER_EMAIL: 'owner@example.com', GATEHOUSE_WORKSPACE_KEY: key };
const JSON_LOG = ['--log-format', 'json'];

const make = (server: RunningServer, name: string) =>
  request(server, 'POST', '/api/applications', { token: key, body: { name } });

const namesIn = (folder: string) =>
  readDatabase(folder, (sqlite) => sqlite.query('SELECT name FROM applications').values().flat()) as string[];

const fatalLines = (server: RunningServer) => server.stdout.text().match(/^.*"level":"fatal".*$/gm) ?? [];

/** Suspends a server at a moment at which it holds no lock of the database, which a process keeps while suspended. */
async function suspendBetweenChanges(server: RunningServer, folder: string): Promise<void> {
  await eventually('no change is under way', () => {
    server.process.kill('SIGSTOP');
    const other = new Database(join(folder, 'gatehouse.db'));
    try {
      other.run('BEGIN IMMEDIATE');
      other.run('ROLLBACK');
      return true;
    } catch {
      server.process.kill('SIGCONT');
      return false;
    } finally {
      other.close();
    }
  });
}

const LOG_GONE =
  'The database’s write-ahead log was deleted or replaced while the server runs: its operator must restart the server.';

/** Makes changes as fast as they are answered. @returns acknowledged names, and the errors of the others. */
async function changes(server: RunningServer, count: number, prefix: string) {
  const taken: string[] = [];
  const refused = new Set<string>();
  for (let n = 0; n < count; n += 1) {
    const name = `${prefix} ${n}`;
    const { status, json, headers } = await make(server, name);
    if (status === 200) taken.push(name);
    else refused.add(`${status} ${json.message} ${headers.get('retry-after')}`);
  }
  return { taken, refused: [...refused] };
}

const DELETIONS: readonly (readonly [string, (database: string) => void])[] = [
  ['the log', (database) => rmSync(`${database}-wal`)],
  ['the shared memory', (database) => rmSync(`${database}-shm`)],
  [
    'both',
    (database) => {
      rmSync(`${database}-wal`);
      rmSync(`${database}-shm`);
    },
  ],
];

describe.each(DELETIONS)('%s deleted under a running server', (what, deleteFiles) => {
  test.each([false, true])(
    'loses nothing acknowledged, and is reported once (with a concurrent command: %p)',
    async (isBeside) => {
      const folder = join(scratch.path, `${what}-${isBeside}`.replaceAll(' ', '-'));
      const server = await startServer(folder, BOOTSTRAP, JSON_LOG);
      const before = await changes(server, 5, 'before');
      expect(before.refused).toEqual([]);
      deleteFiles(join(folder, 'gatehouse.db'));
      if (isBeside) await run(['outbox', 'list', '--data', folder], { cwd: scratch.path });
      const after = await changes(server, 12, 'after');
      expect(after.refused).toEqual([`503 ${LOG_GONE} 5`]);
      const { status, json } = await request(server, 'GET', '/readyz');
      expect([status, json.message]).toEqual([503, LOG_GONE]);
      await eventually('the log says so', () => fatalLines(server).length > 0);
      expect(fatalLines(server)).toEqual([expect.stringMatching(/acknowledged changes are in the database/)]);
      expect(await server.stop('SIGKILL')).not.toBe(0);

      const again = await startServer(folder, BOOTSTRAP, JSON_LOG);
      expect(again.stdout.text()).not.toContain('are lost');
      expect(await again.stop()).toBe(0);
      expect(namesIn(folder)).toEqual(expect.arrayContaining([...before.taken, ...after.taken]));
      const doctor = await run(['doctor', '--data', folder, '--full'], { cwd: scratch.path });
      expect(doctor.stdout).toContain('are intact');
    },
  );
});

test('a server whose log was deleted exits with 0 on SIGTERM and keeps files put in its place', async () => {
  const folder = join(scratch.path, 'sigterm');
  const server = await startServer(folder, BOOTSTRAP, JSON_LOG);
  const { taken } = await changes(server, 3, 'before');
  const log = join(folder, 'gatehouse.db-wal');
  renameSync(log, `${log}.moved`);
  await eventually('the log says so', () => fatalLines(server).length > 0);
  await Bun.write(log, '');
  expect(await server.stop()).toBe(0);
  expect(existsSync(log)).toBe(true);
  rmSync(log);
  expect(namesIn(folder)).toEqual(expect.arrayContaining(taken));
});

describe('the lock file deleted under a running server', () => {
  test('is recreated, and no second server can start', async () => {
    const folder = join(scratch.path, 'lock');
    const lock = join(folder, 'gatehouse.lock');
    const server = await startServer(folder, BOOTSTRAP, JSON_LOG);
    for (const isAtOnce of [true, false]) {
      rmSync(lock);
      if (!isAtOnce) await eventually('the lock is made anew', () => existsSync(lock));
      const second = await run(['serve', '--data', folder, '--port', '0'], { cwd: scratch.path });
      expect([second.exitCode, second.stderr]).toEqual([
        1,
        expect.stringContaining('in use by another running instance'),
      ]);
    }
    expect((await make(server, 'Goes on')).status).toBe(200);
    expect((await request(server, 'GET', '/readyz')).status).toBe(200);
    expect(server.stdout.text()).toContain('the lock file of the data folder was deleted; this server recreated it');
    expect(await server.stop()).toBe(0);
  });

  test('while the server is suspended: it refuses changes once another server has the folder', async () => {
    const folder = join(scratch.path, 'taken');
    const first = await startServer(folder, BOOTSTRAP, JSON_LOG);
    await suspendBetweenChanges(first, folder);
    rmSync(join(folder, 'gatehouse.lock'));
    const second = await startServer(folder, BOOTSTRAP);
    first.process.kill('SIGCONT');
    await eventually('the first says so', () => fatalLines(first).length > 0);
    expect(fatalLines(first)).toEqual([expect.stringContaining('another server has taken over the data folder')]);
    const { status, json } = await make(first, 'Refused');
    expect([status, json.message]).toEqual([
      503,
      expect.stringContaining('Another server has taken over the data folder'),
    ]);
    expect((await request(first, 'GET', '/readyz')).status).toBe(503);
    expect((await make(second, 'Taken')).status).toBe(200);
    expect(await first.stop()).toBe(0);
    // Commands find a server by this file, which now belongs to the second one.
    expect(existsSync(join(folder, 'gatehouse.server.json'))).toBe(true);
    expect((await make(second, 'Taken too')).status).toBe(200);
    expect(await second.stop()).toBe(0);
  });
});
