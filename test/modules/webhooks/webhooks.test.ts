import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { emit as emitEvent } from '@/events/emit.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { storedText } from '../../support/stored.ts';
import { apiOf, emit, input, newestDelivery, quarantine, setUp, setUpNormal, subscribe, URL_OF_SHOP } from './scene.ts';

const SINCE = new Date(START).toISOString();

/** A well-formed id that does not exist. */
const absent = (prefix: string) => `${prefix}_${'0'.repeat(26)}`;

describe('a webhook', () => {
  test('is created with its secret, which no later answer contains', async () => {
    const { api } = await setUpNormal();
    const created = await api.create(input({ events: ['user.banned', 'user.signed_in'], description: 'Orders' }));
    expect(created.status).toBe(200);
    const { signingSecret, ...record } = created.json.data;
    expect(signingSecret).toMatch(/^whsec_\S{30,}$/);
    expect(record).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-z]{26}$/),
      url: URL_OF_SHOP,
      events: ['user.banned', 'user.signed_in'],
      description: 'Orders',
      status: 'active',
      quarantinedAt: null,
      quarantineReason: null,
      previousSecretEndsAt: null,
      createdAt: new Date(START).toISOString(),
      updatedAt: new Date(START).toISOString(),
    });
    expect((await api.get(record.id)).json.data).toEqual(record);
    expect((await api.list()).json.data).toEqual({ items: [record], nextCursor: null });
    expect((await api.patch(record.id, { description: null })).text).not.toContain(signingSecret);
  });

  test('has its secret stored sealed only and never logged', async () => {
    const { instance, api } = await setUpNormal();
    const { json } = await api.create(input());
    const rotated = await api.rotateSecret(json.data.id);
    for (const { signingSecret } of [json.data, rotated.json.data]) {
      expect(storedText(instance)).not.toContain(signingSecret);
      expect(storedText(instance)).not.toContain(signingSecret.slice('whsec_'.length));
      expect(instance.logLines.join('')).not.toContain(signingSecret);
    }
  });

  test('is listed in pages, in the order of creation', async () => {
    const { api } = await setUpNormal();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await api.create(input())).json.data.id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { json } = await api.list(`?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      seen.push(...json.data.items.map(({ id }: { id: string }) => id));
      cursor = json.data.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
  });

  test('can change its url, events, description and status', async () => {
    const { instance, api, application } = await setUpNormal();
    const { id } = (await api.create(input())).json.data;
    instance.clock.advance(1000);
    const patch = { url: 'https://other.example.com/', events: ['user.left', 'user.left'], description: 'x' };
    const changed = await api.patch(id, { ...patch, status: 'disabled' });
    expect(changed.json.data).toMatchObject({ ...patch, events: ['user.left'], status: 'disabled' });
    expect(changed.json.data.updatedAt).toBe(new Date(START + 1000).toISOString());
    expect((await api.patch(id, { status: 'active' })).json.data.status).toBe('active');
    expect(instance.auditKinds(application.id).slice(-3)).toEqual([
      'webhook.created',
      'webhook.updated',
      'webhook.updated',
    ]);
  });

  test('is deleted with its deliveries', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id } = await subscribe(scene);
    await emit(scene);
    await instance.services.deliveries.runOnce();
    expect((await api.remove(id)).json).toEqual({ success: true, data: { id } });
    expect((await api.get(id)).status).toBe(404);
    expect((await api.remove(id)).status).toBe(404);
    for (const table of ['deliveries', 'delivery_attempts'])
      expect(instance.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
  });

  test('can be deleted while a delivery is in progress', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(async () => {
      await api.remove(id);
      return { status: 410 };
    });
    await emit(scene);
    await instance.services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(1);
    expect(instance.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  test('is limited to twenty per application', async () => {
    const { instance, api } = await setUpNormal();
    for (let index = 0; index < 20; index += 1) expect((await api.create(input())).status).toBe(200);
    const refused = await api.create(input());
    expect([refused.status, refused.json.error]).toEqual([409, 'conflict']);
    expect((await apiOf(instance, (await instance.createApplication()).id).create(input())).status).toBe(200);
    const { id } = (await api.list('?limit=1')).json.data.items[0];
    await api.remove(id);
    expect((await api.create(input())).status).toBe(200);
  });

  test('can be read with a read key, and changed only with a full key', async () => {
    const { instance, application, api } = await setUpNormal();
    const { id } = (await api.create(input())).json.data;
    const reader = apiOf(
      instance,
      application.id,
      (await instance.createKey(application.id, { access: 'read' })).token,
    );
    for (const answer of [await reader.list(), await reader.get(id), await reader.deliveries(id)])
      expect(answer.status).toBe(200);
    const refusals = [
      await reader.create(input()),
      await reader.patch(id, {}),
      await reader.remove(id),
      await reader.rotateSecret(id),
      await reader.test(id),
      await reader.replay(id, SINCE),
      await reader.release(id),
      await reader.redeliver(id, absent('dlv')),
    ];
    for (const { status, json } of refusals) expect([status, json.error]).toEqual([403, 'admin_scope_required']);
  });

  test('a webhook of another application or workspace is not found', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id } = await subscribe(scene);
    await emit(scene);
    await instance.services.deliveries.runOnce();
    const delivery = await newestDelivery(scene, id);
    const tenant = await given.tenant(instance);
    for (const other of [
      apiOf(instance, (await instance.createApplication()).id),
      apiOf(instance, tenant.application.id, tenant.workspaceKey),
      apiOf(instance, scene.application.id, tenant.workspaceKey),
    ]) {
      const answers = [
        await other.get(id),
        await other.patch(id, { description: 'mine' }),
        await other.remove(id),
        await other.rotateSecret(id),
        await other.test(id),
        await other.performance(id),
        await other.countReplay(id, SINCE),
        await other.replay(id, SINCE),
        await other.release(id),
        await other.deliveries(id),
        await other.delivery(id, delivery.id),
        await other.redeliver(id, delivery.id),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    }
    expect((await api.get(id)).json.data).toMatchObject({ description: null, previousSecretEndsAt: null });
  });

  test('gets only subscribed types, of its own application, while it is enabled', async () => {
    const scene = await setUp();
    const { instance, application, api } = scene;
    const banned = await subscribe(scene, ['user.banned', 'user.unbanned']);
    const all = await subscribe(scene);
    const disabled = await subscribe(scene);
    await api.patch(disabled.id, { status: 'disabled' });
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const users = `/api/applications/${application.id}/users/${userId}`;
    for (const action of ['ban', 'unban'])
      await instance.call('POST', `${users}/${action}`, { token: instance.workspaceKey, body: {} });
    await emit({ instance, application: await instance.createApplication() });
    await instance.services.deliveries.runOnce();
    const typesOf = ({ receiver }: typeof all) => receiver.received.map(({ event }) => event.type).sort();
    expect(typesOf(banned)).toEqual(['user.banned', 'user.unbanned']);
    expect(typesOf(all)).toEqual(['user.banned', 'user.session_revoked', 'user.signed_in', 'user.unbanned']);
    await api.patch(disabled.id, { status: 'active' });
    await instance.services.deliveries.runOnce();
    expect(typesOf(disabled)).toEqual([]);
    expect((await api.deliveries(disabled.id)).json.data.items).toEqual([]);
  });

  test('gets nothing of a change that was rolled back', async () => {
    const scene = await setUp();
    const { instance, application } = scene;
    const { receiver } = await subscribe(scene);
    const change = instance.db.write(SYSTEM_ACTOR, async (unit) => {
      await emitEvent(unit, { type: 'user.left', applicationId: application.id, data: { userId: 'usr_1' } });
      throw new Error('no');
    });
    await expect(change).rejects.toThrow('no');
    await instance.services.deliveries.runOnce();
    expect(receiver.received).toEqual([]);
  });
});

describe('the events of a webhook', () => {
  test('are each reported if they do not exist', async () => {
    const { api } = await setUpNormal();
    const refused = await api.create(input({ events: ['user.signed_in', 'user.exploded', 'USER.BANNED'] }));
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
    expect(refused.json.fields.map(({ path }: { path: string }) => path)).toEqual(['events.1', 'events.2']);
    expect(refused.text).not.toContain('exploded');
  });

  test.each([
    ['none', []],
    ['all mixed with one', ['*', 'user.signed_in']],
    ['all twice', ['*', '*']],
    ['a pattern', ['user.*']],
    ['the test event', ['webhook.test']],
    ['not a list', '*'],
    ['not texts', [1]],
  ])('are not %s', async (_, events) => {
    const { api } = await setUpNormal();
    const refused = await api.create(input({ events }));
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
    const { id } = (await api.create(input())).json.data;
    expect((await api.patch(id, { events })).status).toBe(400);
  });
});

describe('the API', () => {
  test.each([
    ['an unknown field', { ...input(), colour: 'red' }],
    ['no url', { events: ['*'] }],
    ['no events', { url: URL_OF_SHOP }],
    ['a secret of one’s own', { ...input(), signingSecret: 'whsec_mine' }],
    ['a long description', { ...input(), description: 'x'.repeat(501) }],
  ])('refuses creation with %s', async (_, body) => {
    const refused = await (await setUpNormal()).api.create(body);
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
  });

  test('refuses a status that cannot be set', async () => {
    const { api } = await setUpNormal();
    const { id } = (await api.create(input())).json.data;
    expect((await api.patch(id, { status: 'quarantined' })).status).toBe(400);
    expect((await api.patch(id, { status: 'off' })).status).toBe(400);
  });

  test('refuses a caller without credentials before anything else', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const stranger = await instance.call('POST', `/api/applications/${id}/webhooks`, { body: { nonsense: true } });
    expect(stranger.status).toBe(401);
  });

  test('answers 404 for deliveries and redelivery of unknown webhooks', async () => {
    const scene = await setUp();
    const { api } = scene;
    const { id } = await subscribe(scene);
    const other = await subscribe(scene);
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const ofOther = await newestDelivery(scene, other.id);
    for (const deliveryId of [absent('dlv'), ofOther.id, 'nonsense'])
      for (const answer of [await api.delivery(id, deliveryId), await api.redeliver(id, deliveryId)])
        expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
    expect((await api.redeliver(absent('whk'), ofOther.id)).status).toBe(404);
    expect((await api.deliveries(absent('whk'))).status).toBe(404);
  });

  test('refuses a test or redelivery to a disabled endpoint, and a release without quarantine', async () => {
    const scene = await setUp();
    const { api } = scene;
    const { id } = await subscribe(scene);
    await api.test(id);
    await scene.instance.services.deliveries.runOnce();
    const delivery = await newestDelivery(scene, id);
    const early = await api.release(id);
    expect([early.status, early.json.error]).toEqual([409, 'invalid_state']);
    await api.patch(id, { status: 'disabled' });
    for (const answer of [await api.test(id), await api.redeliver(id, delivery.id), await api.release(id)])
      expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
  });

  test('refuses to end a quarantine by PATCH', async () => {
    const scene = await setUp();
    const { api } = scene;
    const subscription = await subscribe(scene);
    await quarantine(scene, subscription);
    const refused = await api.patch(subscription.id, { status: 'active' });
    expect([refused.status, refused.json.error]).toEqual([409, 'invalid_state']);
  });

  test('refuses an invalid cursor', async () => {
    const { api } = await setUpNormal();
    const { id } = (await api.create(input())).json.data;
    for (const answer of [await api.list('?cursor=x'), await api.deliveries(id, '?cursor=x')])
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_cursor']);
    expect((await api.deliveries(id, '?status=lost')).status).toBe(400);
  });
});

describe('a test-send', () => {
  test('is delivered like every other event, to this endpoint only', async () => {
    const scene = await setUp();
    const { instance, application, api } = scene;
    const one = await subscribe(scene, ['user.left']);
    const other = await subscribe(scene);
    const sent = await api.test(one.id);
    expect(sent.json.data).toMatchObject({ eventType: 'webhook.test', status: 'pending', attempts: 0 });
    await instance.services.deliveries.runOnce();
    expect(other.receiver.received).toEqual([]);
    expect(one.receiver.received.map(({ event }) => event)).toEqual([
      {
        id: sent.json.data.eventId,
        type: 'webhook.test',
        createdAt: new Date(START).toISOString(),
        applicationId: application.id,
        data: { webhookId: one.id },
      },
    ]);
    expect((await newestDelivery(scene, one.id)).status).toBe('delivered');
  });
});

describe('deliveries', () => {
  test('are listed newest first, by page and by status', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(({ event }) => ({ status: event.data.userId === 'usr_2' ? 500 : 200 }));
    for (let index = 0; index < 5; index += 1) {
      await emit(scene, `usr_${index}`);
      instance.clock.advance(10);
    }
    await instance.services.deliveries.runOnce();
    const eventIds = receiver.received.toSorted((a, b) => (a.event.id < b.event.id ? 1 : -1)).map((one) => one.eventId);
    const first = (await api.deliveries(id, '?limit=3')).json.data;
    const second = (await api.deliveries(id, `?limit=3&cursor=${first.nextCursor}`)).json.data;
    expect(second.nextCursor).toBeNull();
    expect([...first.items, ...second.items].map(({ eventId }: { eventId: string }) => eventId)).toEqual(eventIds);
    const pending = (await api.deliveries(id, '?status=pending')).json.data.items;
    expect(pending.map(({ eventId }: { eventId: string }) => eventId)).toEqual([eventIds[2]]);
    expect((await api.deliveries(id, '?status=delivered')).json.data.items).toHaveLength(4);
  });

  test('are deleted after thirty days with their attempts, unless they are still to be sent', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const done = await subscribe(scene);
    const waiting = await subscribe(scene);
    await quarantine(scene, waiting);
    await emit(scene);
    await instance.services.deliveries.runOnce();
    instance.clock.advance(30 * DAY + 1);
    await instance.services.scheduler.runAll();
    expect((await api.deliveries(done.id)).json.data.items).toEqual([]);
    expect((await api.deliveries(waiting.id)).json.data.items.map(({ status }: { status: string }) => status)).toEqual([
      'held',
    ]);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM delivery_attempts').get()).toEqual({ n: 0 });
  });
});
