/** The event stream of an application: the content of deliveries, live, for callers with access. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { emit } from '@/events/emit.ts';
import { AppError } from '@/core/error.ts';
import { newId } from '@/core/id.ts';
import { eventStreams } from '@/modules/webhooks/event-streams.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { follow, type Listening } from '../live/listen.ts';

async function setUp() {
  const instance = await createInstance();
  const shop = await instance.createApplication();
  return { instance, shop, path: `/api/applications/${shop.id}/webhooks/events` };
}

async function streamOf({ app }: Instance, path: string, token: string | null, last?: string): Promise<Response> {
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(last !== undefined && { 'last-event-id': last }),
  };
  return app.fetch(new Request(`http://localhost${path}`, { headers }));
}

async function listening(instance: Instance, path: string, last?: string): Promise<Listening> {
  return follow(await streamOf(instance, path, instance.workspaceKey, last));
}

const emitEvent = ({ db }: Instance, applicationId: string, userId = newId('user', 0)) =>
  db.write(SYSTEM_ACTOR, (unit) =>
    emit(unit, { type: 'user.banned', applicationId, data: { userId, reason: 'spam' } }),
  );
const ids = (text: string) => [...text.matchAll(/^id: (evt_\w+)$/gm)].map(([, id]) => id!);

describe('a stream of events', () => {
  test('sends the exact bytes of a delivery, in order, for its own application only', async () => {
    const { instance, shop, path } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    await emitEvent(instance, shop.id);
    const stream = await listening(instance, path);
    expect(await stream.told()).toEqual([{ event: 'ready', data: {} }]);
    await emitEvent(instance, shop.id);
    await emitEvent(instance, other.id);
    await emitEvent(instance, shop.id);
    const told = await stream.told();
    expect(told.map(({ event, data }) => [event, data.type, data.applicationId])).toEqual([
      ['event', 'user.banned', shop.id],
      ['event', 'user.banned', shop.id],
    ]);
    expect(ids(stream.text())).toEqual(told.map(({ data }) => data.id));
    const webhook = await instance.call('POST', `/api/applications/${shop.id}/webhooks`, {
      token: instance.workspaceKey,
      body: { url: 'https://shop.example.com/hook', events: ['*'] },
    });
    await emitEvent(instance, shop.id);
    await stream.told();
    const deliveries = `/api/applications/${shop.id}/webhooks/${webhook.json.data.id}/deliveries`;
    const [delivery] = (await instance.call('GET', deliveries, { token: instance.workspaceKey })).json.data.items;
    const { requestBody } = (
      await instance.call('GET', `${deliveries}/${delivery.id}`, { token: instance.workspaceKey })
    ).json.data;
    expect(stream.text()).toContain(`id: ${delivery.eventId}\nevent: event\ndata: ${requestBody}\n\n`);
  });

  test('resumes after the reader’s last event, however many came since', async () => {
    const { instance, shop, path } = await setUp();
    const first = await listening(instance, path);
    await first.told();
    for (let count = 0; count < 3; count += 1) await emitEvent(instance, shop.id);
    await first.told();
    const seen = ids(first.text());
    await first.leave();
    for (let count = 0; count < 205; count += 1) await emitEvent(instance, shop.id);
    const again = await listening(instance, path, seen[0]);
    for (let look = 0; look < 20 && ids(again.text()).length < 207; look += 1) await again.told();
    expect(ids(again.text())).toHaveLength(207);
    expect(ids(again.text()).slice(0, 2)).toEqual(seen.slice(1));
    const odd = await listening(instance, path, "' OR 1=1");
    expect(await odd.told()).toEqual([{ event: 'ready', data: {} }]);
  });

  test('omits a test-send, which is meant for one endpoint', async () => {
    const { instance, shop, path } = await setUp();
    const { json } = await instance.call('POST', `/api/applications/${shop.id}/webhooks`, {
      token: instance.workspaceKey,
      body: { url: 'https://shop.example.com/hook', events: ['*'] },
    });
    const stream = await listening(instance, path);
    await stream.told();
    const test = `/api/applications/${shop.id}/webhooks/${json.data.id}/test`;
    await instance.call('POST', test, { token: instance.workspaceKey });
    await emitEvent(instance, shop.id);
    expect((await stream.told()).map(({ data }) => data.type)).toEqual(['user.banned']);
  });

  test('ends before it sends anything to a revoked key', async () => {
    const { instance, shop, path } = await setUp();
    const key = await instance.createKey(shop.id, { access: 'full' });
    const stream = follow(await streamOf(instance, path, key.token));
    await stream.told();
    await instance.call('DELETE', `/api/applications/${shop.id}/api-keys/${key.id}`, { token: instance.workspaceKey });
    await emitEvent(instance, shop.id);
    expect(await stream.told()).toEqual([{ event: 'ended', data: { error: 'unauthenticated' } }]);
    expect(stream.isClosed()).toBe(true);
    expect(instance.services.eventStreams.count()).toBe(0);
  });

  test('sends heartbeats and is closed when its reader leaves or the server stops', async () => {
    const { instance, path } = await setUp();
    const [one, other] = [await listening(instance, path), await listening(instance, path)];
    await Promise.all([one.told(), other.told()]);
    instance.services.eventStreams.heartbeat();
    await one.told();
    expect(one.text()).toEndWith(': heartbeat\n\n');
    await one.leave();
    expect(instance.services.eventStreams.count()).toBe(1);
    instance.services.eventStreams.closeAll();
    await other.told();
    expect([other.isClosed(), instance.services.eventStreams.count()]).toEqual([true, 0]);
  });

  test('is refused without credentials and not found from other workspaces', async () => {
    const { instance, path } = await setUp();
    const tenant = await given.tenant(instance);
    expect((await streamOf(instance, path, null)).status).toBe(401);
    expect((await streamOf(instance, path, tenant.workspaceKey)).status).toBe(404);
  });

  test('needs full access from its first event to its last, since events contain names', async () => {
    const { instance, shop, path } = await setUp();
    const { token } = await instance.createKey(shop.id, { access: 'read' });
    const refused = await streamOf(instance, path, token);
    expect([refused.status, (await refused.json()).error]).toEqual([403, 'admin_scope_required']);
    const owner = await instance.signIn('console', 'owner@example.com');
    const manage = (method: string, tail: string, body: unknown) =>
      instance.call(method, `/api/workspace/members${tail}`, { token: owner.token, body });
    const invited = await manage('POST', '', { email: 'mia@example.com', role: 'admin' });
    const stream = follow(await streamOf(instance, path, (await instance.signIn('console', 'mia@example.com')).token));
    await stream.told();
    await manage('PATCH', `/${invited.json.data.id}`, { role: 'member' });
    await emitEvent(instance, shop.id);
    expect(await stream.told()).toEqual([{ event: 'ended', data: { error: 'admin_scope_required' } }]);
  });

  test('is limited to twenty per caller', async () => {
    const { instance } = await setUp();
    const streams = eventStreams({ reader: instance.db.reader, clock: instance.clock, lateMs: 0 });
    const following = {
      applicationId: 'app_1',
      budgetId: 'usr_maker',
      credentialId: 'ses_1',
      after: null,
      confirm: async () => {},
    };
    for (let count = 0; count < 20; count += 1) streams.open({ ...following, userId: 'usr_1' });
    expect(() => streams.open({ ...following, userId: 'usr_1' })).toThrow(AppError);
    streams.open({ ...following, userId: 'usr_2' });
    streams.closeAll();
  });

  test('a caller with few streams replaces a stream of one with many if all slots are taken', async () => {
    const { instance } = await setUp();
    const streams = eventStreams({ reader: instance.db.reader, clock: instance.clock, lateMs: 0 });
    const open = (budgetId: string, userId: string) =>
      streams.open({
        applicationId: 'app_1',
        budgetId,
        userId,
        credentialId: 'ses_1',
        after: null,
        confirm: async () => {},
      });
    const first = open('wsp_0', 'usr_0').getReader();
    await first.read();
    for (let count = 1; count < 2000; count += 1)
      open(`wsp_${Math.floor(count / 200)}`, `usr_${Math.floor(count / 20)}`);
    const own = open('wsp_own', 'usr_own').getReader();
    expect([streams.count(), (await first.read()).done]).toEqual([2000, true]);
    // Replacement stops at an equal share, and takes no stream from a caller with as few.
    for (let count = 1; count < 181; count += 1) open('wsp_own', `usr_own${Math.floor(count / 20)}`);
    expect(() => open('wsp_own', 'usr_more')).toThrow(AppError);
    expect(streams.count()).toBe(2000);
    expect((await own.read()).done).toBe(false);
    streams.closeAll();
  });
});
