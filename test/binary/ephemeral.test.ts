/** `serve --ephemeral`: an instance that an integration test starts, uses and throws away. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isSecret } from '../../src/core/secret.ts';
import {
  BINARY,
  cleanEnvironment,
  collect,
  emptyFolder,
  type EphemeralServer,
  eventually,
  outboxCode,
  request,
  run,
  type RunningServer,
  sendCode,
  signIn,
  startEphemeral,
  startServer,
  verifyCode,
} from '../support/binary.ts';
import { amount } from '../support/long.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const RUNNER = resolve(import.meta.dir, '../support/runner.ts');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let server: EphemeralServer;
beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(() => server.stop());

const advance = (advanceMs: unknown) => request(server, 'POST', '/test/clock', { body: { advanceMs } });
const outbox = async (query = '') => (await request(server, 'GET', `/test/outbox${query}`)).json.data.items;

describe('an ephemeral instance', () => {
  test('writes exactly one line of JSON on stdout, and its log on stderr', async () => {
    const talkative = await startEphemeral(['--port', '0'], { GATEHOUSE_LOG_LEVEL: 'debug' });
    await signIn(talkative, 'ada@example.com', talkative.clientId);
    await request(talkative, 'GET', '/no/such/path');
    await talkative.stop();
    const stdout = await talkative.stdout.whole;
    expect(stdout).toMatch(/^[^\n]+\n$/);
    const ready = JSON.parse(stdout);
    expect(Object.keys(ready)).toEqual(['ready', 'url', 'workspaceId', 'workspaceKey', 'applicationId', 'clientId']);
    expect(ready).toMatchObject({
      ready: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      workspaceId: expect.stringMatching(/^wsp_/),
      applicationId: expect.stringMatching(/^app_/),
    });
    expect(isSecret('apiKey', ready.workspaceKey)).toBe(true);
    const lines = (await talkative.stderr.whole).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line)).some(({ route }) => route === '/api/v1/auth/otp/verify')).toBe(true);
    expect(lines.join('')).not.toContain('ada@example.com');
  });

  test('has a live application, reached with its workspace key, that people can sign in to', async () => {
    const { workspaceKey, applicationId, clientId, workspaceId } = server;
    const application = await request(server, 'GET', `/api/applications/${applicationId}`, { token: workspaceKey });
    expect(application.json.data).toMatchObject({ clientId, workspaceId, stage: 'live', signinGate: 'public' });
    const { token, userId } = await signIn(server, 'first@example.com', clientId);
    const session = await request(server, 'POST', '/api/v1/session', { token });
    expect(session.json).toMatchObject({ ok: true, userId, applicationId, email: 'first@example.com' });
    const verified = await request(server, 'POST', '/api/v1/verify', { token: workspaceKey, body: { token } });
    expect(verified.json.success).toBe(true);
  });

  test('has an owner, who signs in to the console and manages with that session', async () => {
    const { token } = await signIn(server, 'owner@example.test');
    const list = await request(server, 'GET', '/api/applications', { token });
    expect(list.json.data.items.map(({ id }: { id: string }) => id)).toEqual([server.applicationId]);
  });

  test('takes owner and workspace key from the environment if given', async () => {
    const { stdout } = await run(['key'], { cwd: '/' });
    const key = stdout.trim();
    const given = await startEphemeral([], { GATEHOUSE_WORKSPACE_KEY: key, GATEHOUSE_OWNER_EMAIL: 'me@example.org' });
    expect(given.workspaceKey).toBe(key);
    expect((await request(given, 'GET', '/api/applications', { token: key })).status).toBe(200);
    expect((await signIn(given, 'me@example.org')).token).toStartWith('est_');
    expect(await signIn(given, 'owner@example.test').catch((error) => error.message)).toContain('gate_closed');
    await given.stop();
  });

  test('lets one address sign in fifty people: its per-address limit is off', async () => {
    const people = Array.from({ length: 50 }, (_, index) => `person${index}@example.com`);
    const sessions = await Promise.all(people.map((email) => signIn(server, email, server.clientId)));
    expect(new Set(sessions.map(({ userId }) => userId)).size).toBe(50);
  });

  test('lets one person sign in twenty times in a row, without cool-down or limit on codes', async () => {
    const tokens = new Set<string>();
    for (let time = 0; time < 20; time += 1)
      tokens.add((await signIn(server, 'often@example.com', server.clientId)).token);
    expect(tokens.size).toBe(20);
  });

  test('mails a new code for each request', async () => {
    const challenges = new Set<string>();
    for (let time = 0; time < 8; time += 1)
      challenges.add(await sendCode(server, 'asking@example.com', server.clientId));
    expect(challenges.size).toBe(8);
    expect(await outbox('?to=asking@example.com')).toHaveLength(8);
  });

  test('accepts an http return URL on loopback', async () => {
    const { workspaceKey: token, applicationId } = server;
    const body = { returnUrls: ['http://127.0.0.1:3000/signed-in'] };
    const answer = await request(server, 'PATCH', `/api/applications/${applicationId}`, { token, body });
    expect([answer.status, answer.json.data.returnUrls]).toEqual([200, body.returnUrls]);
  });

  test('shares nothing with another instance that runs at the same time', async () => {
    const other = await startEphemeral();
    const { token } = await signIn(server, 'beside@example.com', server.clientId);
    expect(other.url).not.toBe(server.url);
    expect((await request(other, 'POST', '/api/v1/session', { token })).status).toBe(401);
    expect((await request(other, 'GET', '/api/applications', { token: server.workspaceKey })).status).toBe(401);
    expect((await request(other, 'GET', '/test/outbox')).json.data.items).toEqual([]);
    await other.stop();
  });
});

describe('the outbox', () => {
  test('lists captured mail newest first, with the code in it', async () => {
    await sendCode(server, 'one@example.com', server.clientId);
    await sendCode(server, 'two@example.com', server.clientId);
    const [newest, before] = await outbox();
    expect([newest.to, before.to]).toEqual(['two@example.com', 'one@example.com']);
    const fields = ['code', 'createdAt', 'html', 'id', 'replyTo', 'sender', 'subject', 'text', 'to'];
    expect(Object.keys(newest).sort()).toEqual(fields);
    expect(newest.code).toMatch(/^\d{6}$/);
    for (const part of [newest.subject, newest.text, newest.html]) expect(part).toContain(newest.code);
    expect(newest.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('is filtered by recipient, in any spelling of the address', async () => {
    await sendCode(server, 'three@example.com', server.clientId);
    await sendCode(server, 'four@example.com', server.clientId);
    const items = await outbox(`?to=${encodeURIComponent('Three@Example.COM')}`);
    expect(items.map(({ to }: { to: string }) => to)).toEqual(['three@example.com']);
    expect(await outbox('?to=nobody@example.com')).toEqual([]);
  });

  test('is empty after DELETE, and a code that was in it still works', async () => {
    const challengeId = await sendCode(server, 'five@example.com', server.clientId);
    const code = await outboxCode(server, 'five@example.com');
    const { json } = await request(server, 'DELETE', '/test/outbox');
    expect(json.data.deleted).toBeGreaterThan(0);
    expect(await outbox()).toEqual([]);
    expect((await verifyCode(server, challengeId, code)).status).toBe(200);
  });
});

describe('the test clock', () => {
  test('expires a code', async () => {
    const challengeId = await sendCode(server, 'late@example.com', server.clientId);
    const code = await outboxCode(server, 'late@example.com');
    const before = Date.parse((await advance(0)).json.data.now);
    const after = Date.parse((await advance(10 * MINUTE)).json.data.now);
    expect(after - before).toBeGreaterThanOrEqual(10 * MINUTE);
    const answer = await verifyCode(server, challengeId, code);
    expect([answer.status, answer.json.error]).toEqual([400, 'code_expired']);
  });

  test('lets a person sign in again at once after it was moved', async () => {
    const userIds = new Set<string>();
    for (const step of [0, MINUTE, 29 * DAY, 400 * DAY]) {
      await advance(step);
      userIds.add((await signIn(server, 'again@example.com', server.clientId)).userId);
    }
    expect(userIds.size).toBe(1);
  });

  test('expires a session, and answers after all due jobs have run', async () => {
    const { token } = await signIn(server, 'session@example.com', server.clientId);
    await advance(31 * DAY);
    const answer = await request(server, 'POST', '/api/v1/session', { token });
    expect([answer.status, answer.json.error]).toEqual([401, 'expired']);
    await advance(31 * DAY);
    expect((await request(server, 'POST', '/api/v1/session', { token })).json.error).toBe('invalid_token');
  });

  test.each([[-1], [1.5], ['60000'], [null], [undefined], [1e15]])('refuses advanceMs %p', async (advanceMs) => {
    const answer = await advance(advanceMs);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    expect(answer.json.fields[0].path).toBe('advanceMs');
  });
});

describe('an ephemeral instance ends', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('with 0 by %s and leaves nothing behind', async (signal) => {
    const temporary = emptyFolder();
    const cwd = emptyFolder();
    const ended = await startEphemeral([], { TMPDIR: temporary.path }, cwd.path);
    await signIn(ended, 'ada@example.com', ended.clientId);
    expect(readdirSync(temporary.path)).toHaveLength(1);
    expect(await ended.stop(signal)).toBe(0);
    expect(readdirSync(temporary.path)).toEqual([]);
    expect(readdirSync(cwd.path)).toEqual([]);
    temporary.remove();
    cwd.remove();
  });

  test('with a message and leaves nothing behind if its port is in use', async () => {
    const temporary = emptyFolder();
    const port = new URL(server.url).port;
    const refused = await run(['serve', '--ephemeral', '--port', port], {
      cwd: temporary.path,
      env: { TMPDIR: temporary.path },
    });
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain(`Port ${port}`);
    expect(readdirSync(temporary.path)).toEqual([]);
    temporary.remove();
  });
});

describe('the process that started an instance', () => {
  interface Started {
    readonly url: string;
    readonly pid: number;
  }

  /** Starts a runner as a separate process, with one ready instance per list of flags. */
  async function startRunner(stdin: 'pipe' | 'ignore' | 'inherit', ...instances: string[][]) {
    const temporary = emptyFolder();
    const args = [RUNNER, BINARY, stdin, ...instances.map((flags) => JSON.stringify(flags))];
    const runner = Bun.spawn([process.execPath, ...args], {
      env: cleanEnvironment({ TMPDIR: temporary.path }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    });
    const said = (await collect(runner.stdout).until(/all are ready\n$/)).trim().split('\n').slice(0, -1);
    const started = said.map((line) => JSON.parse(line) as Started);
    for (const instance of started) all.push(instance);
    return { runner, temporary, started };
  }

  // Instances that a failing test leaves behind.
  const all: Started[] = [];
  afterAll(async () => {
    for (const instance of all) if (await isUp(instance)) process.kill(instance.pid, 'SIGKILL');
  });

  const isUp = ({ url }: { url: string }) =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );

  test.each(['pipe', 'ignore', 'inherit'] as const)(
    'ends it and its folder by being killed: standard input %s',
    async (stdin) => {
      const { runner, temporary, started } = await startRunner(stdin, [], []);
      expect(readdirSync(temporary.path)).toHaveLength(2);
      runner.kill('SIGKILL');
      for (const instance of started) await eventually('it has ended', async () => !(await isUp(instance)));
      await eventually('its folder is gone', () => readdirSync(temporary.path).length === 0);
      temporary.remove();
    },
  );

  test('leaves it running with --no-follow-parent', async () => {
    const { runner, temporary, started } = await startRunner('pipe', [], ['--no-follow-parent']);
    const [following, other] = started as [Started, Started];
    runner.kill('SIGKILL');
    await eventually('the one that follows has ended', async () => !(await isUp(following)));
    expect(await isUp(other)).toBe(true);
    process.kill(other.pid, 'SIGTERM');
    await eventually('the other ends by a signal', () => readdirSync(temporary.path).length === 0);
    temporary.remove();
  });

  const spawnWithPipe = (flags: string[] = []) => {
    const child = Bun.spawn([BINARY, 'serve', '--ephemeral', ...flags], {
      env: cleanEnvironment(),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    return { child, stdout: collect(child.stdout), stderr: collect(child.stderr) };
  };

  test('ends it with exit code 0 and a log line by closing its piped standard input', async () => {
    const { child, stdout, stderr } = spawnWithPipe();
    await stdout.until(/\n/);
    child.stdin.write('what comes through it means nothing\n');
    await child.stdin.end();
    expect(await child.exited).toBe(0);
    expect(await stderr.whole).toContain('its standard input was closed');
  });

  test('may close its standard input at once, as with /dev/null', async () => {
    const { child, stdout, stderr } = spawnWithPipe();
    await child.stdin.end();
    const ready = JSON.parse(await stdout.until(/\n/)) as EphemeralServer;
    for (const email of ['ada@example.com', 'bob@example.com']) await signIn(ready, email, ready.clientId);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    expect(await stderr.whole).not.toContain('the parent process of this ephemeral instance');
  });

  test('may close the pipe of an instance with --no-follow-parent', async () => {
    const [following, other] = [spawnWithPipe(), spawnWithPipe(['--no-follow-parent'])];
    const ready = JSON.parse(await other.stdout.until(/\n/)) as EphemeralServer;
    await following.stdout.until(/\n/);
    await Promise.all([other.child.stdin.end(), following.child.stdin.end()]);
    expect(await following.child.exited).toBe(0);
    expect(await isUp(ready)).toBe(true);
    other.child.kill('SIGTERM');
    expect(await other.child.exited).toBe(0);
  });

  test('is followed by an ephemeral instance alone', async () => {
    const refused = await run(['serve', '--no-follow-parent'], { cwd: '/' });
    expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('--no-follow-parent is for --ephemeral');
  });
});

