/** Reading a single key, in any state, by callers who may also list it. */
import { expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { createScene } from '../devices/scene.ts';

async function setUp() {
  const instance = await createInstance();
  const { id } = await instance.createApplication();
  const path = `/api/applications/${id}/api-keys`;
  const get = (address: string, token: string | undefined = instance.workspaceKey) =>
    instance.call('GET', address, { token });
  return { instance, id, path, get };
}

test('reading a key returns its entry of the list without the token, even once it is revoked', async () => {
  const { instance, id, path, get } = await setUp();
  const [live, revoked] = [await instance.createKey(id), await given.revokedKey(instance, id)];
  const { items } = (await get(path)).json.data;
  for (const key of [live, revoked]) {
    const { status, json, text } = await get(`${path}/${key.id}`);
    expect(status).toBe(200);
    expect(json.data).toEqual(items.find((item: { id: string }) => item.id === key.id));
    expect(text).not.toContain(key.token);
  }
});

test('reading a key through another application, another workspace or the other kind of list gets a 404', async () => {
  const { instance, id, path, get } = await setUp();
  const [key, other] = [await instance.createKey(id), await instance.createApplication({ name: 'Other' })];
  const ofWorkspace = await given.workspaceKey(instance);
  const { workspaceKey: foreign } = await given.tenant(instance);
  const statuses = [
    await get(`/api/applications/${other.id}/api-keys/${key.id}`),
    await get(`/api/workspace/api-keys/${key.id}`),
    await get(`${path}/${ofWorkspace.id}`),
    await get(`${path}/${key.id}`, foreign),
    await get(`/api/workspace/api-keys/${ofWorkspace.id}`, foreign),
  ].map(({ status }) => status);
  expect(statuses).toEqual([404, 404, 404, 404, 404]);
  expect((await get(`/api/workspace/api-keys/${ofWorkspace.id}`)).json.data.id).toBe(ofWorkspace.id);
});

test('reading a key needs full access, as the list does', async () => {
  const { instance, id, path, get } = await setUp();
  const key = await instance.createKey(id, { access: 'read' });
  const member = await given.consoleMember(instance, 'member@example.com', 'member');
  for (const token of [key.token, member.token]) {
    const { status, json } = await get(`${path}/${key.id}`, token);
    expect([status, json.error]).toEqual([403, 'admin_scope_required']);
  }
});

test('the list filters backend keys and personal keys by source, with pagination', async () => {
  const { instance, application, ada, connect } = await createScene();
  const path = `/api/applications/${application.id}/api-keys`;
  const get = (address: string) => instance.call('GET', address, { token: instance.workspaceKey });
  const made = [await instance.createKey(application.id), await instance.createKey(application.id)].map(({ id }) => id);
  const device = await connect(ada);
  const idsOf = async (query: string) => {
    const { status, json } = await get(`${path}${query}`);
    expect(status).toBe(200);
    return json.data.items.map((item: { id: string }) => item.id);
  };
  expect(await idsOf('?source=device')).toEqual([device.id]);
  expect(await idsOf('?source=api')).toEqual(made.toReversed());
  expect((await idsOf('')).toSorted()).toEqual([...made, device.id].toSorted());
  const { nextCursor } = (await get(`${path}?source=api&limit=1`)).json.data;
  expect(await idsOf(`?source=api&limit=1&cursor=${encodeURIComponent(nextCursor)}`)).toEqual([made[0]]);
  expect((await get(`${path}?source=robot`)).status).toBe(400);
});
