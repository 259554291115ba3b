/** Damage found at a start is reported in the log and to owners, without false alarms. */
import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, cpSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, eventually, request, run, type RunningServer, signIn, startServer } from '../support/binary.ts';
import { amount } from '../support/long.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const key = (await run(['key'], { cwd: scratch.path })).stdout.trim();
const BOOTSTRAP = { GATEHOUSE_OWNER_EMAIL: 'owner@example.com', GATEHOUSE_WORKSPACE_KEY: key };
const start = (folder: string) => startServer(folder, BOOTSTRAP, ['--log-format', 'json']);

/** Returns the log's lines about damage. */
const damageIn = (server: RunningServer) => server.stdout.text().match(/^.*(?:damaged|is shorter than).*$/gm) ?? [];

const PAGE = 4096;
const LOG_HEADER = 32;
const FRAME_HEADER = 24;
/** Offset of the number of committed frames in the WAL index: https://www.sqlite.org/walformat.html#walidxfmt. */
const FRAMES_IN_INDEX = 16;

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

async function warningsOf(server: RunningServer): Promise<{ code: string; message: string }[]> {
  const { token } = await signIn(server, 'owner@example.com');
  const { json } = await request(server, 'GET', '/api/workspace/health', { token });
  return json.data.warnings.filter(({ code }: { code: string }) => code === 'database_damaged');
}

const namesOn = async (server: RunningServer) =>
  (await request(server, 'GET', '/api/applications', { token: key })).json.data.items.map(
    ({ name }: { name: string }) => name,
  ) as string[];

/** Leaves a folder as after a kill, with changes in its write-ahead log. */
async function killed(name: string, changes = 30): Promise<string> {
  const folder = join(scratch.path, name);
  // After a clean stop the log holds only these changes, and the database is complete without it.
  await (await start(folder)).stop();
  const server = await start(folder);
  for (let n = 0; n < changes; n += 1)
    await request(server, 'POST', '/api/applications', { token: key, body: { name: `Shop ${n}` } });
  await server.stop('SIGKILL');
  return folder;
}

test('a damaged database page is reported in the log and to owners', async () => {
  const folder = join(scratch.path, 'garbage');
  const first = await start(folder);
  await signIn(first, 'owner@example.com');
  expect(await first.stop()).toBe(0);
  const path = join(folder, 'gatehouse.db');
  const sqlite = new Database(path, { readonly: true });
  const query = "SELECT rootpage FROM sqlite_schema WHERE name = 'legal_entities'";
  const { rootpage } = sqlite.query(query).get() as { rootpage: number };
  sqlite.close();
  overwrite(path, (rootpage - 1) * PAGE, new Uint8Array(PAGE).fill(0xa5));

  const server = await start(folder);
  await eventually('the log says so', () => damageIn(server).length > 0);
  expect(damageIn(server)).toEqual([expect.stringContaining('"level":"error"')]);
  expect(damageIn(server)[0]).toContain('bring back a good backup');
  expect(await warningsOf(server)).toMatchObject([{ message: expect.stringMatching(/^The database is damaged: /) }]);
  await server.stop();
});

test.each(['users', 'applications', 'api_keys', 'workspace_members', 'application_users'])(
  'a page of garbage in %s, which the start reads, ends it with a sentence and the remedy, not a stack',
  async (table) => {
    const folder = join(scratch.path, `garbage in ${table}`);
    const first = await start(folder);
    await signIn(first, 'owner@example.com');
    expect(await first.stop()).toBe(0);
    const path = join(folder, 'gatehouse.db');
    const sqlite = new Database(path, { readonly: true });
    const { rootpage } = sqlite.query('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as {
      rootpage: number;
    };
    sqlite.close();
    overwrite(path, (rootpage - 1) * PAGE, new Uint8Array(PAGE).fill(0x5a));
    const { exitCode, stderr } = await run(['serve', '--port=0', '--data', folder], {
      cwd: scratch.path,
      env: BOOTSTRAP,
    });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^gatehouse: .*damaged.*gatehouse restore FILE.*\n$/),
    ]);
  },
);

