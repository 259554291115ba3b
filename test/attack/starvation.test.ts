/** One tenant against all others: outbound requests that it causes must not delay or block those of others. */
import { afterEach, describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { emit } from '@/events/emit.ts';
import { guardedFetch } from '@/outbound/guarded-fetch.ts';
import { deliveryClaims } from '@/modules/webhooks/claims.ts';
import type { Application } from '@/store/applications.ts';
import { eventually } from '../support/eventually.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { amount } from '../support/long.ts';
import { startReceiver } from '../support/receiver.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Accepts every connection and never answers. */
function startSilent() {
  const sockets = new Set<Bun.Socket<undefined>>();
  const state = { connections: 0 };
  const listener = Bun.listen<undefined>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        state.connections += 1;
        sockets.add(socket);
      },
      data() {},
      close: (socket) => void sockets.delete(socket),
      error() {},
    },
  });
  const stop = () => {
    listener.stop(true);
    for (const socket of sockets) socket.terminate();
  };
  cleanups.push(stop);
  return { url: `http://127.0.0.1:${listener.port}/`, state, stop };
}

function setUp(environment: Record<string, string> = {}): Promise<Instance> {
  const outbound = guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true });
  return createInstance({ mode: 'ephemeral', outbound, environment });
}

async function subscribe(instance: Instance, token: string, { id }: Application, url: string): Promise<string> {
  const { json } = await instance.call('POST', `/api/applications/${id}/webhooks`, {
    token,
    body: { url, events: ['*'] },
  });
  return json.data.signingSecret;
}

const cause = (instance: Instance, { id: applicationId }: Application) =>
  instance.db.write(SYSTEM_ACTOR, (unit) => emit(unit, { type: 'user.banned', applicationId, data: { userId: 'u' } }));

type Workspace = Pick<given.Tenant, 'workspaceId' | 'workspaceKey'>;

/** Creates endpoints in one workspace that all stall, each with an event. */
async function stallEndpoints(
  instance: Instance,
  { workspaceId, workspaceKey }: Workspace,
  endpoints: number,
  url: string,
) {
  const each = 20;
  for (let made = 0; made < endpoints; made += each) {
    const { json } = await instance.call('POST', `/api/applications?workspaceId=${workspaceId}`, {
      token: workspaceKey,
      body: { name: `Hanging ${made}` },
    });
    for (let index = 0; index < each; index += 1) await subscribe(instance, workspaceKey, json.data, url);
    await cause(instance, json.data);
  }
}

/** Sends an event to the workspace's healthy endpoint. Behind a stalled attempt it would wait 15 seconds. */
async function reachHealthy(
  instance: Instance,
  { workspaceKey, application }: given.Tenant,
  withinMs = 5000,
): Promise<void> {
  const receiver = await startReceiver(() => instance.clock.real());
  cleanups.push(() => receiver.close());
  receiver.trust(await subscribe(instance, workspaceKey, application, receiver.url));
  await cause(instance, application);
  await eventually('the healthy endpoint got its event', () => receiver.received.length === 1, withinMs);
}

/** An address to which nothing is sent. */
const UNREACHED = 'http://127.0.0.1:65000/';

const underWay = async ({ sqlite }: Instance) =>
  (
    sqlite.query("SELECT count(*) AS n FROM deliveries WHERE status = 'pending' AND leased_until > 0").get() as {
      n: number;
    }
  ).n;

