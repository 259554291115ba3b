/** The share of its rate limits that a key has used, as the limiter counts it. */
import { expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';
import { createInstance, type Instance } from '../../support/instance.ts';

async function setUp() {
  const instance = await createInstance();
  const { id } = await instance.createApplication();
  const key = await instance.createKey(id);
  const path = `/api/applications/${id}/api-keys`;
  const keys = async () => (await instance.call('GET', path, { token: instance.workspaceKey })).json.data.items;
  return { instance, id, key, path, keys };
}

const use = (instance: Instance, token: string, id: string) =>
  instance.call('GET', `/api/applications/${id}`, { token });

test('a key shows its calls in the current minute and UTC day', async () => {
  const { instance, id, key, keys } = await setUp();
  expect(await keys()).toMatchObject([{ id: key.id, usage: { minute: 0, day: 0 }, lastUsedAt: null }]);
  for (let n = 0; n < 3; n += 1) await use(instance, key.token, id);
  expect(await keys()).toMatchObject([{ usage: { minute: 3, day: 3 } }]);
  instance.clock.advance(MINUTE);
  expect(await keys()).toMatchObject([{ usage: { minute: 0, day: 3 } }]);
  instance.clock.advance(DAY);
  expect(await keys()).toMatchObject([{ usage: { minute: 0, day: 0 } }]);
});

test('a refused call is not counted, and a lowered limit does not change the counts', async () => {
  const { instance, id, key, path, keys } = await setUp();
  for (let n = 0; n < 5; n += 1) await use(instance, key.token, id);
  const body = { rateLimits: { perMinute: 2 } };
  const changed = await instance.call('PATCH', `${path}/${key.id}`, { token: instance.workspaceKey, body });
  expect(changed.json.data.usage).toEqual({ minute: 5, day: 5 });
  expect((await use(instance, key.token, id)).status).toBe(429);
  expect(await keys()).toMatchObject([{ usage: { minute: 5, day: 5 } }]);
});

test('a key and its successor share their counts, even across a restart', async () => {
  const { instance, id, key, path } = await setUp();
  const rotated = await instance.call('POST', `${path}/${key.id}/rotate-with-grace`, { token: instance.workspaceKey });
  expect(rotated.json.data.usage).toEqual({ minute: 0, day: 0 });
  await use(instance, key.token, id);
  await use(instance, rotated.json.data.token, id);
  const again = await instance.restart();
  const { items } = (await again.call('GET', path, { token: again.workspaceKey })).json.data;
  expect(items.map(({ usage }: { usage: object }) => usage)).toEqual([
    { minute: 2, day: 2 },
    { minute: 2, day: 2 },
  ]);
});
