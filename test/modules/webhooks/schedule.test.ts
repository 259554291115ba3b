import { describe, expect, test } from 'bun:test';
import { DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { MAX_ATTEMPTS, parseRetryAfter, retryWaitMs } from '@/modules/webhooks/schedule.ts';
import { eventually } from '../../support/eventually.ts';
import { START } from '../../support/instance.ts';
import { apiOf, emit, newestDelivery, quarantine, quarantineMails, setUp, subscribe } from './scene.ts';

describe('the wait after a failed attempt', () => {
  test('doubles from 15 seconds, with a tenth of jitter to either side', () => {
    for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts += 1) {
      const base = 15 * SECOND * 2 ** (attempts - 1);
      expect(retryWaitMs(attempts, null, 0)).toBe(base * 0.9);
      expect(retryWaitMs(attempts, null, 0.5)).toBe(base);
      expect(retryWaitMs(attempts, null, 1 - Number.EPSILON)).toBeCloseTo(base * 1.1, 0);
    }
  });

  test('follows the receiver’s Retry-After, from the regular wait up to six hours', () => {
    expect(retryWaitMs(1, 0, 0)).toBe(15 * SECOND);
    expect(retryWaitMs(1, 20 * SECOND, 0)).toBe(20 * SECOND);
    expect(retryWaitMs(1, HOUR, 0)).toBe(HOUR);
    expect(retryWaitMs(1, DAY, 0)).toBe(6 * HOUR);
    expect(retryWaitMs(14, DAY, 0)).toBe(15 * SECOND * 2 ** 13);
    expect(retryWaitMs(4, 3 * MINUTE, 0)).toBe(3 * MINUTE);
  });

  test.each([
    ['nothing', null, null],
    ['seconds', '120', 120_000],
    ['seconds with white space', ' 7 ', 7000],
    ['zero', '0', 0],
    ['a date', new Date(START + 90_000).toUTCString(), 90_000],
    ['a date in the past', new Date(START - 90_000).toUTCString(), 0],
    ['nonsense', 'soon', null],
    ['less than nothing', '-5s', null],
    ['an endless number', '9'.repeat(400), null],
  ])('follows a Retry-After header: %s', (_, header, expected) => {
    expect(parseRetryAfter(header, START)).toBe(expected);
  });
});

describe('an undeliverable event', () => {
  test('is tried 15 times over about 2.8 days; then its endpoint is quarantined and each owner notified once', async () => {
    const scene = await setUp();
    const { instance, application, api } = scene;
    const { runOnce } = instance.services.deliveries;
    const { token } = await instance.signIn('console', 'owner@example.com');
    for (const [email, role] of [
      ['second@example.com', 'owner'],
      ['admin@example.com', 'admin'],
    ])
      await instance.call('POST', '/api/workspace/members', { token, body: { email, role } });
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(() => ({ status: 503, body: 'down' }));
    await emit(scene);
    await runOnce();
    const begin = instance.clock.now();
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      const delivery = await newestDelivery(scene, id);
      expect(delivery).toMatchObject({ status: 'pending', attempts: attempt, finishedAt: null });
      const wait = Date.parse(delivery.nextAttemptAt) - instance.clock.now();
      const regular = 15 * SECOND * 2 ** (attempt - 1);
      expect(wait).toBeGreaterThanOrEqual(regular * 0.9);
      expect(wait).toBeLessThanOrEqual(regular * 1.1);
      instance.clock.advance(wait - 1);
      await runOnce();
      expect(receiver.received).toHaveLength(attempt);
      expect(quarantineMails(scene)).toEqual([]);
      instance.clock.advance(1);
      await runOnce();
      expect(receiver.received).toHaveLength(attempt + 1);
    }
    expect((instance.clock.now() - begin) / DAY).toBeWithin(2.5, 3.2);

    const delivery = await newestDelivery(scene, id);
    expect(delivery).toMatchObject({ status: 'failed', attempts: 15, nextAttemptAt: null });
    expect(delivery.finishedAt).toBe(new Date(instance.clock.now()).toISOString());
    expect(delivery.attemptLog.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
    expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(1);
    expect((await api.get(id)).json.data).toMatchObject({
      status: 'quarantined',
      quarantinedAt: delivery.finishedAt,
      quarantineReason: '15 attempts failed',
    });
    expect(instance.auditKinds(application.id)).toContain('webhook.quarantined');

    // Later events are held without another mail.
    await emit(scene, 'usr_2');
    instance.clock.advance(30 * DAY - HOUR);
    await runOnce();
    expect(receiver.received).toHaveLength(15);
    expect(quarantineMails(scene)).toEqual(['owner@example.com', 'second@example.com']);
  });

  test('causes one quarantine mail, even among several', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(() => ({ status: 500 }));
    for (let index = 0; index < 15; index += 1) await emit(scene, `usr_${index}`);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      await instance.services.deliveries.runOnce();
      instance.clock.advance(15 * SECOND * 2 ** attempt * 1.1);
    }
    expect((await api.get(id)).json.data.status).toBe('quarantined');
    expect(quarantineMails(scene)).toEqual(['owner@example.com']);
    const { items } = (await api.deliveries(id)).json.data;
    const statuses = new Set(items.map(({ status }: { status: string }) => status));
    expect(statuses.isSubsetOf(new Set(['failed', 'held']))).toBe(true);
    // Every event is accounted for: failed after 15 attempts, or held until the release.
    for (const { status, attempts } of items) if (status === 'failed') expect(attempts).toBe(15);
  });
});