test('a log truncated after a kill is reported at the start, with the amount missing', async () => {
  const folder = await killed('cut');
  const log = join(folder, 'gatehouse.db-wal');
  expect((await run(['doctor', '--data', folder], { cwd: scratch.path })).stdout).not.toContain('cannot be read');
  // The log may be longer than its frames: a restarted log begins at the start of its file.
  const frames = readFileSync(join(folder, 'gatehouse.db-shm')).readUInt32LE(FRAMES_IN_INDEX);
  truncateSync(log, LOG_HEADER + Math.floor(frames / 2) * (FRAME_HEADER + PAGE));
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true });
  const doctor = await run(['doctor', '--data', copy], { cwd: scratch.path });
  expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toMatch(/\d+ of \d+ pages of the write-ahead log cannot be read/);
  const server = await start(folder);
  expect(damageIn(server)).toEqual([
    expect.stringMatching(/"level":"error".*"committed":\d+,"readable":\d+.*are lost/),
  ]);
  expect(await warningsOf(server)).toEqual([
    { code: 'database_damaged', message: expect.stringMatching(/\d+ of \d+ pages in it/), remedy: expect.any(String) },
  ] as never);
  await server.stop();
  // The first start read every intact frame, so the next one has nothing to report.
  const next = await start(folder);
  expect(damageIn(next)).toEqual([]);
  await next.stop();
});

const HARMS: readonly (readonly [string, (log: string) => void])[] = [
  ['has a flipped bit', (log) => overwrite(log, LOG_HEADER + 2 * (FRAME_HEADER + PAGE) + 100, new Uint8Array([0xff]))],
  ['is gone', (log) => rmSync(log)],
];

test.each(HARMS)('a log that %s after a kill never loses an acknowledged change silently', async (name, harm) => {
  let said = 0;
  for (let round = 0; round < 4; round += 1) {
    const folder = await killed(`${name} ${round}`, 3);
    const copy = `${folder} harmed`;
    cpSync(folder, copy, { recursive: true });
    harm(join(copy, 'gatehouse.db-wal'));
    const server = await start(copy);
    const isSaid = damageIn(server).length > 0;
    const whole = await start(folder);
    if ((await namesOn(server)).length < (await namesOn(whole)).length)
      expect({ round, isSaid }).toEqual({ round, isSaid: true });
    if (isSaid) said += 1;
    await Promise.all([server.stop(), whole.stop()]);
  }
  expect(said).toBeGreaterThan(0);
});

test('a log deleted after a full checkpoint is no loss', async () => {
  const folder = join(scratch.path, 'copied');
  const server = await start(folder);
  await request(server, 'POST', '/api/applications', { token: key, body: { name: 'Shop' } });
  const isCopied = () => {
    const [frames, copied] = [16, 96].map((at) => readFileSync(join(folder, 'gatehouse.db-shm')).readUInt32LE(at));
    return frames === copied;
  };
  await eventually('the log is copied', isCopied);
  await server.stop('SIGKILL');
  if (!isCopied()) return;
  rmSync(join(folder, 'gatehouse.db-wal'));
  const next = await start(folder);
  expect(damageIn(next)).toEqual([]);
  expect(await namesOn(next)).toContain('Shop');
  await next.stop();
});

test('kills at any moment, and copies of a folder without its index, raise no alarm', async () => {
  const folder = join(scratch.path, 'kills');
  for (let round = 0; round < amount(4, 40); round += 1) {
    const server = await start(folder);
    expect(damageIn(server)).toEqual([]);
    let isOver = false;
    const working = Promise.all(
      [0, 1, 2].map(async (worker) => {
        while (!isOver)
          await request(server, 'POST', '/api/applications', {
            token: key,
            body: { name: `${round} ${worker}`, returnUrls: [`https://example.com/${'x'.repeat(1500)}`] },
          }).catch(() => {});
      }),
    );
    await Bun.sleep(150 + Math.random() * 300);
    const isEnded = server.stop('SIGKILL');
    isOver = true;
    await Promise.all([working, isEnded]);
    if (round % 3 === 0) rmSync(join(folder, 'gatehouse.db-shm'), { force: true });
  }
  const last = await start(folder);
  expect(damageIn(last)).toEqual([]);
  expect(await warningsOf(last)).toEqual([]);
  await last.stop();
});
