/** `/api/me` for each kind of credential, and a personal key that revokes itself. */
import { describe, expect, test } from 'bun:test';
import { DAY, isoTime } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createScene } from './scene.ts';

async function setUp() {
  const scene = await createScene();
  const { instance, application } = scene;
  const owner = await instance.signIn('console', 'owner@example.com');
  const connect = async (clientId: string, token: string, asked: Record<string, string> = {}) => {
    const body = { client_id: clientId, device_name: 'Laptop', ...asked };
    const { user_code, device_code } = (await instance.call('POST', '/api/v1/device/code', { body })).json;
    await instance.call('POST', '/api/account/device/approve', { token, body: { user_code } });
    instance.clock.advance(10_000);
    const redeemed = await instance.call('POST', '/api/v1/device/token', {
      body: { client_id: clientId, device_code, grant_type: 'urn:ietf:params:oauth:grant-type:device_code' },
    });
    return redeemed.json.access_token as string;
  };
  const me = (token: string | undefined) => instance.call('GET', '/api/me', { token });
  const end = (token: string | undefined) => instance.call('DELETE', '/api/me/key', { token });
  return { instance, application, ada: scene.ada, owner, connect, me, end };
}

describe('GET /api/me', () => {
  test('describes the caller for a personal key, a backend key and a session of the console', async () => {
    const { instance, application, owner, connect, me } = await setUp();
    const personal = (await me(await connect('console', owner.token))).json.data;
    expect(personal).toMatchObject({ kind: 'personal_key', userId: owner.userId, email: 'owner@example.com' });
    expect(personal.key).toMatchObject({ name: 'Laptop', source: 'device', access: 'full' });
    const workspace = { id: instance.workspaceId, name: 'Workspace' };
    expect(personal.workspaces).toMatchObject([{ ...workspace, role: 'owner' }]);
    const { token, id } = await instance.createKey(application.id, { access: 'read' });
    const backend = (await me(token)).json.data;
    expect(backend).toMatchObject({ kind: 'key', email: null, workspaces: [{ ...workspace, role: null }] });
    expect(backend.key).toMatchObject({ id, access: 'read', applicationId: application.id, applicationIds: null });
    const session = (await me(owner.token)).json.data;
    expect(session).toMatchObject({ kind: 'session', email: 'owner@example.com', key: null });
    expect(JSON.stringify([personal, backend, session])).not.toMatch(/eak_\w{20}/);
  });

  test('accepts a login of the console for 90 days, and a key of another application without an end', async () => {
    const { instance, application, ada, owner, connect, me } = await setUp();
    const login = await connect('console', owner.token);
    await connect(application.clientId, ada.token);
    const { expiresAt, createdAt } = (await me(login)).json.data.key;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(90 * DAY);
    const ends = instance.sqlite.query("SELECT expires_at FROM api_keys WHERE source = 'device' ORDER BY id").values();
    expect(ends).toEqual([[Date.parse(expiresAt)], [null]]);
    instance.clock.advance(Date.parse(expiresAt) - instance.clock.now() - 1);
    expect((await me(login)).status).toBe(200);
    instance.clock.advance(1);
    expect((await me(login)).status).toBe(401);
  });

  test.each([
    ['1', 1],
    ['30', 30],
    ['3650', 3650],
    ['never', null],
    ['', 90],
  ])('a login that asks for %p days ends after %p, and says so to the person who approves', async (keyDays, days) => {
    const { instance, owner, connect, me } = await setUp();
    const body = { client_id: 'console', key_days: keyDays };
    const { user_code } = (await instance.call('POST', '/api/v1/device/code', { body })).json;
    const shown = await instance.call('GET', `/api/account/device?user_code=${user_code}`, { token: owner.token });
    expect(shown.json.data.keyEndsAt).toBe(days === null ? null : isoTime(instance.clock.now() + days * DAY));
    const login = await connect('console', owner.token, { key_days: keyDays });
    const { expiresAt, createdAt } = (await me(login)).json.data.key;
    expect(expiresAt).toBe(days === null ? null : isoTime(Date.parse(createdAt) + days * DAY));
  });

  test('a device of another application ends when it asks for it', async () => {
    const { instance, application, ada, connect } = await setUp();
    await connect(application.clientId, ada.token, { key_days: '7' });
    const ends = instance.sqlite.query("SELECT expires_at - created_at FROM api_keys WHERE source = 'device'").values();
    expect(ends).toEqual([[7 * DAY]]);
  });

  test('refuses callers without a credential of the console', async () => {
    const { application, ada, connect, me } = await setUp();
    expect((await me(undefined)).status).toBe(401);
    expect((await me(ada.token)).status).toBe(403);
    expect((await me(await connect(application.clientId, ada.token))).status).toBe(403);
  });
});

describe('DELETE /api/me/key', () => {
  test('revokes the calling key at once with an audit record, and no other key of the person', async () => {
    const { instance, owner, connect, me, end } = await setUp();
    const [one, other] = [await connect('console', owner.token), await connect('console', owner.token)];
    expect((await end(one)).status).toBe(200);
    expect([(await me(one)).status, (await me(other)).status]).toEqual([401, 200]);
    expect(instance.auditKinds()).toContain('device.revoked');
    expect((await end(one)).status).toBe(401);
  });

  test('revokes a personal key of an ordinary application too', async () => {
    const { application, ada, connect, end, instance } = await setUp();
    const key = await connect(application.clientId, ada.token);
    expect((await end(key)).status).toBe(200);
    expect((await instance.call('GET', '/api/me/roles', { token: key })).status).toBe(401);
  });

  test('refuses backend keys and sessions, and leaves them working', async () => {
    const { instance, ada, end, me } = await setUp();
    expect((await end(instance.workspaceKey)).status).toBe(403);
    expect((await me(instance.workspaceKey)).status).toBe(200);
    const refused = await end(ada.token);
    expect([refused.status, refused.json.error]).toEqual([409, 'invalid_state']);
    const tenant = await given.tenant(instance);
    expect((await end(tenant.workspaceKey)).status).toBe(403);
  });
});