describe('Retry-After', () => {
  test.each([
    ['in seconds', () => '20', 20 * SECOND],
    ['below the regular wait', () => '1', 15 * SECOND],
    ['of an hour', () => '3600', HOUR],
    ['beyond six hours', () => '86400', 6 * HOUR],
    ['as a date', (now: number) => new Date(now + 25 * SECOND).toUTCString(), 25 * SECOND],
    ['as a date gone by', (now: number) => new Date(now - HOUR).toUTCString(), 15 * SECOND],
  ])('%s is honoured within its bounds', async (_, header, expected) => {
    const scene = await setUp();
    const { instance } = scene;
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(() => ({ status: 429, headers: { 'Retry-After': header(instance.clock.now()) } }));
    await emit(scene);
    await instance.services.deliveries.runOnce();
    const { nextAttemptAt } = await newestDelivery(scene, id);
    expect(Date.parse(nextAttemptAt) - instance.clock.now()).toBe(expected);
  });
});

describe('an endpoint that answers 410', () => {
  test('is quarantined at once, and its owners are notified once', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const subscription = await subscribe(scene);
    subscription.receiver.answerWith(() => ({ status: 410 }));
    for (let index = 0; index < 5; index += 1) await emit(scene, `usr_${index}`);
    await instance.services.deliveries.runOnce();
    expect((await api.get(subscription.id)).json.data).toMatchObject({
      status: 'quarantined',
      quarantineReason: 'the endpoint answered 410 Gone',
    });
    expect(quarantineMails(scene)).toEqual(['owner@example.com']);
    const delivery = (await api.deliveries(subscription.id, '?status=failed')).json.data.items.at(-1);
    const { attemptLog } = (await api.delivery(subscription.id, delivery.id)).json.data;
    expect(attemptLog).toMatchObject([{ number: 1, statusCode: 410, errorClass: 'gone' }]);
  });

  test('does not delay events of another endpoint', async () => {
    const scene = await setUp();
    const gone = await subscribe(scene);
    const healthy = await subscribe(scene);
    await quarantine(scene, gone);
    await emit(scene, 'usr_2');
    await scene.instance.services.deliveries.runOnce();
    expect(healthy.receiver.received.map(({ event }) => event.data.userId)).toEqual(['usr_quarantine', 'usr_2']);
    expect(gone.receiver.received).toHaveLength(1);
  });
});

describe('the release from quarantine', () => {
  test('sends held events one at a time and in order, before new ones', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    const held = Array.from({ length: 25 }, (_, index) => `usr_held_${index}`);
    for (const [index, userId] of held.entries()) {
      await emit(scene, userId);
      // Some events share a millisecond, some do not.
      if (index % 3 === 0) instance.clock.advance(1);
    }
    await instance.services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(1);
    expect((await api.deliveries(id, '?status=held&limit=100')).json.data.items).toHaveLength(25);

    let atOnce = 0;
    let most = 0;
    receiver.answerWith(async ({ event }) => {
      if (!event.data.userId.startsWith('usr_held')) return { status: 200 };
      most = Math.max(most, (atOnce += 1));
      // Earlier events take longer: sent concurrently, they would be accepted in the wrong order.
      await Bun.sleep(event.data.userId.length === 10 ? 10 : 1);
      atOnce -= 1;
      return { status: 200 };
    });
    const released = await api.release(id);
    expect(released.json.data).toMatchObject({
      status: 'active',
      quarantinedAt: null,
      quarantineReason: null,
      released: 25,
    });
    instance.clock.advance(1);
    await emit(scene, 'usr_new');
    await instance.services.deliveries.runOnce();
    const arrived = receiver.received.slice(1).map(({ event }) => event.data.userId as string);
    expect(arrived.filter((userId) => userId !== 'usr_new')).toEqual(held);
    // Once the last held event is in progress, a new one need not wait for its answer.
    expect(arrived.indexOf('usr_new')).toBeGreaterThanOrEqual(24);
    expect(most).toBe(1);
    expect((await api.deliveries(id, '?status=held')).json.data.items).toEqual([]);
  });

  test('continues in order after a restart', async () => {
    const scene = await setUp();
    const { instance, application } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    const held = ['usr_0', 'usr_1', 'usr_2'];
    for (const userId of held) await emit(scene, userId);
    await instance.services.deliveries.stop();
    const second = await instance.restart();
    await second.services.deliveries.runOnce();
    expect(receiver.received).toHaveLength(1);

    const gate = Promise.withResolvers<void>();
    receiver.answerWith(async () => {
      await gate.promise;
      return { status: 200 };
    });
    await apiOf(second, application.id).release(id);
    await eventually('the first is under way', () => receiver.received.length === 2);
    receiver.answerWith(() => ({ status: 200 }));
    await (await second.restart()).services.deliveries.runOnce();
    expect(receiver.received.slice(1).map(({ event }) => event.data.userId)).toEqual(['usr_0', ...held]);
    gate.resolve();
    await second.services.deliveries.stop();
  });

  test('stays possible if the endpoint is disabled and enabled before it', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    await emit(scene, 'usr_held');
    await api.patch(id, { status: 'disabled' });
    await api.patch(id, { status: 'active' });
    // Whether the quarantine returns or ends, the held events must remain reachable.
    const { status, quarantinedAt } = (await api.get(id)).json.data;
    expect(status === 'quarantined').toBe(quarantinedAt !== null);
    if (status === 'quarantined') expect((await api.release(id)).status).toBe(200);
    await instance.services.deliveries.runOnce();
    expect(receiver.received.map(({ event }) => event.data.userId)).toEqual(['usr_quarantine', 'usr_held']);
  });

  test('notifies the owners again if it ends in a second quarantine', async () => {
    const scene = await setUp();
    const { api } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    await api.release(id);
    await quarantine(scene, { receiver });
    expect((await api.get(id)).json.data.status).toBe('quarantined');
    expect(quarantineMails(scene)).toEqual(['owner@example.com', 'owner@example.com']);
  });
});

