/** `serve --ephemeral`: an instance that an integration test starts, uses and throws away. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { isSecret } from '../../src/core/secret.ts';
import {
  emptyFolder,
  type EphemeralServer,
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

// Processes start here; a busy machine takes its time.
setDefaultTimeout(30_000);

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

  test('takes owner and workspace key from the environment where they are given', async () => {
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

  test('takes a loopback http address as return URL', async () => {
    const { workspaceKey: token, applicationId } = server;
    const body = { returnUrls: ['http://127.0.0.1:3000/signed-in'] };
    const answer = await request(server, 'PATCH', `/api/applications/${applicationId}`, { token, body });
    expect([answer.status, answer.json.data.returnUrls]).toEqual([200, body.returnUrls]);
  });

  test('knows nothing of another one started beside it', async () => {
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
    expect(Object.keys(newest).sort()).toEqual(['code', 'createdAt', 'html', 'id', 'subject', 'text', 'to']);
    expect(newest.code).toMatch(/^\d{6}$/);
    for (const part of [newest.subject, newest.text, newest.html]) expect(part).toContain(newest.code);
    expect(newest.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('is filtered by recipient, however the address is written', async () => {
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

  test('ends the wait between two codes', async () => {
    await sendCode(server, 'again@example.com', server.clientId);
    const body = { email: 'again@example.com', clientId: server.clientId };
    expect((await request(server, 'POST', '/api/v1/auth/otp/send', { body })).status).toBe(429);
    await advance(30_000);
    expect((await request(server, 'POST', '/api/v1/auth/otp/send', { body })).status).toBe(200);
  });

  test('expires a session, and answers only when what became due is done', async () => {
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

describe('an end', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('by %s leaves nothing behind and is a success', async (signal) => {
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

  test('for want of the port leaves nothing behind and says so', async () => {
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

  test('has no application and no person until somebody makes them', async () => {
    const list = await request(normal, 'GET', '/api/applications', { token: key });
    expect(list.json.data.items).toEqual([]);
    expect(normal.setupUrl).toContain('/setup?token=');
  });
});
