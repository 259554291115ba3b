/** The dispatcher under load and with failing writes. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, HOUR, MINUTE } from '@/core/clock.ts';
import { emit as emitEvent } from '@/events/emit.ts';
import { eventually } from '../../support/eventually.ts';
import * as given from '../../support/given.ts';
import { type Instance, START } from '../../support/instance.ts';
import { emit, newestDelivery, type Scene, setUp, subscribe } from './scene.ts';

/** Creates endpoints with pending events each, whose answers take as long as `hold`. */
async function subscribeMany(scene: Scene, endpoints: number, events: number, hold: () => Promise<unknown>) {
  const subscriptions = [];
  for (let index = 0; index < endpoints; index += 1) subscriptions.push(await subscribe(scene));
  for (const { receiver } of subscriptions)
    receiver.answerWith(async () => {
      await hold();
      return { status: 200 };
    });
  for (let index = 0; index < events; index += 1) await emit(scene, `usr_${index}`);
  return subscriptions;
}

const LEASED_BY_FIRST = "SELECT id FROM deliveries WHERE leased_until IS NOT NULL AND lease_holder = 'first'";

const errorsOf = ({ instance }: Scene) => instance.logLines.filter((line) => JSON.parse(line).level >= 50);

describe('the dispatcher', () => {
  test('runs at most ten attempts per endpoint and fifty beyond the first of each', async () => {
    const scene = await setUp();
    const gate = Promise.withResolvers<void>();
    const subscriptions = await subscribeMany(scene, 12, 12, () => gate.promise);
    const inFlight = () => subscriptions.map(({ receiver }) => receiver.received.length);
    const all = scene.instance.services.deliveries.runOnce();
    const sum = () => inFlight().reduce((a, b) => a + b, 0);
    await eventually('all there is room for are under way', () => sum() >= 62);
    await Bun.sleep(100);
    expect(sum()).toBe(62);
    expect(Math.max(...inFlight())).toBeLessThanOrEqual(10);
    expect(Math.min(...inFlight())).toBeGreaterThanOrEqual(1);
    gate.resolve();
    await all;
    expect(inFlight()).toEqual(subscriptions.map(() => 12));
    for (const { receiver } of subscriptions) expect(receiver.mostAtOnce).toBeLessThanOrEqual(10);
    expect(errorsOf(scene)).toEqual([]);
  });

  test('starts at the commit, without a job', async () => {
    const scene = await setUp();
    const { receiver, id } = await subscribe(scene);
    await emit(scene);
    // No job runs that could start a delivery.
    await eventually('it came', () => receiver.received.length === 1);
    await eventually('it is recorded', async () => (await newestDelivery(scene, id)).status === 'delivered');
  });

  test('does not delay an endpoint behind ten stalled ones', async () => {
    const scene = await setUp();
    const release = Promise.withResolvers<void>();
    const hanging = await subscribeMany(scene, 10, 10, () => release.promise);
    const runs = scene.instance.services.deliveries.runOnce();
    await eventually('those that hang were asked', () => hanging.every(({ receiver }) => receiver.received.length > 0));
    const { receiver } = await subscribe(scene, ['user.left']);
    await scene.instance.db.write(SYSTEM_ACTOR, (unit) =>
      emitEvent(unit, { type: 'user.left', applicationId: scene.application.id, data: { userId: 'usr_1' } }),
    );
    // The stalled attempts are released only afterwards.
    await eventually('the healthy endpoint got its event', () => receiver.received.length === 1);
    for (const { id } of hanging) await scene.api.remove(id);
    release.resolve();
    await runs;
  });

  test('is not woken by an event without a subscriber', async () => {
    const scene = await setUp();
    const { receiver } = await subscribe(scene, ['user.left']);
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    expect(receiver.received).toEqual([]);
    expect(scene.instance.sqlite.query('SELECT count(*) AS n FROM deliveries').get()).toEqual({ n: 0 });
  });

  test('sends interrupted deliveries again at once after a restart', async () => {
    const scene = await setUp();
    const gate = Promise.withResolvers<void>();
    const [subscription] = await subscribeMany(scene, 1, 3, () => gate.promise);
    const { receiver, id } = subscription!;
    void scene.instance.services.deliveries.runOnce();
    await eventually('under way', () => receiver.received.length === 3);
    receiver.answerWith(() => ({ status: 200 }));
    await (await scene.instance.restart()).services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(6);
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(3);
    // The interrupted attempt counts and is recorded as interrupted.
    const { attempts, attemptLog } = await newestDelivery(scene, id);
    expect(attempts).toBe(2);
    expect(attemptLog).toMatchObject([
      { number: 1, errorClass: 'interrupted', statusCode: null },
      { number: 2, errorClass: null, statusCode: 200 },
    ]);
    gate.resolve();
    await scene.instance.services.deliveries.stop();
  });

  test('leaves the leases of another instance on the same database alone until they expire', async () => {
    let now = START;
    const scene = await setUp({ leaseHolder: 'first', time: { now: () => now } });
    const gate = Promise.withResolvers<void>();
    const [subscription] = await subscribeMany(scene, 1, 2, () => gate.promise);
    const { receiver, id } = subscription!;
    await eventually('under way', () => receiver.received.length === 2);
    const second = (await scene.instance.restart({}, { leaseHolder: 'second' })).services.deliveries;
    await second.runOnce();
    expect(receiver.received).toHaveLength(2);
    expect(await newestDelivery(scene, id)).toMatchObject({ attempts: 1, attemptLog: [] });
    // The first instance has ended: once its leases have expired, the second takes over its deliveries.
    await eventually(
      'the first holds its leases',
      () => scene.instance.sqlite.query(LEASED_BY_FIRST).all().length === 2,
    );
    receiver.answerWith(() => ({ status: 200 }));
    now += 2 * MINUTE;
    await second.runOnce();
    expect(receiver.received).toHaveLength(4);
    expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 2 });
    gate.resolve();
    await scene.instance.services.deliveries.stop();
  });

  test('sends nothing in progress twice, even if the clock is moved by days', async () => {
    const scene = await setUp();
    const { deliveries } = scene.instance.services;
    const gate = Promise.withResolvers<void>();
    const [subscription] = await subscribeMany(scene, 1, 3, () => gate.promise);
    const { receiver, id } = subscription!;
    await eventually('under way', () => receiver.received.length === 3);
    for (const step of [61_000, DAY, 40 * DAY]) {
      scene.instance.clock.advance(step);
      deliveries.wake();
    }
    const all = deliveries.runOnce();
    await emit(scene, 'usr_later');
    await eventually('the claims go on', () => receiver.received.length >= 4);
    gate.resolve();
    await all;
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(4);
    expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  test('signs with the real time if the clock was moved, so that the receiver’s five minutes hold', async () => {
    const scene = await setUp();
    const { receiver, id } = await subscribe(scene);
    scene.instance.clock.advance(40 * DAY);
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const [delivery] = receiver.received;
    expect(delivery!.signature).toStartWith(`t=${START / 1000},`);
    // The event's own time follows the instance's clock.
    expect(Date.parse(delivery!.event.createdAt)).toBe(START + 40 * DAY);
    expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  test('reads the date in Retry-After as real time', async () => {
    const scene = await setUp();
    const { receiver, id } = await subscribe(scene);
    scene.instance.clock.advance(40 * DAY);
    const later = new Date(START + HOUR).toUTCString();
    receiver.answerWith(() => ({ status: 503, headers: { 'retry-after': later } }));
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const { nextAttemptAt } = await newestDelivery(scene, id);
    expect(Date.parse(nextAttemptAt)).toBe(START + 40 * DAY + HOUR);
  });

  test('records attempts in progress at a stop and starts no more', async () => {
    const scene = await setUp();
    const gate = Promise.withResolvers<void>();
    const { deliveries } = scene.instance.services;
    const [subscription] = await subscribeMany(scene, 1, 25, () => gate.promise);
    const { receiver, id } = subscription!;
    deliveries.wake();
    await eventually('under way', () => receiver.received.length === 10);
    const stopping = deliveries.stop();
    gate.resolve();
    await stopping;
    expect(receiver.received).toHaveLength(10);
    expect((await scene.api.deliveries(id, '?status=delivered')).json.data.items).toHaveLength(10);
    deliveries.wake();
    await Bun.sleep(50);
    expect(receiver.received).toHaveLength(10);
  });
});

describe('the dispatcher, if a database write fails,', () => {
  /** Fails every claim, as a full disk or a long lock would. */
  const refuseLease = (instance: Instance) =>
    given.brokenWrites(instance, 'UPDATE OF leased_until ON deliveries', 'NEW.leased_until IS NOT NULL');

  test('retries a claim and loses no slot', async () => {
    const scene = await setUp();
    const { instance } = scene;
    const { receiver } = await subscribe(scene);
    const repair = refuseLease(instance);
    for (let index = 0; index < 11; index += 1) await emit(scene, `usr_${index}`);
    // More failed claims than there are slots.
    for (let turn = 0; turn < 12; turn += 1) {
      instance.services.deliveries.wake();
      await Bun.sleep(1);
    }
    repair();
    instance.services.deliveries.wake();
    await eventually(
      'all were delivered',
      () => new Set(receiver.received.map(({ eventId }) => eventId)).size === 11,
      10_000,
    );
  });

  test('does not count the claims of a failed write as in progress', async () => {
    const scene = await setUp();
    const { instance } = scene;
    const { receiver } = await subscribe(scene);
    const repair = refuseLease(instance);
    await emit(scene, 'usr_1');
    await emit(scene, 'usr_2');
    for (let turn = 0; turn < 15; turn += 1) {
      instance.services.deliveries.wake();
      await Bun.sleep(1);
    }
    repair();
    instance.services.deliveries.wake();
    await eventually(
      'both were delivered',
      () => new Set(receiver.received.map(({ eventId }) => eventId)).size === 2,
      10_000,
    );
  });

  test('repeats the delivery after its lease has expired in real time, if its result was not stored', async () => {
    let now = START;
    const scene = await setUp({ time: { now: () => now } });
    const { instance } = scene;
    const { receiver, id } = await subscribe(scene);
    const repair = given.brokenWrites(instance, 'INSERT ON delivery_attempts');
    await emit(scene);
    await instance.services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(1);
    expect(await newestDelivery(scene, id)).toMatchObject({ status: 'pending', attemptLog: [] });
    repair();
    instance.clock.advance(2 * MINUTE);
    await instance.services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(1);
    now += 2 * MINUTE;
    await instance.services.deliveries.runOnce();
    expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(1);
  });
});
