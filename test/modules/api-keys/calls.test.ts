/** Calls of a backend key over time, accepted and refused. */
import { expect, test } from 'bun:test';
import { DAY, HOUR } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const key = await instance.createKey(application.id);
  const path = `/api/applications/${application.id}/api-keys/${key.id}/calls`;
  async function calls(query = '', token = instance.workspaceKey) {
    await instance.services.flushCounters();
    return instance.call('GET', `${path}${query}`, { token });
  }
  const verify = (token: string) => instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
  return { instance, application, key, path, calls, verify };
}

test('are counted by the hour and the day; an invalid token or an error counts as refused', async () => {
  const { instance, application, key, calls, verify } = await setUp();
  const { token } = await instance.signIn(application.clientId, 'ada@example.com');
  await verify(token);
  await verify(token);
  await verify('est_nonsense');
  await instance.services.flushCounters();
  instance.clock.advance(HOUR);
  await verify(token);
  const unknown = await instance.call('GET', '/api/applications/app_unknown', { token: key.token });
  expect(unknown.status).toBe(404);
  const hours = (await calls('?days=1')).json.data;
  expect([hours.unit, hours.points.length]).toEqual(['hour', 24]);
  expect(hours.points.slice(-3)).toEqual([
    { at: '2026-03-02T11:00:00.000Z', accepted: 0, refused: 0 },
    { at: '2026-03-02T12:00:00.000Z', accepted: 2, refused: 1 },
    { at: '2026-03-02T13:00:00.000Z', accepted: 1, refused: 1 },
  ]);
  instance.clock.advance(DAY);
  await verify(token);
  const days = (await calls()).json.data;
  expect([days.unit, days.points.length]).toEqual(['day', 7]);
  expect(days.points.slice(-2)).toEqual([
    { at: '2026-03-02T00:00:00.000Z', accepted: 3, refused: 2 },
    { at: '2026-03-03T00:00:00.000Z', accepted: 1, refused: 0 },
  ]);
});

test('survive a restart, and are each key’s own across a rotation', async () => {
  const { instance, application, key, verify } = await setUp();
  await verify('est_nonsense');
  const { json } = await instance.call(
    'POST',
    `/api/applications/${application.id}/api-keys/${key.id}/rotate-with-grace`,
    {
      token: instance.workspaceKey,
    },
  );
  const again = await instance.restart();
  const successor = json.data;
  await again.call('GET', `/api/applications/${application.id}`, { token: successor.token });
  await again.services.flushCounters();
  const today = async (id: string) => {
    const { json } = await again.call('GET', `/api/applications/${application.id}/api-keys/${id}/calls`, {
      token: again.workspaceKey,
    });
    return json.data.points.at(-1);
  };
  expect(await today(key.id)).toMatchObject({ accepted: 0, refused: 1 });
  expect(await today(successor.id)).toMatchObject({ accepted: 1, refused: 0 });
});

test('are shown to full access of the same tenant alone', async () => {
  const { instance, application, path, calls } = await setUp();
  const tenant = await given.tenant(instance);
  const reader = await instance.createKey(application.id, { access: 'read' });
  const sibling = await instance.createApplication({ name: 'Sibling' });
  const others = await instance.createKey(sibling.id);
  expect((await instance.call('GET', path)).status).toBe(401);
  expect((await calls('', reader.token)).status).toBe(403);
  expect((await calls('', tenant.workspaceKey)).status).toBe(404);
  expect((await calls('', others.token)).status).toBe(404);
  const foreign = path.replace(application.id, sibling.id);
  expect((await instance.call('GET', foreign, { token: instance.workspaceKey })).status).toBe(404);
  for (const days of ['0', '32', 'x']) expect((await calls(`?days=${days}`)).json.fields?.[0]?.path).toBe('days');
});
