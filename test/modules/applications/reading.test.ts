/** Listing and reading applications. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { deleteWorkspaceMembershipsOf } from '@/store/workspace-members.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { as, draft, RECORD } from './calls.ts';

describe('the list of applications', () => {
  const namesOf = (json: { data: { items: { name: string }[] } }) => json.data.items.map(({ name }) => name);

  test('pages from the oldest on, without gaps or repeats while applications are added', async () => {
    const instance = await createInstance();
    for (const name of ['A', 'B', 'C', 'D', 'E']) await draft(instance, { name });
    const first = await as(instance).list('?limit=2');
    expect(namesOf(first.json)).toEqual(['A', 'B']);
    await draft(instance, { name: 'F' });
    const second = await as(instance).list(`?limit=2&cursor=${first.json.data.nextCursor}`);
    const third = await as(instance).list(`?limit=2&cursor=${second.json.data.nextCursor}`);
    expect([namesOf(second.json), namesOf(third.json)]).toEqual([
      ['C', 'D'],
      ['E', 'F'],
    ]);
    expect(third.json.data.nextCursor).toBeNull();
    expect(Object.keys(first.json.data.items[0])).toEqual(RECORD);
  });

  test('returns fifty per page by default, and two hundred at most', async () => {
    const instance = await createInstance();
    for (let number = 0; number < 51; number += 1) await draft(instance);
    const page = await as(instance).list();
    expect([page.json.data.items.length, typeof page.json.data.nextCursor]).toEqual([50, 'string']);
    expect((await as(instance).list('?limit=200')).json.data.items).toHaveLength(51);
  });

  test.each(['0', '201', '-1', 'ten', '', '1e9', '1.5', 'NaN'])('refuses limit=%s and names it', async (limit) => {
    const { status, json } = await as(await createInstance()).list(`?limit=${limit}`);
    expect([status, json.error, json.fields?.[0].path]).toEqual([400, 'invalid_request', 'limit']);
  });

  test.each(['x', '', 'bnVsbA', 'WzFd', 'W10', '%00', 'WyJhIiwiYiJd'])('refuses the cursor %j', async (cursor) => {
    const { status, json } = await as(await createInstance()).list(`?cursor=${cursor}`);
    expect([status, json.error]).toEqual([400, 'invalid_cursor']);
  });

  test('contains the applications the caller can reach, and never the console', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const [shop, blog] = [
      await instance.createApplication({ name: 'Shop' }),
      await instance.createApplication({ name: 'Blog' }),
    ];
    const applicationKey = await instance.createKey(shop.id, { access: 'read' });
    const subset = await given.workspaceKey(instance, { applicationIds: [blog.id] });
    const names = async (token: string) => namesOf((await as(instance, token).list()).json);
    expect(await names(instance.workspaceKey)).toEqual(['Shop', 'Blog']);
    expect(await names(applicationKey.token)).toEqual(['Shop']);
    expect(await names(subset.token)).toEqual(['Blog']);
    expect(await names(tenant.workspaceKey)).toEqual(['Other']);
    const member = await given.consoleMember(instance, 'member@example.com', 'member');
    expect(await names(member.token)).toEqual(['Shop', 'Blog']);
  });

  test('is empty for a console session once its person has left the workspace', async () => {
    const instance = await createInstance();
    await instance.createApplication();
    const { token, userId } = await instance.signIn('console', 'owner@example.com');
    await instance.db.write(SYSTEM_ACTOR, (unit) => deleteWorkspaceMembershipsOf(unit, userId));
    expect((await as(instance, token).list()).json.data).toEqual({ items: [], nextCursor: null });
  });
});

describe('reading an application', () => {
  test('returns the same 404 for an application out of reach as for an unknown id', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const [shop, blog] = [
      await instance.createApplication({ name: 'Shop' }),
      await instance.createApplication({ name: 'Blog' }),
    ];
    const consoleId = instance.services.workspaces.consoleId();
    const shopKey = await instance.createKey(shop.id);
    const subset = await given.workspaceKey(instance, { applicationIds: [shop.id] });
    const missing = (await as(instance).get('app_01h455vb4pex5vsknk084sn02q')).json;
    const owner = (await instance.signIn('console', 'owner@example.com')).token;
    for (const [token, id] of [
      [shopKey.token, blog.id],
      [shopKey.token, tenant.application.id],
      [subset.token, blog.id],
      [instance.workspaceKey, tenant.application.id],
      [instance.workspaceKey, consoleId],
      [tenant.workspaceKey, shop.id],
      [owner, tenant.application.id],
      [owner, consoleId],
    ] as const) {
      const { status, json } = await as(instance, token).get(id);
      expect([status, { ...json, requestId: '' }]).toEqual([404, { ...missing, requestId: '' }]);
    }
    for (const token of [shopKey.token, subset.token, instance.workspaceKey, owner])
      expect((await as(instance, token).get(shop.id)).json.data.name).toBe('Shop');
  });

  test('hides another tenant’s application from writes as well, before the body is validated', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const { status, json } = await as(instance).patch(tenant.application.id, '{"broken');
    expect([status, json.error]).toEqual([404, 'not_found']);
  });
});
