/** Several instances on one database send the deliveries of one another: each once, in order, and none is left behind. */
import { expect, test } from 'bun:test';
import { SECOND } from '@/core/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { type Instance, START } from '../../support/instance.ts';
import { emit, newestDelivery, quarantine, quarantineMails, setUp, subscribe } from './scene.ts';

const SECOND_HOLDER = { leaseHolder: 'second' };

/** Two instances on one database. */
async function setUpTwo() {
  const scene = await setUp({ leaseHolder: 'first' });
  const first = scene.instance;
  return { scene, first, second: await first.restart({}, SECOND_HOLDER) };
}

const run = (...instances: readonly Instance[]) =>
  Promise.all(instances.map(({ services }) => services.deliveries.runOnce()));

const idsOf = (received: readonly { readonly eventId: string }[]) => received.map(({ eventId }) => eventId);

const usersOf = (received: readonly { readonly event: { readonly data: { userId: string } } }[]) =>
  received.map(({ event }) => event.data.userId);

/** Two instances, of which the first has sent an event whose answer waits. @returns `pass` moves the real time. */
async function setUpStalled() {
  let now = START;
  const scene = await setUp({ leaseHolder: 'first', time: { now: () => now } });
  const { receiver, id } = await subscribe(scene);
  const answer = Promise.withResolvers<number>();
  receiver.answerWith(async () => ({ status: await answer.promise }));
  await emit(scene);
  await eventually('the first sends it', () => receiver.received.length === 1);
  const second = await scene.instance.restart({}, SECOND_HOLDER);
  const pass = (ms: number) => void (now += ms);
  return { scene, receiver, id, first: scene.instance, second, answer: answer.resolve, pass };
}

const hasLost = ({ logLines }: Instance) => logLines.some((line) => line.includes('a delivery was not recorded here'));

test('each delivery is sent once, at most ten at a time by each instance', async () => {
  const { scene, first, second } = await setUpTwo();
  const subscriptions = [await subscribe(scene), await subscribe(scene), await subscribe(scene)];
  for (let index = 0; index < 40; index += 1) await emit(scene, `usr_${index}`);
  await run(first, second);
  await run(first, second);
  for (const { receiver } of subscriptions) {
    expect(receiver.received).toHaveLength(40);
    expect(new Set(idsOf(receiver.received)).size).toBe(40);
    expect(receiver.mostAtOnce).toBeLessThanOrEqual(20);
  }
  expect([hasLost(first), hasLost(second)]).toEqual([false, false]);
});

test('a dead instance’s deliveries are taken over within a minute, and its attempt is on record', async () => {
  const { scene, second, receiver, id, pass } = await setUpStalled();
  receiver.answerWith(() => ({ status: 200 }));
  pass(44 * SECOND);
  await run(second);
  expect(receiver.received).toHaveLength(1);
  pass(2 * SECOND);
  await run(second);
  expect(receiver.received).toHaveLength(2);
  expect(await newestDelivery(scene, id)).toMatchObject({
    status: 'delivered',
    attempts: 2,
    attemptLog: [
      { number: 1, errorClass: 'interrupted', statusCode: null },
      { number: 2, errorClass: null, statusCode: 200 },
    ],
  });
});

test('a living instance keeps its deliveries, however long an attempt takes', async () => {
  const { scene, first, second, receiver, id, answer, pass } = await setUpStalled();
  for (let step = 0; step < 10; step += 1) {
    pass(20 * SECOND);
    await first.services.deliveries.renewLeases();
    await run(second);
  }
  expect(receiver.received).toHaveLength(1);
  answer(200);
  await run(first);
  expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('a late answer is not recorded over the attempt of the instance that took over', async () => {
  const { scene, first, second, receiver, id, answer, pass } = await setUpStalled();
  pass(46 * SECOND);
  receiver.answerWith(() => ({ status: 503 }));
  await run(second);
  answer(200);
  await eventually('the first knows', () => hasLost(first));
  expect(await newestDelivery(scene, id)).toMatchObject({
    status: 'pending',
    attempts: 2,
    attemptLog: [{ errorClass: 'interrupted' }, { statusCode: 503 }],
  });
});

test('an attempt whose lease was lost is ended at the next renewal', async () => {
  const { scene, first, second, receiver, id, pass } = await setUpStalled();
  pass(46 * SECOND);
  receiver.answerWith(() => ({ status: 200 }));
  await run(second);
  expect(hasLost(first)).toBe(false);
  // The receiver still holds the first request.
  await first.services.deliveries.renewLeases();
  await first.services.deliveries.stop();
  expect(hasLost(first)).toBe(true);
  expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 2 });
});

test('an answer after the lease is recorded if nobody has taken over', async () => {
  const { scene, first, second, id, answer, pass } = await setUpStalled();
  pass(10 * 60 * SECOND);
  answer(200);
  await run(first);
  await run(second);
  expect(await newestDelivery(scene, id)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('held events are sent once, in order and one at a time, before new ones', async () => {
  const scene = await setUp({ leaseHolder: 'first' });
  const { receiver, id } = await subscribe(scene);
  await quarantine(scene, { receiver });
  const second = await scene.instance.restart({}, SECOND_HOLDER);
  for (let index = 0; index < 8; index += 1) await emit(scene, `usr_${index}`);
  await scene.api.release(id);
  for (let round = 0; round < 8; round += 1) await run(scene.instance, second);
  expect(receiver.mostAtOnce).toBe(1);
  await emit(scene, 'usr_new');
  await run(scene.instance, second);
  const sent = usersOf(receiver.received).slice(1);
  expect(sent).toEqual([...Array.from({ length: 8 }, (_, index) => `usr_${index}`), 'usr_new']);
});

test('two instances whose deliveries are answered 410 quarantine the endpoint once', async () => {
  const { scene, first, second } = await setUpTwo();
  const { receiver, id } = await subscribe(scene);
  const gate = Promise.withResolvers<void>();
  receiver.answerWith(async () => {
    await gate.promise;
    return { status: 410 };
  });
  for (let index = 0; index < 15; index += 1) await emit(scene, `usr_${index}`);
  const running = run(first, second);
  await eventually('both send', () => receiver.received.length === 15);
  gate.resolve();
  await running;
  expect((await scene.api.get(id)).json.data.status).toBe('quarantined');
  expect(first.auditKinds(scene.application.id).filter((kind) => kind === 'webhook.quarantined')).toHaveLength(1);
  expect(quarantineMails(scene)).toEqual(['owner@example.com']);
});
