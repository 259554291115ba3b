/** The operations a personal key may call, checked against every operation of the app instead of a list. */
import { describe, expect, test } from 'bun:test';
import type { Operation } from '@/http/operation.ts';
import { findConsole } from '@/store/applications.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { createScene, type Person, sceneOf } from './scene.ts';

const { operations } = (await createInstance()).app;
const guarded = operations.filter(({ access }) => access !== 'none');

async function fromShop() {
  const scene = await createScene();
  const { token, id } = await scene.connect(scene.ada);
  return { ...scene, token, id };
}

/** Signs a person in to the console and connects a device of theirs. */
async function fromConsole(role: 'owner' | 'admin' | 'member') {
  const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000' } });
  const application = await instance.createApplication();
  const console_ = sceneOf(instance, (await findConsole(instance.db.reader))!);
  const email = role === 'owner' ? 'owner@example.com' : 'mia@example.com';
  const owner = await console_.signIn('owner@example.com');
  let memberId: string | undefined;
  if (role !== 'owner') {
    const { json } = await instance.call('POST', '/api/workspace/members', {
      token: owner.token,
      body: { email, role },
    });
    memberId = json.data.id;
  }
  const person: Person = role === 'owner' ? owner : await console_.signIn(email);
  const { token, id } = await console_.connect(person);
  const manage = (method: string, path: string, body?: unknown) => instance.call(method, path, { token, body });
  return { instance, application, console: console_, owner, person, memberId, token, id, manage };
}

const UNKNOWN_ID = '01h455vb4pex5vsknk084sn02q';

