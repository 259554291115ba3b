/** Endpoints with a large backlog: a status change takes effect at once and updates no pending delivery. */
import { describe, expect, test } from 'bun:test';
import { FIRST_BATCH } from '@/jobs/background-tasks.ts';
import { MINUTE } from '@/core/clock.ts';
import { newId } from '@/core/id.ts';
import { eventually } from '../../support/binary.ts';
import * as given from '../../support/given.ts';
import { emit, newestDelivery, quarantine, type Scene, setUp, subscribe } from './scene.ts';

/**
 * Adds pending events to an endpoint, one per millisecond before now, oldest first, by SQL for speed and exact times.
 * @param waitMs the time until each attempt is due.
 */
function addBacklog({ instance, application }: Scene, webhookId: string, count: number, waitMs = 0): void {
  const { sqlite, clock } = instance;
  const event = sqlite.prepare(
    "INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, 'user.banned', ?, ?)",
  );
  const delivery = sqlite.prepare(
    `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
     VALUES (?, ?, ?, 'user.banned', 'pending', 0, ?, ?)`,
  );
  sqlite.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      const at = clock.now() - count + index;
      const eventId = newId('event', at);
      event.run(eventId, application.id, JSON.stringify({ userId: `usr_${index}` }), at);
      delivery.run(newId('delivery', at), webhookId, eventId, at + waitMs, at);
    }
  })();
}

