/**
 * A full or read-only disk under a running server: it refuses changes with the right error, reports the same state
 * everywhere, and stops cleanly.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { badDiskRun, TROUBLES } from '../faults/bad-disk.ts';
import { hasCompiler } from '../faults/shims.ts';
import {
  BINARY,
  cleanEnvironment,
  emptyFolder,
  eventually,
  readDatabase,
  request,
  run,
  type RunningServer,
  startServer,
} from '../support/binary.ts';
import { readExposition } from '../support/exposition.ts';
import { amount } from '../support/long.ts';
import { hasSmallDisks, type SmallDisk, smallDisk } from '../support/small-disk.ts';

setDefaultTimeout(120_000);

const key = (await run(['key'], { cwd: '/' })).stdout.trim();
const BOOTSTRAP = { GATEHOUSE_WORKSPACE_KEY: key, GATEHOUSE_OWNER_EMAIL: 'owner@example.com' };

/** Starts a server on a folder of its own disk. */
async function serveOn(disk: SmallDisk): Promise<RunningServer> {
  const server = await startServer(join(disk.path, 'data'), BOOTSTRAP, ['--log-format', 'json']);
  const { json } = await request(server, 'GET', '/api/workspace/api-keys', { token: key });
  const body = { rateLimits: { perMinute: 1_000_000, perDay: 1_000_000_000 } };
  await request(server, 'PATCH', `/api/workspace/api-keys/${json.data.items[0].id}`, { token: key, body });
  return server;
}

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly reason?: string;
  readonly err?: unknown;
}

const TROUBLE = ['warn', 'error', 'fatal'];

/** Returns the log's warnings and errors. */
const linesOf = (server: RunningServer): Line[] =>
  server.stdout
    .text()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ level }) => TROUBLE.includes(level));

const said = (server: RunningServer, pattern: RegExp) => linesOf(server).filter(({ msg }) => pattern.test(msg));

const returnUrls = Array.from({ length: 20 }, (_, n) => `https://example.com/${n}/${'x'.repeat(1900)}`);

/** Makes a change of ordinary size. */
const change = (server: RunningServer, name: string) =>
  request(server, 'POST', '/api/applications', { token: key, body: { name, returnUrls } });

const ready = async (server: RunningServer) => {
  const { status, json } = await request(server, 'GET', '/readyz');
  return `${status} ${json.message ?? json.status}`;
};

const isWritable = async (server: RunningServer) =>
  readExposition((await request(server, 'GET', '/metrics')).text).value('gatehouse_database_writable');

const REFUSED = 'The disk refuses writes; changes are refused until it accepts them again.';

/** Makes changes until none has succeeded for longer than the jobs need to free space. */
async function nothingFits(server: RunningServer): Promise<void> {
  for (let refused = 0; refused < 30; await Bun.sleep(100))
    refused = (await change(server, 'Fits')).status === 503 ? refused + 1 : 0;
}

/** Checks the reported state repeatedly while the disk refuses, and keeps trying changes. */
async function lookOften(server: RunningServer, looks: number) {
  const seen = { ready: new Set<string>(), writable: new Set<number | undefined>(), changes: new Set<string>() };
  for (let look = 0; look < looks; look += 1) {
    const { status, json, headers } = await change(server, `Shop ${look}`);
    seen.changes.add(`${status} ${json.error} ${headers.get('retry-after')}`);
    seen.ready.add(await ready(server));
    seen.writable.add(await isWritable(server));
    // Waits between the ticks of the jobs, whose small changes may still fit.
    await Bun.sleep(60);
  }
  return { ready: [...seen.ready], writable: [...seen.writable], changes: [...seen.changes] };
}

