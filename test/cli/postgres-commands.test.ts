/** Commands on a PostgreSQL database, run from source: what they print, their exit codes, and no password in any of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { cleanEnvironment, collect, freePort, request } from '../support/binary.ts';
import { emptyDatabases } from '../support/empty-postgres.ts';

const ROOT = join(import.meta.dir, '../..');
const port = freePort();
const databases = await emptyDatabases();
const database = await databases.create();
const url = new URL(database.url);
const ENVIRONMENT = {
  GATEHOUSE_DATABASE_URL: url.href,
  GATEHOUSE_INSTANCE_KEY: Buffer.alloc(32, 7).toString('base64'),
  GATEHOUSE_PORT: String(port),
};

function spawn(args: readonly string[], environment: Record<string, string> = {}) {
  return Bun.spawn([process.execPath, 'src/main.ts', ...args], {
    cwd: ROOT,
    env: cleanEnvironment({ ...ENVIRONMENT, ...environment }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(args, environment);
  const texts = await Promise.all([collect(child.stdout).whole, collect(child.stderr).whole]);
  expect(texts.join('')).not.toContain(url.password);
  return { stdout: texts[0], stderr: texts[1], exitCode: await child.exited };
}

let server: ReturnType<typeof spawn>;
let started = '';

beforeAll(async () => {
  server = spawn(['serve']);
  started = await collect(server.stdout, collect(server.stderr)).until(/"Gatehouse is running at [^\n]*\n/);
});

afterAll(async () => {
  server.kill('SIGKILL');
  await server.exited;
  await databases.drop();
});

test('the server says at its start where its data is, without the password', () => {
  expect(started).toContain(`"data":"PostgreSQL at ${url.hostname}:${url.port || 5432}/${database.name}"`);
  expect(started).not.toContain(url.password);
});

test('the healthcheck asks the server at the configured port', async () => {
  expect(await run(['healthcheck'])).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  expect((await run(['healthcheck', '--port', String(freePort())])).exitCode).toBe(1);
});

test('a setup link of the command makes the first owner', async () => {
  const { stdout, exitCode } = await run(['setup-link', '--base-url', 'https://auth.example.com']);
  const [, token = ''] = /^https:\/\/auth\.example\.com\/setup\?token=(\S+)\n$/.exec(stdout) ?? [];
  expect([exitCode, token === '']).toEqual([0, false]);
  const body = { token, email: 'ada@example.com' };
  const answer = await request({ url: `http://127.0.0.1:${port}` }, 'POST', '/api/setup', { body });
  expect(answer.status).toBe(200);
});

test('the outbox lists and shows mails', async () => {
  expect(await run(['outbox', 'list'])).toEqual({ stdout: 'No mail yet.\n', stderr: '', exitCode: 0 });
  expect(await run(['outbox', 'show', 'mail_none'])).toMatchObject({ exitCode: 1 });
});

test('the description needs no database', async () => {
  const { stdout, exitCode } = await run(['openapi'], { GATEHOUSE_DATABASE_URL: 'postgres://a:hunter2@127.0.0.1:1/b' });
  expect([exitCode, stdout.startsWith('openapi: ')]).toEqual([0, true]);
});

describe('commands on the files of a data folder', () => {
  test.each([
    [['backup', 'copy.backup'], 'pg_dump --format=custom'],
    [['restore', 'copy.backup'], 'pg_restore --exit-on-error'],
    [['backup', 'verify', 'copy.backup'], 'pg_restore into an empty database'],
  ])('%j names the command of PostgreSQL, and exits with 2', async (args, instead) => {
    const { stderr, exitCode } = await run(args);
    expect([exitCode, stderr.includes(instead)]).toEqual([2, true]);
  });
});

test('a start with the flag on an unreachable address is refused without the password', async () => {
  const { GATEHOUSE_DATABASE_URL: _, ...others } = ENVIRONMENT;
  const child = Bun.spawn(
    [process.execPath, 'src/main.ts', 'outbox', 'list', '--database-url', 'postgres://a:hunter2@127.0.0.1:1/b'],
    { cwd: ROOT, env: cleanEnvironment(others), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  );
  const message = await collect(child.stderr).whole;
  expect(await child.exited).toBe(1);
  expect(message).toContain('127.0.0.1:1/b is away: Failed to connect.');
  expect(message).not.toContain('hunter2');
});

test('the server stops on SIGTERM with exit code 0', async () => {
  server.kill('SIGTERM');
  expect(await server.exited).toBe(0);
});
