/** The creator that the record of a key names, and the keys that a removed member leaves behind. */
import { describe, expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { createScene, sceneOf } from '../devices/scene.ts';
import { addPerson, MEMBERS, setUpPeople } from '../workspace/people.ts';
import { findConsole } from '@/store/applications.ts';

const KEYS = '/api/workspace/api-keys';

async function setUp() {
  const people = await setUpPeople();
  const { instance } = people;
  const application = await instance.createApplication();
  const path = `/api/applications/${application.id}/api-keys`;
  const create = async (token: string, at = KEYS) =>
    (await instance.call('POST', at, { token, body: { name: 'made', access: 'full' } })).json.data;
  const creatorOf = async (keyId: string, at = KEYS, token = instance.workspaceKey) =>
    (await instance.call('GET', `${at}/${keyId}`, { token })).json.data.createdBy;
  return { ...people, application, path, create, creatorOf };
}

describe('the creator of a key', () => {
  test('is a workspace member with their e-mail address, in the record and in the list', async () => {
    const { instance, admin, path, create, creatorOf } = await setUp();
    const expected = { userId: admin.userId, email: admin.email, key: null };
    for (const at of [KEYS, path]) {
      const key = await create(admin.token, at);
      expect(key.createdBy).toEqual(expected);
      expect(await creatorOf(key.id, at)).toEqual(expected);
      const { items } = (await instance.call('GET', at, { token: instance.workspaceKey })).json.data;
      expect(items[0]).toMatchObject({ id: key.id, createdBy: expected });
    }
  });

  test('is another key with its id and name, and with the id of its successor after a rotation', async () => {
    const { instance, admin, path, create, creatorOf } = await setUp();
    const maker = await create(admin.token);
    const made = await create(maker.token, path);
    expect(made.createdBy).toEqual({ userId: maker.userId, email: null, key: { id: maker.id, name: 'made' } });
    const successor = await instance.call('POST', `${KEYS}/${maker.id}/rotate-with-grace`, { token: admin.token });
    expect((await creatorOf(made.id, path)).key.id).toBe(successor.json.data.id);
  });

  test('is null for the key that the server takes from its environment', async () => {
    const { instance } = await setUp();
    const { items } = (await instance.call('GET', KEYS, { token: instance.workspaceKey })).json.data;
    expect(items.map(({ createdBy }: { createdBy: unknown }) => createdBy)).toEqual([null]);
  });

  test('becomes the person who rotated the key, since they know the new token', async () => {
    const { instance, owner, admin, create, creatorOf } = await setUp();
    const key = await create(admin.token);
    await instance.call('POST', `${KEYS}/${key.id}/rotate`, { token: owner.token });
    expect(await creatorOf(key.id)).toMatchObject({ userId: owner.userId });
    const successor = await instance.call('POST', `${KEYS}/${key.id}/rotate-with-grace`, { token: admin.token });
    expect(successor.json.data.createdBy).toMatchObject({ userId: admin.userId });
  });

  test('is an id without an e-mail for a removed member and for a person of an application', async () => {
    const { instance, owner, admin, application, path, create, creatorOf } = await setUp();
    const key = await create(admin.token);
    await instance.call('DELETE', `${MEMBERS}/${admin.memberId}`, { token: owner.token });
    expect(await creatorOf(key.id)).toEqual({ userId: admin.userId, email: null, key: null });
    const device = sceneOf(instance, application);
    const ada = await device.signIn('ada@example.com');
    await device.connect(ada);
    const { items } = (await instance.call('GET', `${path}?source=device`, { token: owner.token })).json.data;
    expect(items[0].createdBy).toEqual({ userId: ada.userId, email: null, key: null });
  });

  test('hides the e-mail of a person who is now a member of another workspace only', async () => {
    const { instance, admin, create, creatorOf, owner } = await setUp();
    const key = await create(admin.token);
    const tenant = await given.tenant(instance);
    const body = { email: admin.email, role: 'owner' };
    await instance.call('POST', MEMBERS, { token: tenant.workspaceKey, body: { ...body, role: 'admin' } });
    await instance.call('DELETE', `${MEMBERS}/${admin.memberId}`, { token: owner.token });
    expect(await creatorOf(key.id)).toEqual({ userId: admin.userId, email: null, key: null });
  });
});

describe('the keys that a member has created', () => {
  test('are listed before the removal and returned by it: the ones that still work, of all applications', async () => {
    const { instance, owner, admin, path, create } = await setUp();
    const [whole, own] = [await create(admin.token), await create(admin.token, path)];
    const gone = await create(admin.token);
    await instance.call('DELETE', `${KEYS}/${gone.id}`, { token: owner.token });
    const body = { name: 'brief', access: 'read', expiresAt: new Date(instance.clock.now() + 1000).toISOString() };
    await instance.call('POST', KEYS, { token: admin.token, body });
    instance.clock.advance(2000);
    await create(owner.token);
    const listed = await instance.call('GET', `${MEMBERS}/${admin.memberId}/keys`, { token: owner.token });
    expect(listed.json.data.items).toEqual([
      {
        id: own.id,
        name: 'made',
        prefix: own.prefix,
        access: 'full',
        applicationId: own.applicationId,
        createdAt: own.createdAt,
        lastUsedAt: null,
      },
      expect.objectContaining({ id: whole.id, applicationId: null }),
    ]);
    const removed = await instance.call('DELETE', `${MEMBERS}/${admin.memberId}`, { token: owner.token });
    expect(removed.json.data).toEqual({ id: admin.memberId, keys: listed.json.data.items });
    expect((await instance.call('GET', '/api/applications', { token: whole.token })).status).toBe(200);
  });

  test('include keys created by these keys in turn, even after one between is revoked', async () => {
    const { instance, owner, admin, path, create } = await setUp();
    const first = await create(admin.token);
    const second = await create(first.token);
    const third = await create(second.token, path);
    await instance.call('DELETE', `${KEYS}/${first.id}`, { token: owner.token });
    const { json } = await instance.call('DELETE', `${MEMBERS}/${admin.memberId}`, { token: owner.token });
    const ids = json.data.keys.map(({ id }: { id: string }) => id);
    expect(ids.sort()).toEqual([second.id, third.id].sort());
  });

  test('leave out keys created with a personal key, since they end with it', async () => {
    const { instance } = await createScene();
    const console = sceneOf(instance, (await findConsole(instance.db.reader))!);
    const admin = await addPerson(instance, 'admin@example.com', 'admin');
    const device = await console.connect(admin);
    const body = { name: 'made by a device', access: 'full' };
    const made = await instance.call('POST', KEYS, { token: device.token, body });
    const { json } = await instance.call('DELETE', `${MEMBERS}/${admin.memberId}`, { token: instance.workspaceKey });
    expect(json.data.keys).toEqual([]);
    expect((await instance.call('GET', '/api/applications', { token: made.json.data.token })).status).toBe(401);
  });

  test('are paged, need full access, and are visible within the workspace only', async () => {
    const { instance, owner, admin, member, create, path } = await setUp();
    const ids = [];
    for (const at of [KEYS, path, KEYS]) {
      instance.clock.advance(1000);
      ids.unshift((await create(admin.token, at)).id);
    }
    const read = (query = '', token = owner.token) =>
      instance.call('GET', `${MEMBERS}/${admin.memberId}/keys${query}`, { token });
    const first = (await read('?limit=2')).json.data;
    const second = (await read(`?limit=2&cursor=${first.nextCursor}`)).json.data;
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
    const problem = async (answer: ReturnType<typeof read>) => {
      const { status, json } = await answer;
      return [status, json.error];
    };
    const tenant = await given.tenant(instance);
    expect(await problem(read('?cursor=nonsense'))).toEqual([400, 'invalid_cursor']);
    expect(await problem(read('', member.token))).toEqual([403, 'admin_scope_required']);
    expect(await problem(read('', tenant.workspaceKey))).toEqual([404, 'not_found']);
    expect(await problem(read('', 'eak_nonsense'))).toEqual([401, 'unauthenticated']);
  });
});