const countOf = ({ instance }: Scene, table: string) =>
  (instance.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;

const usersOf = (received: readonly { readonly event: { readonly data: { userId: string } } }[]) =>
  received.map(({ event }) => event.data.userId);

describe('an endpoint with thousands of pending events', () => {
  test('enters and leaves quarantine without an update of any of them', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    const gate = Promise.withResolvers<void>();
    receiver.answerWith(async () => {
      await gate.promise;
      return { status: 410 };
    });
    await emit(scene, 'usr_gone');
    await eventually('it is under way', () => receiver.received.length === 1);
    addBacklog(scene, id, 5000, MINUTE);
    // Fails every status update of a pending delivery.
    given.brokenWrites(instance, 'UPDATE OF status, next_attempt_at ON deliveries', 'OLD.leased_until IS NULL');
    gate.resolve();
    await eventually('it is in quarantine', async () => (await api.get(id)).json.data.status === 'quarantined');
    await instance.services.deliveries.stop();
    const held = await api.deliveries(id, '?status=held&limit=2');
    expect(held.json.data.items.map(({ status, nextAttemptAt }: any) => [status, nextAttemptAt])).toEqual([
      ['held', null],
      ['held', null],
    ]);
    expect((await api.deliveries(id, '?status=pending')).json.data.items).toEqual([]);
    const released = await api.release(id);
    expect([released.status, released.json.data.released]).toEqual([200, 5000]);
    expect((await api.deliveries(id, '?status=held')).json.data.items).toEqual([]);
    expect((await api.deliveries(id, '?status=pending&limit=2')).json.data.items).toHaveLength(2);
    expect((await api.deliveries(id, '?status=failed')).json.data.items).toHaveLength(1);
  });

  test('quarantined again during a release keeps the order at the next release', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    for (let index = 0; index < 6; index += 1) await emit(scene, `usr_${index}`);
    receiver.answerWith(({ event }) => ({ status: event.data.userId === 'usr_2' ? 410 : 200 }));
    await api.release(id);
    await instance.services.deliveries.runOnce();
    expect((await api.get(id)).json.data.status).toBe('quarantined');
    await emit(scene, 'usr_later');
    expect(usersOf(receiver.received).slice(1)).toEqual(['usr_0', 'usr_1', 'usr_2']);
    expect((await api.deliveries(id, '?status=held')).json.data.items).toHaveLength(4);
    receiver.answerWith(() => ({ status: 200 }));
    expect((await api.release(id)).json.data.released).toBe(4);
    await instance.services.deliveries.runOnce();
    expect(usersOf(receiver.received).slice(4)).toEqual(['usr_3', 'usr_4', 'usr_5', 'usr_later']);
  });

  test('gets each held event once before any retry and before new events', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    for (let index = 0; index < 3; index += 1) await emit(scene, `usr_${index}`);
    let failures = 1;
    receiver.answerWith(() => ({ status: (failures -= 1) >= 0 ? 503 : 200 }));
    await api.release(id);
    await emit(scene, 'usr_new');
    instance.clock.advance(20_000);
    await instance.services.deliveries.runOnce();
    instance.clock.advance(20_000);
    await instance.services.deliveries.runOnce();
    const order = usersOf(receiver.received).slice(1);
    expect(order.slice(0, 3)).toEqual(['usr_0', 'usr_1', 'usr_2']);
    expect(order.slice(3).sort()).toEqual(['usr_0', 'usr_new']);
  });

  test('is deleted at once; its deliveries follow in batches, even after a restart', async () => {
    const scene = await setUp();
    const { instance, application, api } = scene;
    const { id, receiver } = await subscribe(scene);
    const other = await subscribe(scene);
    await emit(scene, 'usr_first');
    await instance.services.deliveries.runOnce();
    await instance.services.deliveries.stop();
    await instance.services.tasks.stop();
    addBacklog(scene, id, 5000);
    expect((await api.remove(id)).status).toBe(200);
    for (const answer of [await api.get(id), await api.deliveries(id), await api.remove(id), await api.release(id)])
      expect(answer.status).toBe(404);
    expect((await api.list()).json.data.items.map((webhook: { id: string }) => webhook.id)).toEqual([other.id]);
    expect(countOf(scene, 'deliveries')).toBe(5002 - FIRST_BATCH);
    const { json } = await instance.call('GET', `/api/applications/${application.id}`, {
      token: instance.workspaceKey,
    });
    expect(json.data.pendingWork).toMatchObject({ kind: 'delete_webhook', done: FIRST_BATCH });

    const again = { ...scene, instance: await instance.restart() };
    const before = receiver.received.length;
    await emit(again, 'usr_last');
    await again.instance.services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(before);
    await again.instance.services.tasks.runOnce();
    // The other endpoint's two deliveries remain.
    expect([countOf(scene, 'deliveries'), countOf(scene, 'webhooks')]).toEqual([2, 1]);
    expect((await newestDelivery({ ...scene, api }, other.id)).status).toBe('delivered');
  });

  test('gets its turn among hundreds of others', async () => {
    const scene = await setUp();
    const { instance } = scene;
    const { id, receiver } = await subscribe(scene);
    // More disabled endpoints have pending events than one read examines, with ids before and after. By SQL for
    // speed.
    const webhook = instance.sqlite.prepare(
      `INSERT INTO webhooks (id, application_id, url, events, status, sealed_secret, created_at, updated_at)
       VALUES (?, ?, 'https://example.com', '["*"]', 'disabled', 'x', 1, 1)`,
    );
    const event = newId('event', 1);
    instance.sqlite.run("INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, 'x', '{}', 1)", [
      event,
      scene.application.id,
    ]);
    const delivery = instance.sqlite.prepare(
      `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
       VALUES (?, ?, ?, 'x', 'pending', 0, 1, 1)`,
    );
    instance.sqlite.transaction(() => {
      for (const prefix of ['whk_0', 'whk_z'])
        for (let index = 0; index < 450; index += 1) {
          webhook.run(`${prefix}${index}`, scene.application.id);
          delivery.run(newId('delivery', 1), `${prefix}${index}`, event);
        }
    })();
    for (let index = 0; index < 3; index += 1) {
      await emit(scene, `usr_${index}`);
      await instance.services.deliveries.runOnce();
    }
    expect(usersOf(receiver.received)).toEqual(['usr_0', 'usr_1', 'usr_2']);
    expect((await newestDelivery(scene, id)).status).toBe('delivered');
  });
});
