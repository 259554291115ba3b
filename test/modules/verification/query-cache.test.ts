/**
 * The cached verdict of a token equals a fresh one after each kind of change, for every token. Lookups inside a
 * change bypass the cache, which gives the comparison.
 */
import { expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { emptyFolder } from '../../support/binary.ts';
import { createInstance, createInstanceOn, type Instance } from '../../support/instance.ts';

/** Requests after which each verdict is cached. */
const TIMES = 3;

const environment = { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000', GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000' };

async function createWorld(opened?: Instance) {
  const instance = opened ?? (await createInstance({ environment }));
  const application = await instance.createApplication({ name: 'Shop', slug: 'shop' });
  const signIn = async (clientId: string, email: string) => {
    instance.clock.advance(MINUTE);
    return instance.signIn(clientId, email);
  };
  const call = async (method: string, path: string, body?: unknown, token = instance.workspaceKey) => {
    const answer = await instance.call(method, path, { token, body });
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.json.data;
  };
  const connect = async (clientId: string, token: string): Promise<string> => {
    const body = { client_id: clientId, device_name: 'Laptop' };
    const { user_code, device_code } = (await instance.call('POST', '/api/v1/device/code', { body })).json;
    await instance.call('POST', '/api/account/device/approve', { token, body: { user_code } });
    instance.clock.advance(10_000);
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    const redeemed = { client_id: clientId, device_code, grant_type };
    return (await instance.call('POST', '/api/v1/device/token', { body: redeemed })).json.access_token;
  };

  const ada = await signIn(application.clientId, 'ada@example.com');
  const bob = await signIn(application.clientId, 'bob@example.com');
  const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
  const adminKey = await connect('console', admin.token);
  const madeWithIt = await call(
    'POST',
    `/api/applications/${application.id}/api-keys`,
    { name: 'made', access: 'read' },
    adminKey,
  );
  const tokens = {
    ada: ada.token,
    adaAgain: (await signIn(application.clientId, 'ada@example.com')).token,
    adaOnceMore: (await signIn(application.clientId, 'ada@example.com')).token,
    bob: bob.token,
    admin: admin.token,
    adaDevice: await connect(application.clientId, ada.token),
    adminKey,
    made: madeWithIt.token as string,
    key: (await instance.createKey(application.id, { access: 'read' })).token,
  };
  return { instance, application, ada, bob, admin, tokens, call, signIn };
}

type World = Awaited<ReturnType<typeof createWorld>>;

async function verdictsOf({ instance, tokens }: World, isRemembered: boolean): Promise<Record<string, unknown>> {
  const { credentials, look } = instance.services.verification;
  const found: Record<string, unknown> = {};
  for (const [name, token] of Object.entries(tokens)) {
    const find = token.startsWith('est_') ? credentials.findSession : credentials.findKey;
    const { db } = instance;
    const judged = isRemembered
      ? await find(token, db.reader)
      : await db.write(SYSTEM_ACTOR, (unit) => find(token, unit) as Promise<unknown>);
    found[name] = judged;
    if (isRemembered) await look(token);
  }
  return JSON.parse(JSON.stringify(found));
}

const changes: [string, (world: World) => Promise<unknown>][] = [
  ['a stranger signs up', ({ signIn, application }) => signIn(application.clientId, 'new@example.com')],
  ['somebody signs in again', ({ signIn, application }) => signIn(application.clientId, 'bob@example.com')],
  [
    'a code is sent',
    ({ instance }) => instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'x@example.com' } }),
  ],
  [
    'roles are given',
    ({ instance, application, ada }) => given.holder(instance, 'roles', application.id, ada.userId, 'admin'),
  ],
  [
    'scopes are given',
    ({ instance, application, ada }) => given.holder(instance, 'scopes', application.id, ada.userId, 'read'),
  ],
  [
    'groups are given',
    ({ instance, application, bob }) => given.holder(instance, 'memberships', application.id, bob.userId, 'team'),
  ],
  [
    'roles are replaced',
    ({ call, application, ada }) =>
      call('PUT', `/api/applications/${application.id}/users/${ada.userId}/roles`, { slugs: ['admin'] }),
  ],
  [
    'a username is chosen',
    ({ call, tokens }) => call('PATCH', '/api/account/username', { username: 'ada.l' }, tokens.ada),
  ],
  ['a name changes', ({ instance, bob }) => given.person(instance, bob.userId, { fullName: 'Robert' })],
  [
    'a role is renamed',
    async ({ call, application }) => {
      const { items } = await call('GET', `/api/applications/${application.id}/roles`);
      const { id } = items.find(({ slug }: { slug: string }) => slug === 'user');
      await call('PATCH', `/api/applications/${application.id}/roles/${id}?force=true`, { slug: 'customer' });
    },
  ],
  [
    'a tenant is renamed',
    ({ call, application }) => call('PATCH', `/api/applications/${application.id}`, { slug: 'store' }),
  ],
  [
    'a role is removed',
    async ({ call, application }) => {
      const { items } = await call('GET', `/api/applications/${application.id}/roles`);
      const { id } = items.find(({ slug }: { slug: string }) => slug === 'admin');
      await call('DELETE', `/api/applications/${application.id}/roles/${id}?force=true`);
    },
  ],
  ['a session signs out', ({ call, tokens }) => call('DELETE', '/api/v1/session', undefined, tokens.adaAgain)],
  [
    'a session is ended by the operator',
    async ({ call, application, ada }) => {
      const path = `/api/applications/${application.id}/users/${ada.userId}/sessions`;
      const { items } = await call('GET', path);
      await call('DELETE', `${path}/${items[0].id}`);
    },
  ],
  [
    'somebody is paused',
    ({ call, application, bob }) => call('POST', `/api/applications/${application.id}/users/${bob.userId}/pause`),
  ],
  [
    'somebody is resumed',
    ({ call, application, bob }) => call('POST', `/api/applications/${application.id}/users/${bob.userId}/resume`),
  ],
  [
    'a session has come back',
    async (world) =>
      void (world.tokens.bob = (await world.signIn(world.application.clientId, 'bob@example.com')).token),
  ],
  [
    'somebody is banned',
    ({ call, application, bob }) => call('POST', `/api/applications/${application.id}/users/${bob.userId}/ban`),
  ],
  [
    'a state is set as such',
    ({ instance, application, bob }) => given.member(instance, application.id, bob.userId, { status: 'active' }),
  ],
  [
    'a key is rotated',
    async ({ call, application, tokens }) => {
      const { items } = await call('GET', `/api/applications/${application.id}/api-keys`);
      const { id } = items.find(({ name }: { name: string }) => name !== 'made');
      await call('POST', `/api/applications/${application.id}/api-keys/${id}/rotate`);
      expect(tokens.key).toStartWith('eak_');
    },
  ],
  [
    'who made a key loses their seat’s rights',
    ({ call, admin }) => call('PATCH', `/api/workspace/members/${admin.memberId}`, { role: 'member' }),
  ],
  [
    'and gets them back',
    ({ call, admin }) => call('PATCH', `/api/workspace/members/${admin.memberId}`, { role: 'admin' }),
  ],
  [
    'who made a key rests in the console',
    ({ call, admin }) => call('POST', '/api/account/inactivate', undefined, admin.token),
  ],
  [
    'an application is archived',
    ({ instance, application }) => given.lifecycle(instance, application.id, { kind: 'archive', skipGrace: true }),
  ],
  [
    'sessions expire, and it is written down',
    async ({ instance }) => {
      instance.clock.advance(40 * DAY);
      await instance.services.scheduler.runAll();
    },
  ],
];

async function expectEqualVerdicts(world: World): Promise<void> {
  for (const [name, change] of changes) {
    for (let time = 0; time < TIMES; time += 1) await verdictsOf(world, true);
    await change(world);
    const remembered = await verdictsOf(world, true);
    expect({ name, ...remembered }).toEqual({ name, ...(await verdictsOf(world, false)) });
  }
}

test('a cached verdict equals that of a lookup after any change', async () => {
  await expectEqualVerdicts(await createWorld());
});

test('so does one that is made again of a cached row, since the results of two alone are kept', async () => {
  const folder = emptyFolder();
  const instance = await createInstanceOn(folder.path, { environment, maxCached: 6 });
  await expectEqualVerdicts(await createWorld(instance));
  await instance.close();
  folder.remove();
});

test('sign-ins of other people keep cached entries', async () => {
  const { instance, tokens, signIn, application } = await createWorld();
  const { look } = instance.services.verification;
  const rowOf = async () => (await look(tokens.ada))?.row;
  for (let time = 0; time < TIMES; time += 1) await rowOf();
  const before = await rowOf();
  await signIn(application.clientId, 'bob@example.com');
  expect(await rowOf()).toBe(before!);
});
