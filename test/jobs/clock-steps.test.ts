/** A clock that is set back by a day: nobody stays locked out, and nothing that ended becomes valid again. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, HOUR, isoTime, MINUTE } from '@/core/clock.ts';
import { MailError } from '@/mail/transport.ts';
import { PLANNED_READ } from '@/store/deliveries.ts';
import { insertCodeFailure } from '@/store/code-failures.ts';
import { createInstance, type Instance, type InstanceOptions, START } from '../support/instance.ts';
import { emit, setUp, subscribe } from '../modules/webhooks/scene.ts';

async function open(options: InstanceOptions = {}): Promise<{ instance: Instance; setBack(ms: number): void }> {
  let now = START;
  const instance = await createInstance({ ...options, time: { now: () => now } });
  return { instance, setBack: (ms) => void (now -= ms) };
}

const sendCode = (instance: Instance, clientId: string, email = 'ada@example.com') =>
  instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });

const verify = (instance: Instance, token: string) =>
  instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });

describe('after the clock was set back a day', () => {
  test('a key that had used up its rate limits works again, even after a restart', async () => {
    const { instance, setBack } = await open();
    const application = await instance.createApplication();
    const limits = { rateLimits: { perMinute: 2, perDay: 3 } };
    const { token } = await instance.createKey(application.id, limits);
    const list = (at: Instance = instance) => at.call('GET', `/api/applications/${application.id}`, { token });
    for (const status of [200, 200, 429]) expect((await list()).status).toBe(status);
    setBack(DAY);
    expect((await list()).status).toBe(200);
    await instance.services.flushAll();
    setBack(DAY);
    expect((await list(await instance.restart())).status).toBe(200);
  });

  test('a code can be requested, regardless of earlier codes and failures', async () => {
    const { instance, setBack } = await open();
    const application = await instance.createApplication();
    const { clientId } = application;
    expect((await sendCode(instance, clientId)).status).toBe(200);
    expect((await sendCode(instance, clientId)).json.data.sent).toBe(false);
    const other = { applicationId: application.id, email: 'ada@example.com', purpose: 'sign_in' as const };
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      for (let wrong = 0; wrong < 60; wrong += 1)
        await insertCodeFailure(unit, { ...other, addressBlock: '203.0.113.7', browser: null });
    });
    instance.clock.advance(2 * MINUTE);
    expect((await sendCode(instance, clientId)).status).toBe(429);
    setBack(DAY);
    expect((await sendCode(instance, clientId)).json?.data?.sent).toBe(true);
  });

  test('a session that was found or reported as expired stays expired, even after a restart', async () => {
    const { instance, setBack } = await open();
    const { clientId } = await instance.createApplication();
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    const { token: unseen } = await instance.signIn(clientId, 'grace@example.com');
    instance.clock.advance(50 * DAY);
    expect((await verify(instance, token)).json).toMatchObject({ success: false, errorMessage: 'expired' });
    setBack(50 * DAY);
    expect((await verify(instance, token)).json).toMatchObject({ success: false, errorMessage: 'expired' });
    expect((await verify(instance, unseen)).json).toMatchObject({ success: true });
    instance.clock.advance(50 * DAY);
    await instance.services.scheduler.runAll();
    setBack(50 * DAY);
    const restarted = await instance.restart();
    for (const each of [token, unseen])
      expect((await verify(restarted, each)).json).toMatchObject({ success: false, errorMessage: 'expired' });
  });

  test('a key that was found expired stays expired until its expiry is changed', async () => {
    const { instance, setBack } = await open();
    const application = await instance.createApplication();
    const { token, id } = await instance.createKey(application.id, { expiresAt: isoTime(START + HOUR) });
    const call = () => instance.call('GET', `/api/applications/${application.id}`, { token });
    instance.clock.advance(2 * HOUR);
    expect((await call()).status).toBe(401);
    setBack(DAY);
    expect((await call()).status).toBe(401);
    await instance.call('PATCH', `/api/applications/${application.id}/api-keys/${id}`, {
      token: instance.workspaceKey,
      body: { expiresAt: isoTime(START + 2 * HOUR) },
    });
    expect((await call()).status).toBe(200);
  });

  test('an ended key stays ended after a restart and says why, until its expiry is changed', async () => {
    const { instance, setBack } = await open();
    const application = await instance.createApplication();
    const keys = `/api/applications/${application.id}/api-keys`;
    const manage = (method: string, path: string, body?: object) =>
      instance.call(method, keys + path, { token: instance.workspaceKey, body });
    const expired = await instance.createKey(application.id, { expiresAt: isoTime(START + HOUR) });
    const rotated = await instance.createKey(application.id);
    const lasting = await instance.createKey(application.id, { expiresAt: isoTime(START + 300 * DAY) });
    await manage('POST', `/${rotated.id}/rotate-with-grace`);
    instance.clock.advance(2 * DAY);
    const restarted = await instance.restart();
    setBack(2 * DAY);
    const use = async ({ token }: { token: string }) => {
      const { status, json } = await restarted.call('GET', `/api/applications/${application.id}`, { token });
      return [status, json.message];
    };
    expect(await use(expired)).toEqual([401, expect.stringContaining(`expired at ${isoTime(START + HOUR)}`)]);
    expect(await use(rotated)).toEqual([
      401,
      expect.stringContaining(`its grace period ended at ${isoTime(START + DAY)}`),
    ]);
    expect(await use(lasting)).toEqual([200, undefined]);
    expect((await verify(restarted, expired.token)).json).toMatchObject({ success: false, errorMessage: 'expired' });
    const again = await manage('POST', `/${expired.id}/rotate`);
    expect([again.status, again.json.error]).toEqual([409, 'invalid_state']);
    await manage('PATCH', `/${expired.id}`, { expiresAt: isoTime(START + 2 * HOUR) });
    expect(await use(expired)).toEqual([200, undefined]);
  });

  test('an expired code stays expired, and a code sent before the step is valid for its ten minutes', async () => {
    const { instance, setBack } = await open();
    const { clientId } = await instance.createApplication();
    const give = (sent: { json: { data: { challengeId: string } } }, code: string) =>
      instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId: sent.json.data.challengeId, code } });
    const early = await sendCode(instance, clientId);
    const earlyCode = instance.codeFor('ada@example.com');
    const seen = await sendCode(instance, clientId, 'seen@example.com');
    const seenCode = instance.codeFor('seen@example.com');
    instance.clock.advance(DAY);
    await instance.services.scheduler.runAll();
    expect((await give(seen, seenCode)).json.error).toBe('code_expired');
    const late = await sendCode(instance, clientId, 'grace@example.com');
    const lateCode = instance.codeFor('grace@example.com');
    const restarted = await sendCode(instance, clientId, 'hopper@example.com');
    const restartedCode = instance.codeFor('hopper@example.com');
    setBack(DAY);
    await instance.services.scheduler.runAll();
    expect((await give(early, earlyCode)).json.error).toBe('code_expired');
    expect((await give(seen, seenCode)).json.error).toBe('code_expired');
    expect((await give(late, lateCode)).status).toBe(200);
    instance.clock.advance(11 * MINUTE);
    expect((await give(restarted, restartedCode)).json.error).toBe('code_expired');
  });

  test('a code does not survive a restart during which the clock went back by more than ten minutes', async () => {
    const { instance, setBack } = await open();
    const { clientId } = await instance.createApplication();
    const sent = await sendCode(instance, clientId);
    const code = instance.codeFor('ada@example.com');
    setBack(DAY);
    const restarted = await instance.restart();
    instance.clock.advance(11 * MINUTE);
    const body = { challengeId: sent.json.data.challengeId, code };
    expect((await restarted.call('POST', '/api/v1/auth/otp/verify', { body })).json.error).toBe('code_expired');
  });

  test('deliveries created before the new time keep their retry times; all others become due, even beyond one batch', async () => {
    let now = START;
    const scene = await setUp({ time: { now: () => now } });
    const { instance } = scene;
    const { id: webhookId } = await subscribe(scene);
    await emit(scene);
    const [{ eventId, createdAt }] = instance.sqlite
      .query('SELECT event_id AS eventId, created_at AS createdAt FROM deliveries')
      .all() as [{ eventId: string; createdAt: number }];
    const insert = instance.sqlite.prepare(
      `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
       VALUES (?1, ?2, ?3, 'user.banned', 'pending', 0, ?4, ?5)`,
    );
    const count = 2 * PLANNED_READ;
    instance.sqlite.transaction(() => {
      for (let n = 0; n < count; n += 1) {
        const madeAt = createdAt - (n % 2) * 2 * DAY;
        insert.run(`dlv_${n}`, webhookId, eventId, createdAt + HOUR + n, madeAt);
      }
    })();
    await instance.services.scheduler.runAll();
    now -= DAY;
    await instance.services.scheduler.runAll();
    const waiting = instance.sqlite
      .query(
        "SELECT count(*) AS n, max(created_at) AS newest FROM deliveries WHERE status = 'pending' AND next_attempt_at > ?",
      )
      .get(now) as { n: number; newest: number };
    expect(waiting).toEqual({ n: count / 2, newest: createdAt - 2 * DAY });
    await instance.services.deliveries.stop();
  });

  test('a delivery that waits for a retry is due at once, even if the server was stopped during the step', async () => {
    for (const isStopped of [false, true]) {
      let now = START;
      const scene = await setUp({ time: { now: () => now } });
      const { instance } = scene;
      const { receiver } = await subscribe(scene);
      receiver.answerWith(() => ({ status: 500 }));
      await emit(scene);
      await instance.services.deliveries.runOnce();
      expect(receiver.received).toHaveLength(1);
      await instance.services.scheduler.runAll();
      now -= DAY;
      const after = isStopped ? await instance.restart() : instance;
      if (!isStopped) await after.services.scheduler.runAll();
      await after.services.deliveries.runOnce();
      expect(receiver.received).toHaveLength(2);
      await instance.services.deliveries.stop();
    }
  });

  test('a mail that waits for a retry is due at once', async () => {
    let tries = 0;
    const mail = {
      slots: 5,
      send(): Promise<never> {
        tries += 1;
        return Promise.reject(new MailError('busy', false));
      },
      close() {},
    };
    const { instance, setBack } = await open({ mail });
    const { clientId } = await instance.createApplication();
    await sendCode(instance, clientId);
    await instance.services.mail.runOnce();
    expect(tries).toBe(1);
    await instance.services.scheduler.runAll();
    setBack(DAY);
    await instance.services.scheduler.runAll();
    await instance.services.mail.runOnce();
    expect(tries).toBe(2);
    expect(instance.logLines.join('')).toContain('the clock went back');
  });
});
