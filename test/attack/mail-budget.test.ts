/** Mail to strangers: how much a key can have this server send per hour to addresses of its choice. */
import { describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { HOUR } from '@/core/clock.ts';
import { guardedFetch } from '@/outbound/guarded-fetch.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

const LIMIT = 'GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE';

const addresses = (count: number, name = 'victim') =>
  Array.from({ length: count }, (_, index) => `${name}${index}@example.com`);

/** Mails without a code, of all workspaces. */
const mails = ({ sqlite }: Instance): number =>
  (sqlite.query('SELECT count(*) AS n FROM mails WHERE code IS NULL').get() as { n: number }).n;

const recipients = ({ sqlite }: Instance): string[] =>
  (sqlite.query('SELECT recipient FROM mails WHERE code IS NULL').all() as { recipient: string }[]).map(
    ({ recipient }) => recipient,
  );

interface Scene {
  readonly instance: Instance;
  readonly id: string;
  /** Calls with the application's key. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  pendingWork(): Promise<unknown>;
}

async function setUp(perHour?: number): Promise<Scene> {
  const instance = await createInstance({ environment: perHour === undefined ? {} : { [LIMIT]: String(perHour) } });
  const { id } = await instance.createApplication({ signinGate: 'closed' });
  const { token } = await instance.createKey(id);
  const call = (method: string, path: string, body?: unknown) =>
    instance.call(method, `/api/applications/${id}${path}`, { token, body });
  await call('POST', '/signin-gate', { gate: 'private_beta' });
  return { instance, id, call, pendingWork: async () => (await call('GET', '')).json.data.pendingWork };
}

async function addPending({ call }: Scene, emails: readonly string[]): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (let from = 0; from < emails.length; from += 500) {
    const added = await call('POST', '/beta-interests', { emails: emails.slice(from, from + 500), status: 'pending' });
    for (const { id, email } of added.json.data.items) ids[email] = id;
  }
  return ids;
}

const runDue = async ({ services }: Instance) => services.tasks.runOnce();

/** Expects the refusal for an exhausted mail budget. */
function expectSpent({ status, json, headers }: Answer, perHour: number): void {
  expect(status).toBe(429);
  expect(json.error).toBe('rate_limited');
  expect(json.message).toContain(`${perHour} unsolicited mails per hour`);
  expect(headers.get('ratelimit-limit')).toBe(String(perHour));
  expect(headers.get('ratelimit-remaining')).toBe('0');
  expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'));
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(3600);
}

describe('one application key', () => {
  test('queues 1,000 mails an hour for 2,000 addresses; the rest waits, and none is lost', async () => {
    const scene = await setUp();
    const { instance, call } = scene;
    const emails = addresses(2000);
    await addPending(scene, emails);
    const decided = await call('POST', '/beta-policy', { policy: 'auto_accept', notify: true });
    expect(decided.json.data).toEqual({ policy: 'auto_accept', decided: 2000 });
    await runDue(instance);
    expect(mails(instance)).toBe(1000);
    expect(await scene.pendingWork()).toMatchObject({ kind: 'decide_pending', done: 1000, total: 2000 });
    // All are let in at once, before their mails are sent.
    const listed = await call('GET', '/beta-interests?status=pending');
    expect(listed.json.data.items).toEqual([]);

    instance.clock.advance(HOUR - 1);
    await runDue(instance);
    expect(mails(instance)).toBe(1000);
    instance.clock.advance(1);
    await runDue(instance);
    expect(recipients(instance).sort()).toEqual(emails.toSorted());
    expect(await scene.pendingWork()).toBeNull();
  });

  test('keeps its hourly limit after a restart', async () => {
    const scene = await setUp(10);
    await addPending(scene, addresses(30));
    await scene.call('POST', '/beta-policy', { policy: 'auto_accept', notify: true });
    await runDue(scene.instance);
    expect(mails(scene.instance)).toBe(10);
    const restarted = await scene.instance.restart();
    await runDue(restarted);
    await restarted.services.flushCounters();
    await runDue(await restarted.restart());
    expect(mails(scene.instance)).toBe(10);
  });

  test('gets 429 with the reason for a decision with a mail beyond the budget, which changes nothing', async () => {
    const scene = await setUp(2);
    const { instance, call } = scene;
    const ids = await addPending(scene, addresses(4));
    const [one, two, three, four] = addresses(4).map((email) => `/beta-interests/${ids[email]}`);
    const first = await call('POST', `${one}/approve`, { notify: true });
    expect(first.headers.get('ratelimit-limit')).toBe('2');
    expect(first.headers.get('ratelimit-remaining')).toBe('1');
    expect((await call('POST', `${two}/decline`, { soft: true })).status).toBe(200);
    const audited = instance.auditKinds().length;
    expectSpent(await call('POST', `${three}/approve`, { notify: true }), 2);
    expectSpent(await call('POST', `${four}/decline`, { soft: true }), 2);
    expect(instance.auditKinds()).toHaveLength(audited);
    const { items } = (await call('GET', '/beta-interests?status=pending')).json.data;
    expect(items.map(({ id }: { id: string }) => `/beta-interests/${id}`).sort()).toEqual([three!, four!].sort());
    // Calls without a mail still succeed.
    expect((await call('POST', `${three}/approve`, {})).status).toBe(200);
    expect((await call('POST', `${four}/decline`, {})).status).toBe(200);
    expect(mails(instance)).toBe(2);
  });

  test('gets as many mails from 20 concurrent calls as are left', async () => {
    const scene = await setUp(7);
    const ids = Object.values(await addPending(scene, addresses(20)));
    const answers = await Promise.all(
      ids.map((id) => scene.call('POST', `/beta-interests/${id}/approve`, { notify: true })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(13);
    expect(mails(scene.instance)).toBe(7);
  });

  test('does not affect another workspace’s budget or sign-in codes of its own people', async () => {
    const scene = await setUp(3);
    const { instance } = scene;
    await addPending(scene, addresses(10));
    await scene.call('POST', '/beta-policy', { policy: 'auto_accept', notify: true });
    await runDue(instance);
    expect(mails(instance)).toBe(3);
    const { workspaceKey: token } = await given.tenant(instance);
    const invited = await instance.call('POST', '/api/workspace/members', {
      token,
      body: { email: 'colleague@example.org', role: 'member' },
    });
    expect(invited.status).toBe(200);
    const { clientId } = await instance.createApplication();
    await instance.signIn(clientId, 'ada@example.com');
  });
});

test('four workspaces made by one account share one mail budget; another maker’s mails still go out', async () => {
  const instance = await createInstance({ environment: { [LIMIT]: '100', GATEHOUSE_LIMIT_WORKSPACES_PER_DAY: '4' } });
  const { token } = await instance.signIn('console', 'owner@example.com');
  const made: Awaited<ReturnType<typeof given.workspaceMadeBy>>[] = [];
  for (let count = 0; count < 4; count += 1) made.push(await given.workspaceMadeBy(instance, token));
  const invite = (workspaceKey: string, email: string) =>
    instance.call('POST', '/api/workspace/members', { token: workspaceKey, body: { email, role: 'member' } });
  const emails = addresses(160);
  const answers: Answer[] = [];
  // All 160 at once would conflict for longer than a call waits for a busy database.
  for (let at = 0; at < emails.length; at += 16) {
    const asked = emails.slice(at, at + 16).map((email, index) => invite(made[index % 4]!.workspaceKey, email));
    answers.push(...(await Promise.all(asked)));
  }
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  for (const answer of answers.filter(({ status }) => status !== 200)) expectSpent(answer, 100);
  expect(mails(instance)).toBe(100);
  // The first workspace has no maker, and a budget of its own.
  const own = await invite(instance.workspaceKey, 'colleague@example.org');
  expect([own.status, own.headers.get('ratelimit-remaining')]).toEqual([200, '99']);
  instance.clock.advance(HOUR);
  expect((await invite(made[0]!.workspaceKey, 'later@example.org')).status).toBe(200);
});

test('workspaces whose maker was removed from them keep the spent budget', async () => {
  const instance = await createInstance({ environment: { [LIMIT]: '2' } });
  const first = await instance.signIn('console', 'owner@example.com');
  await instance.call('POST', '/api/workspace/members', {
    token: first.token,
    body: { email: 'maker@example.org', role: 'owner' },
  });
  const maker = await instance.signIn('console', 'maker@example.org');
  const made = [
    await given.workspaceMadeBy(instance, maker.token),
    await given.workspaceMadeBy(instance, maker.token),
  ] as const;
  const call = (key: string, method: string, path: string, body?: object) =>
    instance.call(method, `/api/workspace/members${path}`, { token: key, body });
  // From here on another person owns both.
  for (const { workspaceId } of made) {
    const path = `?workspaceId=${workspaceId}`;
    const other = await call(maker.token, 'POST', path, { email: 'owner@example.com', role: 'owner' });
    expect(other.status).toBe(200);
  }
  expectSpent(await call(made[0].workspaceKey, 'POST', '', { email: 'one@example.org', role: 'member' }), 2);
  const { token } = await instance.signIn('console', 'owner@example.com');
  for (const { workspaceId } of made) {
    const { items } = (await call(token, 'GET', `?workspaceId=${workspaceId}`)).json.data;
    const { id } = items.find(({ email }: { email: string }) => email === 'maker@example.org');
    expect((await call(token, 'DELETE', `/${id}?workspaceId=${workspaceId}`)).status).toBe(200);
  }
  for (const { workspaceKey } of made)
    expectSpent(await call(workspaceKey, 'POST', '', { email: 'two@example.org', role: 'member' }), 2);
});

test('a launch pauses when the mail budget is spent, resumes each hour, and mails each person once', async () => {
  const scene = await setUp(100);
  const { instance, call } = scene;
  const emails = addresses(250);
  await addPending(scene, emails);
  await call('POST', '/signin-gate', { gate: 'public' });
  await runDue(instance);
  expect(mails(instance)).toBe(100);
  expect(await scene.pendingWork()).toMatchObject({ kind: 'launch', done: 100 });
  for (const told of [200, 250]) {
    instance.clock.advance(HOUR);
    await runDue(instance);
    expect(mails(instance)).toBe(told);
  }
  expect(recipients(instance).sort()).toEqual(emails.toSorted());
  expect(await scene.pendingWork()).toBeNull();
  // It waits instead of failing repeatedly.
  expect(instance.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

test('a background task whose last mail was the last of the hour is complete', async () => {
  const scene = await setUp(150);
  await addPending(scene, addresses(150));
  await scene.call('POST', '/beta-policy', { policy: 'auto_accept', notify: true });
  await runDue(scene.instance);
  expect(mails(scene.instance)).toBe(150);
  expect(await scene.pendingWork()).toBeNull();
  await scene.call('POST', '/beta-policy', { policy: 'auto_decline', notify: true });
  await scene.call('POST', '/signin-gate', { gate: 'public' });
  await runDue(scene.instance);
  expect(await scene.pendingWork()).toBeNull();
});

test('workspace invitations are counted, even for a person who is removed and invited again', async () => {
  const { instance } = await setUp(3);
  const token = instance.workspaceKey;
  const invite = (email: string) =>
    instance.call('POST', '/api/workspace/members', { token, body: { email, role: 'member' } });
  for (let turn = 0; turn < 3; turn += 1) {
    const { status, json } = await invite('victim@example.com');
    expect(status).toBe(200);
    await instance.call('DELETE', `/api/workspace/members/${json.data.id}`, { token });
  }
  expectSpent(await invite('victim@example.com'), 3);
  expectSpent(await invite('other@example.com'), 3);
  const members = await instance.call('GET', '/api/workspace/members', { token });
  expect(members.json.data.items).toHaveLength(1);
  expect(mails(instance)).toBe(3);
  instance.clock.advance(HOUR);
  expect((await invite('other@example.com')).status).toBe(200);
});

test('a webhook that is repeatedly released and quarantined does not flood its owners’ mailboxes', async () => {
  const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status: 410 }) });
  try {
    const instance = await createInstance({
      mode: 'ephemeral',
      environment: { [LIMIT]: '5' },
      outbound: guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true }),
    });
    const { id } = await instance.createApplication();
    const token = instance.workspaceKey;
    const webhooks = `/api/applications/${id}/webhooks`;
    const { json } = await instance.call('POST', webhooks, { token, body: { url: gone.url.href, events: ['*'] } });
    for (let turn = 0; turn < 12; turn += 1) {
      await instance.call('POST', `${webhooks}/${json.data.id}/test`, { token });
      await instance.services.deliveries.runOnce();
      const released = await instance.call('POST', `${webhooks}/${json.data.id}/release`, { token });
      expect(released.status).toBe(200);
    }
    expect(mails(instance)).toBe(5);
    expect(instance.auditKinds().filter((kind) => kind === 'webhook.quarantined')).toHaveLength(12);
  } finally {
    await gone.stop(true);
  }
});

test('only codes and notices to people about their own account bypass the mail budget', async () => {
  const SRC = join(import.meta.dir, '../../src');
  const asked: Record<string, string> = {
    'mail/account-notices.ts': 'what was done to somebody’s own account',
    'mail/workspace-mail.ts': 'the budget itself',
    'store/mails.ts': 'where it is defined',
    'modules/account/confirmation.ts': 'codes',
    'modules/backups/owners.ts': 'one when backups begin to fail, and one when they work again',
    'modules/lifecycle/service.ts': 'codes',
    'modules/sign-in/otp.ts': 'codes',
  };
  const users: string[] = [];
  for (const path of new Bun.Glob('**/*.ts').scanSync(SRC))
    if (/\bqueueMail\b/.test(await Bun.file(join(SRC, path)).text())) users.push(path);
  expect(users.sort()).toEqual(Object.keys(asked).sort());
});