test.skipIf(!hasSmallDisks)(
  'on a full disk /readyz, metrics and doctor say so from the first refused change to the first that is taken',
  async () => {
    const disk = smallDisk(64);
    const server = await serveOn(disk);
    disk.fill();
    await nothingFits(server);
    const before = linesOf(server).length;
    expect(await lookOften(server, amount(20, 60))).toEqual({
      ready: [`503 ${REFUSED}`],
      writable: [0],
      changes: ['503 unavailable 5'],
    });
    const doctor = await run(['doctor', '--data', server.folder, '--json'], { cwd: '/' });
    expect(doctor.stdout).toContain('refuses changes');
    expect((await request(server, 'GET', '/api/applications', { token: key })).status).toBe(200);

    disk.makeRoom();
    await eventually('a change is taken', async () => (await change(server, 'Room')).status === 200);
    expect([await ready(server), await isWritable(server)]).toEqual(['200 ok', 1]);
    await eventually('the log says so', () => linesOf(server).length > before);
    const lines = linesOf(server);
    expect(lines.slice(before).filter(({ msg }) => !/^jobs fail/.test(msg))).toMatchObject([
      { msg: 'the disk accepts writes again' },
    ]);
    // A restarted log has space for a few changes before it is refused again.
    expect(said(server, /disk refuses writes/).length).toBe(said(server, /disk accepts writes again/).length);
    // A checkpoint may fail and succeed again before the first change is refused.
    expect(said(server, /jobs? fail/).length).toBeLessThanOrEqual(said(server, /disk refuses writes/).length + 1);
    expect(lines.filter(({ err }) => err !== undefined)).toEqual([]);
    expect(await server.stop()).toBe(0);
    disk.remove();
  },
);

test.skipIf(!hasSmallDisks)(
  'where nobody makes a change, metrics say by themselves that a disk has room again',
  async () => {
    const disk = smallDisk(64);
    const server = await serveOn(disk);
    disk.fill();
    await nothingFits(server);
    expect(await isWritable(server)).toBe(0);
    disk.makeRoom();
    await eventually('metrics say so', async () => (await isWritable(server)) === 1, 10_000);
    expect(await server.stop()).toBe(0);
    disk.remove();
  },
);

test.skipIf(!hasSmallDisks).each(['full', 'read-only'] as const)(
  'SIGTERM on a %s disk ends with 0 and says in the log what is left, and nothing acknowledged is lost',
  async (kind) => {
    const disk = smallDisk(64);
    const server = await serveOn(disk);
    const taken = (await change(server, 'Taken')).json.data.id as string;
    if (kind === 'full') {
      disk.fill();
      await nothingFits(server);
    } else {
      disk.makeReadOnly();
      expect(await lookOften(server, 10)).toEqual({
        ready: [`503 ${REFUSED}`],
        writable: [0],
        changes: ['503 unavailable 5'],
      });
    }
    const since = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(await server.stderr.whole).toBe('');
    await server.stdout.whole;
    expect(said(server, /the write-ahead log was not checkpointed at the stop/).length).toBe(1);
    expect(linesOf(server).filter(({ err }) => err !== undefined)).toEqual([]);
    if (kind === 'read-only') {
      expect(readCopy(server.folder)).toContain(taken);
      disk.remove();
      return;
    }
    expect(existsSync(join(server.folder, 'gatehouse.server.json'))).toBe(false);
    disk.makeRoom();
    const again = await startServer(server.folder, BOOTSTRAP);
    expect((await request(again, 'GET', `/api/applications/${taken}`, { token: key })).status).toBe(200);
    expect(await again.stop()).toBe(0);
    disk.remove();
  },
);

/** Returns the ids of the applications from a copy, since the full disk has no space for recovery. */
function readCopy(folder: string): string[] {
  const scratch = emptyFolder();
  Bun.spawnSync(['cp', '-r', folder, join(scratch.path, 'data')]);
  const ids = readDatabase(join(scratch.path, 'data'), (sqlite) =>
    sqlite.query('SELECT id FROM applications').values(),
  );
  scratch.remove();
  return ids.map(([id]) => id as string);
}

test.skipIf(!hasSmallDisks)('a command on a full disk reports it in one line', async () => {
  const disk = smallDisk(64);
  const server = await serveOn(disk);
  await server.stop();
  disk.fill();
  const command = Bun.spawn([BINARY, 'setup-link', '--data', server.folder], {
    env: cleanEnvironment(),
    stdout: 'ignore',
    stderr: 'pipe',
  });
  expect([await new Response(command.stderr).text(), await command.exited]).toEqual([
    expect.stringMatching(/^gatehouse: [^\n]+\n$/),
    1,
  ]);
  disk.remove();
});

/** A selection of the failures in test/faults/bad-disk.ts. */
const SHORT = ['disk full', 'reads fail', 'all fails'];

test.skipIf(!hasCompiler)(
  'whatever the disk refuses, what was taken stays, and all is well once the disk is',
  async () => {
    const { seen, promised, losses } = await badDiskRun(
      200,
      TROUBLES.filter(({ name }) => SHORT.includes(name)),
    );
    expect(seen.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
    expect(losses).toEqual([]);
    expect(promised).toBeGreaterThanOrEqual(seen.length);
  },
);