describe('a redelivery', () => {
  test('is a separate delivery with the same Svc-Event-Id and body', async () => {
    const scene = await setUp();
    const { instance, application, api } = scene;
    const { id, receiver } = await subscribe(scene);
    await emit(scene);
    await instance.services.deliveries.runOnce();
    const first = await newestDelivery(scene, id);
    instance.clock.advance(DAY);
    const again = (await api.redeliver(id, first.id)).json.data;
    expect(again).toMatchObject({ eventId: first.eventId, eventType: 'user.banned', status: 'pending', attempts: 0 });
    expect(again.id).not.toBe(first.id);
    await instance.services.deliveries.runOnce();
    const [one, two] = receiver.received;
    expect(two).toMatchObject({ eventId: one!.eventId, body: one!.body });
    expect((await api.delivery(id, first.id)).json.data).toEqual(first);
    expect((await api.delivery(id, again.id)).json.data).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(instance.auditKinds(application.id)).toContain('webhook.redelivered');
  });

  test('is possible after the release for an event that finally failed', async () => {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver } = await subscribe(scene);
    await quarantine(scene, { receiver });
    const failed = await newestDelivery(scene, id);
    // In quarantine it is held with the others.
    expect((await api.redeliver(id, failed.id)).json.data.status).toBe('held');
    await api.release(id);
    await instance.services.deliveries.runOnce();
    expect(receiver.received.map(({ eventId }) => eventId)).toEqual([failed.eventId, failed.eventId]);
  });
});

describe('an attempt', () => {
  test('is recorded with the whole request and the first KiB of the answer', async () => {
    const scene = await setUp();
    const { instance } = scene;
    const { id, receiver } = await subscribe(scene);
    const answer = `${'é'.repeat(400)}${'x'.repeat(3000)}`;
    receiver.answerWith(async () => {
      await Bun.sleep(60);
      return receiver.received.length === 1 ? { status: 500, body: answer } : { status: 202, body: 'thanks' };
    });
    await emit(scene);
    await instance.services.deliveries.runOnce();
    instance.clock.advance(MINUTE);
    await instance.services.deliveries.runOnce();
    const delivery = await newestDelivery(scene, id);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 2, requestBody: receiver.received[0]!.body });
    expect(delivery.attemptLog).toEqual([
      {
        number: 1,
        startedAt: new Date(START).toISOString(),
        durationMs: expect.any(Number),
        statusCode: 500,
        errorClass: 'status',
        requestHeaders: expect.any(Object),
        responseExcerpt: `${'é'.repeat(400)}${'x'.repeat(224)}`,
      },
      {
        number: 2,
        startedAt: new Date(START + MINUTE).toISOString(),
        durationMs: expect.any(Number),
        statusCode: 202,
        errorClass: null,
        requestHeaders: expect.any(Object),
        responseExcerpt: 'thanks',
      },
    ]);
    for (const [index, { requestHeaders, durationMs }] of delivery.attemptLog.entries()) {
      expect(durationMs).toBeWithin(50, 2000);
      const { headers } = receiver.received[index]!;
      for (const [name, value] of Object.entries(requestHeaders))
        expect(headers[name.toLowerCase()]?.replace(/(?<=v1=).+/, 'withheld')).toBe(value as string);
      expect(Object.keys(requestHeaders)).toContain('Svc-Signature');
      expect(Object.keys(requestHeaders)).toContain('Svc-Event-Id');
    }
  });

  test('is recorded even if the answer is binary, without NUL, which not every engine stores', async () => {
    const scene = await setUp();
    const { id, receiver } = await subscribe(scene);
    receiver.answerWith(() => ({ status: 500, body: '\0\uFFFF\x1b[31m' }));
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const { attemptLog } = await newestDelivery(scene, id);
    expect(attemptLog[0].responseExcerpt).toBe('\uFFFD\uFFFF\x1b[31m');
  });
});