describe('a start', () => {
  test('removes the folders of killed instances, and no others', async () => {
    const temporary = emptyFolder();
    const env = { TMPDIR: temporary.path };
    const [dead, alive] = [await startEphemeral([], env), await startEphemeral([], env)];
    for (const name of ['gatehouse-data', 'gatehouse-ephemeral', 'gatehouse-ephemeral-notes-1'])
      mkdirSync(join(temporary.path, name));
    await signIn(alive, 'ada@example.com', alive.clientId);
    await dead.stop('SIGKILL');
    const before = readdirSync(temporary.path);
    const of = ({ process: { pid } }: EphemeralServer) => before.find((name) => name.includes(`-${pid}-`));
    const next = await startEphemeral([], env);
    const after = readdirSync(temporary.path);
    expect(after).not.toContain(of(dead));
    expect(after).toEqual(expect.arrayContaining(before.filter((name) => name !== of(dead))));
    expect((await signIn(alive, 'bob@example.com', alive.clientId)).token).toStartWith('est_');
    await Promise.all([alive.stop(), next.stop()]);
    expect(readdirSync(temporary.path).sort()).toEqual([
      'gatehouse-data',
      'gatehouse-ephemeral',
      'gatehouse-ephemeral-notes-1',
    ]);
    temporary.remove();
  });

  test('alongside many others and a dead one succeeds', async () => {
    const temporary = emptyFolder();
    const env = { TMPDIR: temporary.path };
    await (await startEphemeral([], env)).stop('SIGKILL');
    const count = amount(8, 20);
    const all = await Promise.all(Array.from({ length: count }, () => startEphemeral([], env)));
    expect(readdirSync(temporary.path)).toHaveLength(count);
    expect(await Promise.all(all.map((one) => one.stop()))).toEqual(Array(count).fill(0));
    temporary.remove();
  });
});

