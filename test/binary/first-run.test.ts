/** First run and recovery: the one-time setup link, and the bootstrap from the environment. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, request, run, type RunningServer, signIn, startServer } from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const tokenOf = (link: string) => new URL(link).searchParams.get('token')!;
const statusOf = async (link: string) => (await fetch(link)).status;
const setUp = (server: RunningServer, token: string, email: string) =>
  request(server, 'POST', '/api/setup', { body: { token, email } });

function setupLink(folder: string, ...args: string[]) {
  return run(['setup-link', '--data', folder, ...args], { cwd: scratch.path });
}

describe('on an empty folder', () => {
  const folder = join(scratch.path, 'fresh');
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(folder);
  });
  afterAll(() => server.stop());

  test('/setup without a valid token does not exist, to a browser or a program', async () => {
    const good = tokenOf(server.setupUrl!);
    const lastOther = good.at(-1) === '0' ? '1' : '0';
    for (const query of ['?token=', '?token=guess', `?token=${good.slice(0, -1)}${lastOther}`])
      expect(await statusOf(`${server.url}/setup${query}`)).toBe(404);
    // The owner's browser can return to the page, but nobody else finds a form there.
    expect(await (await fetch(`${server.url}/setup`)).text()).not.toContain('<form');
    const answer = await setUp(server, 'guess', 'eve@example.com');
    expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
  });

  test('the printed link creates the first owner, once', async () => {
    const link = server.setupUrl!;
    expect(link).toStartWith(`${server.url}/setup?token=egs_`);
    expect(await statusOf(link)).toBe(200);

    const refused = await setUp(server, tokenOf(link), 'no address');
    expect([refused.status, await statusOf(link)]).toEqual([400, 200]);

    const done = await setUp(server, tokenOf(link), 'owner@example.com');
    expect(done.status).toBe(200);
    expect(done.headers.get('set-cookie')).toMatch(/HttpOnly/i);
    const { token } = done.json.data;
    expect((await request(server, 'POST', '/api/applications', { token, body: { name: 'Shop' } })).status).toBe(200);

    expect((await setUp(server, tokenOf(link), 'eve@example.com')).status).toBe(404);
    expect(await statusOf(link)).toBe(404);
  });

  test('the owner signs in by code afterwards', async () => {
    const { token } = await signIn(server, 'owner@example.com');
    expect((await request(server, 'GET', '/api/applications', { token })).json.data.items).toHaveLength(1);
  });

  test('setup-link during a run prints a working link, and invalidates the unused earlier one', async () => {
    const port = new URL(server.url).port;
    const [first, second] = [await setupLink(folder, '--port', port), await setupLink(folder, '--port', port)];
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(second.stdout).toMatch(new RegExp(`^${server.url}/setup\\?token=egs_\\w+\\n$`));
    expect(await statusOf(first.stdout.trim())).toBe(404);
    expect(await statusOf(second.stdout.trim())).toBe(200);
    const done = await setUp(server, tokenOf(second.stdout.trim()), 'second@example.com');
    const { token } = done.json.data;
    expect((await request(server, 'GET', '/api/applications', { token })).json.data.items).toHaveLength(1);
  });

  test('a link is built from the configured address', async () => {
    const { stdout } = await setupLink(folder, '--base-url', 'https://auth.example.com');
    expect(stdout).toStartWith('https://auth.example.com/setup?token=egs_');
  });

  test('once there is an owner, a start prints no link', async () => {
    await server.stop();
    server = await startServer(folder);
    expect(server.setupUrl).toBeNull();
    expect(server.stdout.text()).not.toContain('token=');
  });

  test('the folder has no setup or session token in plain text', async () => {
    const { stdout } = await setupLink(folder);
    const { token } = await signIn(server, 'second@example.com');
    for (const name of readdirSync(folder)) {
      const content = await Bun.file(join(folder, name)).text();
      for (const secret of [tokenOf(stdout.trim()), token]) expect(content).not.toContain(secret);
    }
  });
});

describe('setup-link', () => {
  test.each(['missing', '.'])('on a folder without a database (%s) fails and makes nothing', async (name) => {
    const empty = emptyFolder();
    const folder = join(empty.path, name);
    const { stdout, stderr, exitCode } = await setupLink(folder);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('no Gatehouse database');
    expect(readdirSync(empty.path)).toEqual([]);
    empty.remove();
  });

  test('replaces an unused first link, also while the server is stopped', async () => {
    const folder = join(scratch.path, 'stopped');
    const first = await startServer(folder);
    await first.stop();
    const { stdout } = await setupLink(folder);
    const server = await startServer(folder, { GATEHOUSE_OWNER_EMAIL: 'owner@example.com' });
    expect(server.setupUrl).toBeNull();
    expect((await setUp(server, tokenOf(first.setupUrl!), 'eve@example.com')).status).toBe(404);
    expect((await setUp(server, tokenOf(stdout.trim()), 'ada@example.com')).status).toBe(200);
    await server.stop();
  });
});

describe('bootstrap from the environment', () => {
  const folder = join(scratch.path, 'bootstrap');

  test('creates owner and key without a browser, prints no link, and is idempotent', async () => {
    const key = (await run(['key'], { cwd: scratch.path })).stdout.trim();
    const env = { GATEHOUSE_OWNER_EMAIL: 'Owner@Example.com', GATEHOUSE_WORKSPACE_KEY: key };
    for (const start of [1, 2]) {
      const server = await startServer(folder, env);
      expect(server.setupUrl).toBeNull();
      if (start === 1) await request(server, 'POST', '/api/applications', { token: key, body: { name: 'Shop' } });
      const keys = await request(server, 'GET', '/api/workspace/api-keys', { token: key });
      expect(keys.json.data.items).toHaveLength(1);
      expect((await request(server, 'GET', '/api/applications', { token: key })).json.data.items).toHaveLength(1);
      if (start === 2) expect((await signIn(server, 'owner@example.com')).token).toStartWith('est_');
      expect(server.stdout.text() + server.stderr.text()).not.toContain(key);
      await server.stop();
    }
    expect(existsSync(join(folder, 'gatehouse.db'))).toBe(true);
  });

  test('keeps the key valid after the setting is removed', async () => {
    const key = (await run(['key'], { cwd: scratch.path })).stdout.trim();
    await (await startServer(folder, { GATEHOUSE_WORKSPACE_KEY: key })).stop();
    const server = await startServer(folder);
    expect((await request(server, 'GET', '/api/applications', { token: key })).status).toBe(200);
    await server.stop();
  });
});