describe('deliveries', () => {
  test('300 stalled endpoints use a quarter of the slots; another workspace’s delivery goes out at once', async () => {
    const instance = await setUp();
    const [attacker, victim] = [await given.tenant(instance, 'Attacker'), await given.tenant(instance, 'Victim')];
    const silent = startSilent();
    await stallEndpoints(instance, attacker, 300, silent.url);
    await eventually('they hang', () => silent.state.connections >= 25);
    await reachHealthy(instance, victim);
    expect(silent.state.connections).toBe(25);
    silent.stop();
    await instance.services.deliveries.stop();
  });

  test('one maker’s stalled endpoints in many workspaces use a quarter; another’s delivery goes out within 2 s', async () => {
    const instance = await setUp();
    const silent = startSilent();
    const { token } = await instance.signIn('console', 'owner@example.com');
    for (let made = 0; made < amount(10, 40); made += 1)
      await stallEndpoints(instance, await given.workspaceMadeBy(instance, token), 40, silent.url);
    await eventually('they hang', () => silent.state.connections >= 25);
    for (const name of ['First', 'Second', 'Third'])
      await reachHealthy(instance, await given.tenant(instance, name), 2000);
    // Attempts that timed out meanwhile freed their slots for the next of the same maker.
    await eventually('the healthy ones are on record', async () => (await underWay(instance)) === 25);
    silent.stop();
    await instance.services.deliveries.stop();
  }, 120_000);

  test('a maker with nothing in progress comes next, however many endpoints of others wait', async () => {
    const instance = await setUp();
    await instance.services.deliveries.stop();
    const claims = deliveryClaims({ db: instance.db, clock: instance.clock, leaseHolder: 'instance' });
    for (let made = 0; made < 30; made += 1) {
      const { workspaceKey, application } = await given.tenant(instance, `Maker ${made}`);
      for (let index = 0; index < 5; index += 1) await subscribe(instance, workspaceKey, application, UNREACHED);
      for (let event = 0; event < 20; event += 1) await cause(instance, application);
    }
    await claims.search(true);
    const hanging = await claims.next();
    expect(hanging).toHaveLength(100);
    expect(new Set(hanging.map(({ budgetId }) => budgetId)).size).toBe(30);
    expect(await claims.next()).toEqual([]);

    const victim = await given.tenant(instance, 'Victim');
    await subscribe(instance, victim.workspaceKey, victim.application, UNREACHED);
    await cause(instance, victim.application);
    await claims.search(true);
    expect(await claims.next()).toEqual([]);
    for (const one of hanging.slice(-1)) claims.free(one);
    expect((await claims.next()).map(({ budgetId }) => budgetId)).toEqual([victim.workspaceId]);
  });

  test('four stalled workspaces leave slots for others', async () => {
    const instance = await setUp();
    const silent = startSilent();
    for (const name of ['One', 'Two', 'Three', 'Four'])
      await stallEndpoints(instance, await given.tenant(instance, name), 40, silent.url);
    await eventually('they hang', () => silent.state.connections >= 79);
    for (const name of ['First', 'Second', 'Third']) await reachHealthy(instance, await given.tenant(instance, name));
    expect(silent.state.connections).toBe(79);
    silent.stop();
    await instance.services.deliveries.stop();
  });
});

/** Creates a live application of the workspace with legal URLs. */
async function withLegalUrls(instance: Instance, { workspaceKey: token, workspaceId }: Workspace, url: string) {
  const { json } = await instance.call('POST', `/api/applications?workspaceId=${workspaceId}`, { token, body: {} });
  const { id } = json.data;
  const legalUrls = { terms: `${url}terms`, privacy: `${url}privacy`, imprint: `${url}imprint` };
  await instance.call('PATCH', `/api/applications/${id}`, { token, body: { legalUrls } });
  return { id: id as string, recheck: () => instance.call('POST', `/api/applications/${id}/recheck-urls`, { token }) };
}

function startSite(): string {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('the terms') });
  cleanups.push(() => server.stop(true));
  return server.url.href;
}