describe('a normal server', () => {
  const folder = emptyFolder();
  let normal: RunningServer;
  let key: string;
  beforeAll(async () => {
    key = (await run(['key'], { cwd: '/' })).stdout.trim();
    normal = await startServer(folder.path, { GATEHOUSE_WORKSPACE_KEY: key });
  });
  afterAll(async () => {
    await normal.stop();
    folder.remove();
  });

  test.each([
    ['GET', '/test/outbox'],
    ['DELETE', '/test/outbox'],
    ['POST', '/test/clock'],
  ])('has no %s %s', async (method, path) => {
    const answer = await request(normal, method, path, method === 'POST' ? { body: { advanceMs: 1 } } : {});
    expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
  });

  test('refuses a loopback http address as return URL', async () => {
    const body = { returnUrls: ['http://127.0.0.1:3000/signed-in'] };
    const answer = await request(normal, 'POST', '/api/applications', { token: key, body });
    expect([answer.status, answer.json.fields?.[0].path]).toEqual([400, 'returnUrls.0']);
  });

  test('has no application and no person at first', async () => {
    const list = await request(normal, 'GET', '/api/applications', { token: key });
    expect(list.json.data.items).toEqual([]);
    expect(normal.setupUrl).toContain('/setup?token=');
  });
});