/** Sends an invalid JSON body. Returns the error of a 401 or 403, or null when access was granted. */
async function refusalOf(
  { instance, application, token }: Pick<Awaited<ReturnType<typeof fromConsole>>, 'instance' | 'application' | 'token'>,
  { method, path }: Operation,
): Promise<string | null> {
  const address = path.replace(/:(\w+)/g, (_, name) => (name === 'id' ? application.id : `key_${UNKNOWN_ID}`));
  const response = await instance.app.fetch(
    new Request(`http://localhost${address}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method !== 'GET' && { body: '{"broken' }),
    }),
  );
  if (response.status !== 401 && response.status !== 403) {
    await response.body?.cancel();
    return null;
  }
  const json = (await response.json()) as { error?: string; errorMessage?: string };
  return json.error ?? json.errorMessage ?? null;
}

const ENDING = 'endOwnKey';

async function refusals(scene: Parameters<typeof refusalOf>[0]): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  // Calls the operation that ends the key last.
  for (const one of [...guarded.filter(({ id }) => id !== ENDING), ...guarded.filter(({ id }) => id === ENDING)]) {
    // A key may make sixty calls a minute by default, and there are more operations.
    scene.instance.clock.advance(1000);
    found[one.id] = await refusalOf(scene, one);
  }
  return found;
}

describe('a personal key of an ordinary application', () => {
  test('may call the operations of a person and no others', async () => {
    const found = await refusals(await fromShop());
    for (const { id, access } of guarded)
      expect([id, found[id]!]).toEqual([
        id,
        (access === 'person' || access === 'holder'
          ? null
          : access === 'token'
            ? 'invalid_token'
            : 'forbidden') as string,
      ]);
    expect(guarded.filter(({ access }) => access === 'person').length).toBeGreaterThan(2);
  });

  test('reads the current roles, scopes and groups of its person', async () => {
    const { instance, application, ada, token } = await fromShop();
    const me = async (kind: string) => (await instance.call('GET', `/api/me/${kind}`, { token })).json.data[kind];
    expect([await me('roles'), await me('scopes')]).toEqual([['user'], []]);
    await given.holder(instance, 'scopes', application.id, ada.userId, 'orders:read');
    await given.holder(instance, 'memberships', application.id, ada.userId, 'berlin');
    expect([await me('scopes'), await me('memberships')]).toEqual([['orders:read'], ['berlin']]);
  });

  test('verifies as its person for backend keys of the application, without an expiry', async () => {
    const { instance, application, ada, token } = await fromShop();
    const key = await instance.createKey(application.id, { access: 'read' });
    for (const bearer of [key.token, instance.workspaceKey]) {
      const { status, json } = await instance.call('POST', '/api/v1/verify', { token: bearer, body: { token } });
      expect([status, json.success]).toEqual([200, true]);
      expect(json.data).toMatchObject({
        userId: ada.userId,
        email: 'ada@example.com',
        applicationId: application.id,
        status: 'active',
        roles: ['user'],
        expiresAt: null,
      });
    }
  });

  test('is an invalid token to backends of other applications', async () => {
    const { instance, token } = await fromShop();
    const sibling = await instance.createApplication({ name: 'Sibling' });
    const strangers = [
      (await instance.createKey(sibling.id)).token,
      (await given.workspaceKey(instance, { applicationIds: [sibling.id] })).token,
      (await given.tenant(instance)).workspaceKey,
    ];
    for (const bearer of strangers) {
      const { json } = await instance.call('POST', '/api/v1/verify', { token: bearer, body: { token } });
      expect(json).toEqual({ success: false, errorMessage: 'invalid_token' });
    }
  });

  test('may not verify other tokens', async () => {
    const { instance, ada, token } = await fromShop();
    const { status, json } = await instance.call('POST', '/api/v1/verify', { token, body: { token: ada.token } });
    expect([status, json]).toEqual([
      403,
      { success: false, errorMessage: 'forbidden', message: expect.any(String), requestId: expect.any(String) },
    ]);
  });

  test.each(['banned', 'paused', 'deleted', 'inactivated', 'left'] as const)(
    'is refused to itself and to backends as soon as its person is %s',
    async (status) => {
      const { instance, application, ada, token, setStatus } = await fromShop();
      const key = await instance.createKey(application.id);
      await setStatus(ada.userId, status);
      expect((await instance.call('GET', '/api/me/roles', { token })).status).toBe(401);
      const { json } = await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
      expect(json).toEqual({ success: false, errorMessage: 'membership_blocked' });
    },
  );

  test('verifies as membership_blocked once it is revoked', async () => {
    const { instance, application, ada, token, id } = await fromShop();
    const key = await instance.createKey(application.id);
    await instance.call('DELETE', `/api/account/devices/${id}`, { token: ada.token });
    const { json } = await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
    expect(json).toEqual({ success: false, errorMessage: 'membership_blocked' });
  });

  test('is limited to sixty calls a minute', async () => {
    const { instance, token } = await fromShop();
    const ask = () => instance.call('GET', '/api/me/roles', { token });
    for (let count = 0; count < 60; count += 1) expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });

  test('manages nothing even for a workspace owner: only a key of the console does', async () => {
    const { instance, application, connect, signIn } = await createScene();
    const { token } = await connect(await signIn('owner@example.com'));
    const { status, json } = await instance.call('GET', `/api/applications/${application.id}`, { token });
    expect([status, json.error]).toEqual([403, 'forbidden']);
  });
});

describe('a personal key of the console', () => {
  test.each(['owner', 'admin', 'member'] as const)('of an %s may call exactly what their role allows', async (role) => {
    const found = await refusals(await fromConsole(role));
    for (const { id, access, consoleRole } of guarded) {
      const isManagement = access === 'read' || access === 'full';
      const expected =
        access === 'person' || access === 'holder' || access === 'agent'
          ? null
          : access === 'token'
            ? 'invalid_token'
            : !isManagement || consoleRole
              ? 'forbidden'
              : access === 'full' && role === 'member'
                ? 'admin_scope_required'
                : null;
      expect([id, found[id]!]).toEqual([id, expected as string]);
    }
  });

  test('acts as its person in the audit log', async () => {
    const { instance, person, manage, id } = await fromConsole('admin');
    const { status, json } = await manage('POST', '/api/applications', { name: 'Made by a command' });
    expect(status).toBe(200);
    const row = instance.sqlite
      .query("SELECT * FROM audit_records WHERE kind = 'application.created' AND target_id = ?")
      .get(json.data.id);
    expect(row).toMatchObject({ actor_type: 'user', actor_user_id: person.userId, actor_api_key_id: id });
  });

  test('loses and regains permissions as soon as its person’s role changes', async () => {
    const { instance, owner, memberId, manage } = await fromConsole('admin');
    const setRole = (role: string) =>
      instance.call('PATCH', `/api/workspace/members/${memberId}`, { token: owner.token, body: { role } });
    const create = async () => (await manage('POST', '/api/applications', { name: 'New' })).status;
    expect(await create()).toBe(200);
    await setRole('member');
    expect([await create(), (await manage('GET', '/api/applications')).status]).toEqual([403, 200]);
    await setRole('admin');
    expect(await create()).toBe(200);
  });

  test('ends as soon as its person is a member of no workspace', async () => {
    const { instance, owner, memberId, manage, token } = await fromConsole('admin');
    await instance.call('DELETE', `/api/workspace/members/${memberId}`, { token: owner.token });
    expect((await manage('GET', '/api/applications')).status).toBe(401);
    expect((await instance.call('GET', '/api/me/roles', { token })).status).toBe(401);
  });

  test('reaches only the remaining workspace of a person who was removed from one', async () => {
    const { instance, application, owner, person, memberId, manage } = await fromConsole('admin');
    const tenant = await given.tenant(instance);
    await instance.call('POST', '/api/workspace/members', {
      token: tenant.workspaceKey,
      body: { email: 'mia@example.com', role: 'member' },
    });
    const status = async (id: string) => (await manage('GET', `/api/applications/${id}`)).status;
    expect([await status(application.id), await status(tenant.application.id)]).toEqual([200, 200]);
    await instance.call('DELETE', `/api/workspace/members/${memberId}`, { token: owner.token });
    expect([await status(application.id), await status(tenant.application.id)]).toEqual([404, 200]);
    expect((await manage('GET', '/api/workspaces')).json.data.items).toHaveLength(1);
    expect(person.userId).toStartWith('usr_');
  });

  test('cannot reach applications of another workspace', async () => {
    const { instance, manage } = await fromConsole('owner');
    const { application } = await given.tenant(instance);
    expect((await manage('GET', `/api/applications/${application.id}`)).status).toBe(404);
  });

  test('is an invalid token to every backend that verifies it', async () => {
    const { instance, application, token } = await fromConsole('owner');
    for (const bearer of [instance.workspaceKey, (await instance.createKey(application.id)).token]) {
      const { json } = await instance.call('POST', '/api/v1/verify', { token: bearer, body: { token } });
      expect(json).toEqual({ success: false, errorMessage: 'invalid_token' });
    }
  });
});