describe('checks of legal URLs', () => {
  test('stalled checks of 60 applications use a quarter of their slots; others’ checks and deliveries go on', async () => {
    const instance = await setUp();
    const [attacker, victim] = [await given.tenant(instance, 'Attacker'), await given.tenant(instance, 'Victim')];
    const silent = startSilent();
    const applications = [];
    for (let made = 0; made < 60; made += 1) applications.push(await withLegalUrls(instance, attacker, silent.url));
    const hanging = applications.map(({ recheck }) => recheck());
    await eventually('they hang', () => silent.state.connections >= 16);

    const { recheck } = await withLegalUrls(instance, victim, startSite());
    const checked = await recheck();
    expect(checked.json.data.urls).toMatchObject([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }]);
    await reachHealthy(instance, victim);
    expect(silent.state.connections).toBe(16);

    silent.stop();
    for (const { status } of await Promise.all(hanging)) expect(status).toBe(200);
    await instance.services.deliveries.stop();
  });

  test('stalled checks in 20 workspaces of one maker use a quarter of their slots; another’s are made', async () => {
    const instance = await setUp();
    const silent = startSilent();
    const { token } = await instance.signIn('console', 'owner@example.com');
    const applications = [];
    for (let made = 0; made < 20; made += 1)
      applications.push(await withLegalUrls(instance, await given.workspaceMadeBy(instance, token), silent.url));
    const hanging = applications.map(({ recheck }) => recheck());
    await eventually('they hang', () => silent.state.connections >= 16);
    const { recheck } = await withLegalUrls(instance, await given.tenant(instance, 'Victim'), startSite());
    expect((await recheck()).json.data.urls).toMatchObject([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }]);
    expect(silent.state.connections).toBe(16);
    silent.stop();
    await Promise.all(hanging);
  });

  test('concurrent checks of one application share one result', async () => {
    const instance = await setUp();
    const silent = startSilent();
    const { recheck } = await withLegalUrls(instance, await given.tenant(instance), silent.url);
    const asked = Array.from({ length: 150 }, recheck);
    await eventually('it hangs', () => silent.state.connections === 3);
    await Bun.sleep(100);
    expect(silent.state.connections).toBe(3);
    silent.stop();
    const answers = await Promise.all(asked);
    for (const { json } of answers)
      expect(json.data.urls).toMatchObject([
        { status: 'unreachable' },
        { status: 'unreachable' },
        { status: 'unreachable' },
      ]);
    expect(instance.auditKinds().filter((kind) => kind === 'application.urls_checked')).toHaveLength(1);
  });

  test('checks that wait too long fail with 503, and no URL is reported as unreachable for it', async () => {
    const instance = await setUp();
    const attacker = await given.tenant(instance);
    const silent = startSilent();
    const applications = [];
    for (let made = 0; made < 20; made += 1) applications.push(await withLegalUrls(instance, attacker, silent.url));
    const asked = applications.map(async ({ recheck }) => {
      const answer = await recheck();
      // After the first refusal the others need not stall for their full time.
      if (answer.status !== 200) silent.stop();
      return answer;
    });
    const refused = (await Promise.all(asked)).filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, json, headers } of refused) {
      expect(status).toBe(503);
      expect(json.error).toBe('unavailable');
      expect(json.message).toContain('outbound requests');
      expect(headers.get('retry-after')).toBe('5');
    }
  }, 120_000);
});

test('sign-ins at stalled issuers use a quarter of the slots; another workspace’s checks go on', async () => {
  const instance = await setUp();
  const silent = startSilent();
  const clientIds: string[] = [];
  for (let made = 0; made < 30; made += 1) {
    const { id, clientId } = await instance.createApplication({ signinMethods: ['otp', 'provider'] });
    clientIds.push(clientId);
    const configured = await instance.call('PUT', `/api/applications/${id}/identity-provider`, {
      token: instance.workspaceKey,
      body: { issuer: `${silent.url}${made}`, clientId: 'c', clientSecret: 's' },
    });
    expect(configured.status).toBe(200);
  }
  const victim = await given.tenant(instance, 'Victim');
  const begun = clientIds.map((clientId) => instance.call('GET', `/api/auth/google/start?clientId=${clientId}`));
  await eventually('they hang', () => silent.state.connections >= 16);
  const { recheck } = await withLegalUrls(instance, victim, startSite());
  expect((await recheck()).json.data.urls[0].status).toBe('ok');
  expect(silent.state.connections).toBe(16);
  silent.stop();
  for (const { status } of await Promise.all(begun)) expect(status).toBe(502);
});
