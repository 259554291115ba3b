/** Who did what to what: the names in a record, whose they are, and the filters by actor, target, key and request. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { follow } from '../live/listen.ts';
import { managing, people } from '../users/management.ts';

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly userName: string | null;
  readonly actorName: string | null;
  readonly actorUserId: string | null;
  readonly actorApiKeyId: string | null;
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly requestId: string | null;
}

async function setUp() {
  const instance = await createInstance();
  const shop = await instance.createApplication();
  const tenant = await given.tenant(instance);
  const manage = managing(instance, shop);
  const list = async (query: Record<string, string> = {}, token = instance.workspaceKey): Promise<Entry[]> => {
    const { status, json } = await manage('GET', `/activity/list?${new URLSearchParams(query)}`, { token });
    expect(status).toBe(200);
    return json.data.items;
  };
  const newest = async (kind: string, token?: string) => (await list({ family: kind }, token))[0];
  return { instance, shop, tenant, manage, list, newest };
}

const named = { fullName: 'Ada Lovelace' };

describe('names in a record', () => {
  test('are those of the key that acted and the key that it rotated', async () => {
    const { instance, shop, manage, newest } = await setUp();
    const { token } = await instance.createKey(shop.id, { name: 'Deploy', access: 'full' });
    const { id } = await instance.createKey(shop.id, { name: 'Shop backend' });
    await manage('POST', `/api-keys/${id}/rotate`, { token, body: {} });
    expect(await newest('apikey.rotated')).toMatchObject({ actorName: 'Deploy', targetName: 'Shop backend' });
  });

  test('stay after a role or webhook is renamed and deleted', async () => {
    const { manage, list } = await setUp();
    const role = (await manage('POST', '/roles', { body: { slug: 'editor', name: 'Editor' } })).json.data.id;
    await manage('PATCH', `/roles/${role}`, { body: { name: 'Author' } });
    await manage('DELETE', `/roles/${role}`);
    const url = 'https://example.com/hook?token=secret';
    const webhook = (await manage('POST', '/webhooks', { body: { url, events: ['*'] } })).json.data.id;
    await manage('PATCH', `/webhooks/${webhook}`, { body: { description: 'CRM' } });
    await manage('DELETE', `/webhooks/${webhook}`);
    const names = async (targetId: string) =>
      (await list({ targetId })).map(({ kind, targetName }) => [kind, targetName]);
    expect(await names(role)).toEqual([
      ['role.deleted', 'Author'],
      ['role.updated', 'Author'],
      ['role.created', 'Editor'],
    ]);
    expect(await names(webhook)).toEqual([
      ['webhook.deleted', 'CRM'],
      ['webhook.updated', 'CRM'],
      ['webhook.created', 'example.com/hook'],
    ]);
  });

  test('of people need full access; read access sees addresses', async () => {
    const { instance, shop, manage, newest } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    await given.person(instance, owner.userId, { fullName: 'Grace Hopper' });
    const ada = await instance.signIn(shop.clientId, 'ada@example.com');
    await given.person(instance, ada.userId, named);
    await manage('POST', `/users/${ada.userId}/ban`, { token: owner.token, body: {} });
    const shown = { actorName: 'Grace Hopper', userName: 'Ada Lovelace' };
    expect(await newest('user.banned')).toMatchObject(shown);
    expect(await newest('user.banned', owner.token)).toMatchObject(shown);
    const { token } = await instance.createKey(shop.id, { access: 'read' });
    const withheld = { actorName: 'owner@example.com', userName: null };
    const forReaders = await newest('user.banned', token);
    expect(forReaders).toMatchObject(withheld);
    expect(JSON.stringify(forReaders)).not.toMatch(/Lovelace|Hopper/);
    const member = await given.consoleMember(instance, 'reader@example.com', 'member');
    expect(await newest('user.banned', member.token)).toMatchObject(withheld);
    const one = await manage('GET', `/activity/${forReaders!.id}`, { token });
    expect(one.json.data).toMatchObject(withheld);
  });

  test('of an imported person are the imported ones until they sign in', async () => {
    const { instance, tenant, manage, newest } = await setUp();
    const elsewhere = await instance.signIn(tenant.application.clientId, 'ada@example.com');
    await given.person(instance, elsewhere.userId, named);
    const users = [{ email: 'ada@example.com', profile: { fullName: 'A. L.' } }];
    const { userId } = (await manage('POST', '/users/bulk', { body: { users } })).json.data.results[0];
    await manage('POST', `/users/${userId}/pause`, { body: {} });
    expect(await newest('user.paused')).toMatchObject({ userName: 'A. L.' });
  });

  test('of a member who has left are the address that the workspace has on record, and nobody else’s', async () => {
    const { instance, shop, manage, newest } = await setUp();
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    await given.person(instance, admin.userId, named);
    await manage('POST', '/roles', { token: admin.token, body: { slug: 'editor' } });
    const members = await instance.call('GET', '/api/workspace/members', { token: instance.workspaceKey });
    const seat = members.json.data.items.find(({ email }: { email: string }) => email === 'admin@example.com');
    await instance.call('DELETE', `/api/workspace/members/${seat.id}`, { token: instance.workspaceKey });
    expect(await newest('role.created')).toMatchObject({ actorName: 'admin@example.com' });
    instance.sqlite.run("UPDATE audit_records SET email = NULL WHERE email = 'admin@example.com'");
    expect(await newest('role.created')).toMatchObject({ actorName: null, actorUserId: admin.userId });
    expect(shop.id).toBeString();
  });

  test('are in a stream as in the list, and follow the access of its caller', async () => {
    const { instance, shop, list } = await setUp();
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    const ada = await instance.signIn(shop.clientId, 'ada@example.com');
    await given.person(instance, ada.userId, named);
    const headers = { authorization: `Bearer ${admin.token}` };
    const path = `http://localhost/api/applications/${shop.id}/activity/events`;
    const stream = follow(await instance.app.fetch(new Request(path, { headers })));
    await stream.told();
    await managing(instance, shop)('POST', `/users/${ada.userId}/pause`, { body: {} });
    const [told] = await stream.told();
    expect(told!.data).toEqual((await list())[0]);
    expect(told!.data.userName).toBe('Ada Lovelace');
    instance.sqlite.run(`UPDATE workspace_members SET role = 'member' WHERE user_id = '${admin.userId}'`);
    await managing(instance, shop)('POST', `/users/${ada.userId}/resume`, { body: {} });
    expect((await stream.told())[0]!.data).toMatchObject({ kind: 'user.resumed', userName: null });
  });
});

describe('the filters by id', () => {
  test('find what a person, a key, a request did, and what was done to an object or a person', async () => {
    const { instance, shop, manage, list } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const key = await instance.createKey(shop.id, { access: 'full' });
    const [ada, bea] = await people(manage, 'ada@example.com', 'bea@example.com');
    await manage('POST', `/users/${ada}/ban`, { token: owner.token, body: {} });
    instance.clock.advance(MINUTE);
    const paused = await manage('POST', `/users/${bea}/pause`, { token: key.token, body: {} });
    const kinds = async (query: Record<string, string>) => (await list(query)).map(({ kind }) => kind);
    expect(await kinds({ actorUserId: owner.userId })).toEqual(['user.banned']);
    expect(await kinds({ actorApiKeyId: key.id })).toEqual(['user.paused']);
    expect(await kinds({ targetId: key.id })).toEqual(['apikey.created']);
    expect(await kinds({ targetId: bea! })).toEqual(await kinds({ userId: bea! }));
    expect(await kinds({ targetId: bea! })).toEqual(['user.paused']);
    const requestId = paused.headers.get('x-request-id')!;
    expect(await kinds({ requestId })).toEqual(['user.paused']);
    expect(await kinds({ requestId, actorApiKeyId: key.id, targetId: bea!, family: 'user' })).toEqual(['user.paused']);
    expect(await kinds({ requestId, actorUserId: owner.userId })).toEqual([]);
    expect(await kinds({ actorApiKeyId: key.id, status: 'error' })).toEqual([]);
  });

  test('never find records of another application or workspace', async () => {
    const { instance, shop, tenant, manage, list } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const owner = await instance.signIn('console', 'owner@example.com');
    await manage('POST', '/roles', { token: owner.token, body: { slug: 'editor' } });
    const [record] = await list({ family: 'role' });
    const { actorUserId, targetId, requestId } = record!;
    const key = await instance.createKey(shop.id, { access: 'full' });
    await manage('POST', '/scopes', { token: key.token, body: { slug: 'read' } });
    const filters = { actorUserId, targetId, requestId, actorApiKeyId: key.id };
    const count = async (path: string, token: string, query: object) =>
      (await instance.call('GET', `${path}?${new URLSearchParams({ ...query })}`, { token })).json.data.items.length;
    for (const [name, value] of Object.entries(filters)) {
      const query = { [name]: value! };
      expect([name, await count('/api/workspace/activity/list', instance.workspaceKey, query)]).toEqual([name, 1]);
      expect(await count('/api/workspace/activity/list', tenant.workspaceKey, query)).toBe(0);
      expect(await count(`/api/applications/${other.id}/activity/list`, instance.workspaceKey, query)).toBe(0);
    }
  });

  test('read an index each', async () => {
    const { instance } = await setUp();
    const planOf = (where: string, order = 'ORDER BY created_at DESC, id DESC LIMIT 50') =>
      instance.sqlite
        .query<{ detail: string }, []>(
          `EXPLAIN QUERY PLAN SELECT created_at, id FROM audit_records WHERE ${where} ${order}`,
        )
        .all()
        .map(({ detail }) => detail.replace('SEARCH audit_records USING ', ''));
    expect(planOf("actor_user_id = 'u' AND workspace_id = 'w'")).toEqual([
      'COVERING INDEX audit_records_by_acting_user (actor_user_id=? AND workspace_id=?)',
    ]);
    expect(planOf("actor_api_key_id = 'k' AND +workspace_id = 'w'")).toEqual([
      'INDEX audit_records_by_key (actor_api_key_id=?)',
    ]);
    expect(planOf("target_id = 't' AND +workspace_id = 'w'")).toEqual(['INDEX audit_records_by_target (target_id=?)']);
    expect(planOf("request_id = 'r' AND +workspace_id = 'w'")[0]).toBe('INDEX audit_records_by_request (request_id=?)');
    expect(planOf("workspace_id = 'w' AND email = 'e'")).toEqual([
      'COVERING INDEX audit_records_by_address (workspace_id=? AND email=?)',
    ]);
    // A person's own export must not read all that an operator did to others.
    expect(planOf("user_id IS NULL AND actor_user_id = 'u'", '')).toEqual([
      'INDEX audit_records_by_actor (user_id=? AND actor_user_id=?)',
    ]);
  });

  test.each([
    ['actorUserId=ada', 'actorUserId'],
    ['actorApiKeyId=', 'actorApiKeyId'],
    ['targetId=%25', 'targetId'],
    [`requestId=req_${'x'.repeat(65)}`, 'requestId'],
    ['targetId=usr_1&userId=usr_2', 'targetId'],
  ])('refuse %s and name the parameter', async (query, path) => {
    const answer = await (await setUp()).manage('GET', `/activity/list?${query}`);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
  });
});
