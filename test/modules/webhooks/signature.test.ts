/**
 * In every webhook test the receiver verifies each delivery with the `stripe` package; here are the special cases.
 */
import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
import { signatureHeader } from '@/modules/webhooks/signature.ts';
import { START } from '../../support/instance.ts';
import { signatureProblem } from '../../support/receiver.ts';
import { emit, setUp, subscribe } from './scene.ts';

/** Returns one received delivery and its signing secret. */
async function deliverOne() {
  const scene = await setUp();
  const subscription = await subscribe(scene);
  await emit(scene, 'usr_ünïcödé "\\\u2028 💥');
  await scene.instance.services.deliveries.runOnce();
  const [delivery] = subscription.receiver.received;
  return { ...subscription, scene, delivery: delivery! };
}

describe('a delivery', () => {
  test('is the event as JSON under its id, signed over time and body', async () => {
    const { delivery, signingSecret, scene } = await deliverOne();
    const { body, signature, headers } = delivery;
    expect(JSON.parse(body)).toEqual({
      id: delivery.eventId,
      type: 'user.banned',
      createdAt: new Date(START).toISOString(),
      applicationId: scene.application.id,
      data: { userId: 'usr_ünïcödé "\\\u2028 💥' },
    });
    expect(delivery.eventId).toMatch(/^evt_[0-9a-z]{26}$/);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Gatehouse' });
    const hex = new Bun.CryptoHasher('sha256', signingSecret).update(`${START / 1000}.${body}`).digest('hex');
    expect(signature).toBe(`t=${START / 1000},v1=${hex}`);
  });

  test('is refused by the verifier if it was changed', async () => {
    const { delivery, signingSecret, scene } = await deliverOne();
    const { body, signature } = delivery;
    const now = scene.instance.clock.now();
    expect(await signatureProblem(body, signature, signingSecret, now)).toBeNull();
    const [time, v1] = signature.split(',') as [string, string];
    const forgeries: [string, string, string][] = [
      [body.replace('user.banned', 'user.unbanned'), signature, signingSecret],
      [`${body} `, signature, signingSecret],
      [body, `t=${START / 1000 + 1},${v1}`, signingSecret],
      [body, `${time},v1=${'0'.repeat(64)}`, signingSecret],
      [body, `${time},${v1.replace('v1', 'v0')}`, signingSecret],
      [body, signature, `${signingSecret}x`],
      [body, signature, signingSecret.slice('whsec_'.length)],
    ];
    for (const forgery of forgeries) expect(await signatureProblem(...forgery, now)).toMatch(/^No signatures found/);
  });

  test('is refused by the verifier if it is older than five minutes', async () => {
    const { delivery, signingSecret } = await deliverOne();
    const { body, signature } = delivery;
    expect(await signatureProblem(body, signature, signingSecret, START + 5 * MINUTE)).toBeNull();
    expect(await signatureProblem(body, signature, signingSecret, START + 5 * MINUTE + SECOND)).toBe(
      'Timestamp outside the tolerance zone',
    );
  });

  test('is signed again with the current time at every attempt, with an unchanged body', async () => {
    let now = START;
    const scene = await setUp({ time: { now: () => now } });
    const { instance } = scene;
    const { receiver } = await subscribe(scene);
    receiver.answerWith(() => ({ status: receiver.received.length < 3 ? 500 : 200 }));
    await emit(scene);
    await instance.services.deliveries.runOnce();
    // An hour later the receiver's verifier would refuse the first signature.
    for (let retry = 0; retry < 2; retry += 1) {
      now += 60 * MINUTE;
      await instance.services.deliveries.runOnce();
    }
    const { received } = receiver;
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ eventId }) => eventId)).size).toBe(1);
    expect(received.map(({ signature }) => /^t=(\d+),/.exec(signature)![1])).toEqual(
      [0, 60, 120].map((minutes) => String((START + minutes * MINUTE) / 1000)),
    );
  });
});

describe('after a rotation of the secret', () => {
  /** Rotates the secret and delivers one event after a delay. */
  async function deliverAfter(ms: number) {
    const scene = await setUp();
    const { instance, api } = scene;
    const { id, receiver, signingSecret: old } = await subscribe(scene);
    const rotated = await api.rotateSecret(id);
    const current: string = rotated.json.data.signingSecret;
    instance.clock.advance(ms);
    receiver.trust(current);
    await emit(scene);
    await instance.services.deliveries.runOnce();
    const [{ body, signature }] = receiver.received as [(typeof receiver.received)[number]];
    const problemWith = (secret: string) => signatureProblem(body, signature, secret, instance.clock.real());
    return { scene, id, receiver, rotated: rotated.json.data, old, current, signature, problemWith };
  }

  test.each([0, DAY - 1])('a delivery verifies with both secrets for 24 hours: after %d ms', async (ms) => {
    const { rotated, old, current, signature, problemWith, scene, id } = await deliverAfter(ms);
    expect(current).not.toBe(old);
    expect(rotated.previousSecretEndsAt).toBe(new Date(START + DAY).toISOString());
    expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect([await problemWith(old), await problemWith(current)]).toEqual([null, null]);
    expect((await scene.api.get(id)).json.data.previousSecretEndsAt).toBe(rotated.previousSecretEndsAt);
  });

  test('the old secret stops verifying after 24 hours', async () => {
    const { old, current, signature, problemWith, scene, id } = await deliverAfter(DAY);
    expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(await problemWith(current)).toBeNull();
    expect(await problemWith(old)).toMatch(/^No signatures found/);
    expect((await scene.api.get(id)).json.data.previousSecretEndsAt).toBeNull();
  });

  test('a second rotation invalidates the first secret', async () => {
    const { scene, id, receiver, old, current } = await deliverAfter(0);
    receiver.trust((await scene.api.rotateSecret(id)).json.data.signingSecret);
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const { body, signature } = receiver.received.at(-1)!;
    const now = scene.instance.clock.now();
    expect(await signatureProblem(body, signature, current, now)).toBeNull();
    expect(await signatureProblem(body, signature, old, now)).toMatch(/^No signatures found/);
  });

  test('a delivery queued before is signed with both, even after a restart', async () => {
    const scene = await setUp();
    const { id, receiver, signingSecret: old } = await subscribe(scene);
    receiver.answerWith(() => ({ status: receiver.received.length < 2 ? 500 : 200 }));
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const { signingSecret: current } = (await scene.api.rotateSecret(id)).json.data;
    const restarted = await scene.instance.restart();
    restarted.clock.advance(MINUTE);
    receiver.trust(current);
    await restarted.services.deliveries.runOnce();
    const { body, signature } = receiver.received.at(-1)!;
    expect(receiver.received).toHaveLength(2);
    for (const secret of [old, current])
      expect(await signatureProblem(body, signature, secret, restarted.clock.now())).toBeNull();
  });
});

test('the header follows the contract: t, then one v1 for each secret', () => {
  const expected = (secret: string) => new Bun.CryptoHasher('sha256', secret).update('1700000000.{}').digest('hex');
  expect(signatureHeader(['whsec_a', 'whsec_b'], 1_700_000_000, '{}')).toBe(
    `t=1700000000,v1=${expected('whsec_a')},v1=${expected('whsec_b')}`,
  );
});
