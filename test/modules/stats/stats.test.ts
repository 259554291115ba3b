import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, HOUR } from '@/core/clock.ts';
import { recordAudit } from '@/store/audit.ts';
import * as given from '../../support/given.ts';
import type { Instance } from '../../support/instance.ts';
import { register, signInWith } from '../passkeys/passkeys.ts';
import { createScene } from '../provider/scene.ts';
import { people, managing } from '../users/management.ts';
import * as webhooks from '../webhooks/scene.ts';
import { rows, setUp, statsOf } from './scene.ts';

const NOTHING = { count: 0, previous: 0 };

describe('statistics', () => {
  test('statistics of an unused application are zeros, one per day', async () => {
    const { stats } = await setUp();
    const { days, ...others } = await stats();
    expect(others).toEqual({
      from: '2026-02-01',
      to: '2026-03-02',
      totals: { signIns: NOTHING, newUsers: NOTHING, refusals: NOTHING },
      activeUsers: { day: NOTHING, week: NOTHING, month: NOTHING },
      activeSessions: { day: NOTHING, week: NOTHING, month: NOTHING, since: null },
      users: { total: 0 },
      signInsByMethod: [],
      refusalsByReason: [],
      webhooks: { delivered: 0, failedAttempts: 0, endpoints: [] },
      limits: [],
    });
    expect(days).toHaveLength(30);
    for (const day of days)
      expect(day).toEqual({ date: day.date, signIns: 0, newUsers: 0, activeUsers: 0, refusals: 0 });
    expect([days[0].date, days[27].date, days[28].date, days[29].date]).toEqual([
      '2026-02-01',
      '2026-02-28',
      '2026-03-01',
      '2026-03-02',
    ]);
  });

  test('are assigned to their day, next to the totals of the previous period', async () => {
    const { instance, application } = await setUp();
    const signIn = (name: string) => instance.signIn(application.clientId, `${name}@example.com`);
    await signIn('ada');
    await signIn('bob');
    instance.clock.advance(DAY);
    await signIn('ada');
    await signIn('ada');
    instance.clock.advance(DAY);
    await signIn('cleo');
    const { from, to, days, totals } = await statsOf(instance, application.id, { query: '?days=2' });
    expect([from, to]).toEqual(['2026-03-03', '2026-03-04']);
    expect(days).toEqual([
      { date: '2026-03-03', signIns: 2, newUsers: 0, activeUsers: 1, refusals: 0 },
      { date: '2026-03-04', signIns: 1, newUsers: 1, activeUsers: 1, refusals: 0 },
    ]);
    expect(totals).toEqual({
      signIns: { count: 3, previous: 2 },
      newUsers: { count: 1, previous: 2 },
      refusals: NOTHING,
    });
  });

  test.each(['0', '366', 'x', '1.5', ''])('statistics for %p days are refused with the field', async (days) => {
    const { instance, application } = await setUp();
    const { status, json } = await instance.call('GET', `/api/applications/${application.id}/stats?days=${days}`, {
      token: instance.workspaceKey,
    });
    expect([status, json.error, json.fields?.[0]?.path]).toEqual([400, 'invalid_request', 'days']);
  });

  test('statistics for a whole year include the year before', async () => {
    const { instance, application } = await setUp();
    await instance.signIn(application.clientId, 'ada@example.com');
    instance.clock.advance(365 * DAY);
    const { days, totals } = await statsOf(instance, application.id, { query: '?days=365' });
    expect([days.length, totals.signIns]).toEqual([365, { count: 0, previous: 1 }]);
  });

  test('cover one application and are not found from another workspace', async () => {
    const { instance, application } = await setUp();
    const sibling = await instance.createApplication({ name: 'Sibling' });
    const tenant = await given.tenant(instance);
    for (const { clientId } of [sibling, tenant.application]) await instance.signIn(clientId, 'ada@example.com');
    expect((await statsOf(instance, application.id)).totals.signIns).toEqual(NOTHING);
    const foreign = { query: '', token: tenant.workspaceKey };
    expect((await statsOf(instance, tenant.application.id, foreign)).totals.signIns).toEqual({ count: 1, previous: 0 });
    const { status } = await instance.call('GET', `/api/applications/${application.id}/stats`, {
      token: tenant.workspaceKey,
    });
    expect(status).toBe(404);
  });

  test('survive a restart without double counting', async () => {
    const { instance, application } = await setUp();
    await instance.signIn(application.clientId, 'ada@example.com');
    const again = await instance.restart();
    await again.signIn(application.clientId, 'ada@example.com');
    await again.services.flushCounters();
    expect((await statsOf(again, application.id)).totals.signIns).toEqual({ count: 2, previous: 0 });
  });

  test('are written by the job too', async () => {
    const { instance, application } = await setUp();
    await instance.signIn(application.clientId, 'ada@example.com');
    expect(rows(instance, application.id)).toEqual({});
    await instance.services.scheduler.runAll();
    expect(rows(instance, application.id)).toMatchObject({ 'sign_in otp': 1, active_day: 1, new_user: 1 });
  });
});

describe('sign-ins', () => {
  test('are counted by method', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    const { passkey } = await register(instance, token);
    for (const counter of [1, 2])
      expect((await signInWith(instance, application.clientId, passkey, { counter })).status).toBe(200);
    expect((await scene.signIn()).status).toBe(302);
    const { signInsByMethod, totals, days } = await statsOf(instance, application.id);
    expect(signInsByMethod).toEqual([
      { method: 'passkey', count: 2 },
      { method: 'otp', count: 1 },
      { method: 'provider', count: 1 },
    ]);
    expect([totals.signIns.count, days.at(-1).signIns]).toEqual([4, 4]);
  });

  test('refused sign-ins are counted by reason', async () => {
    const { instance, application, stats } = await setUp();
    const { clientId, id } = application;
    const { userId } = await instance.signIn(clientId, 'ada@example.com');
    await given.member(instance, id, userId, { status: 'banned' });
    await instance.trySignIn(clientId, 'ada@example.com');
    await given.application(instance, id, { signinGate: 'closed' });
    for (const name of ['bob', 'cleo']) await instance.trySignIn(clientId, `${name}@example.com`);
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: 'dora@example.com', clientId },
    });
    const code = instance.codeFor('dora@example.com') === '000000' ? '111111' : '000000';
    for (let tries = 0; tries < 3; tries += 1)
      await instance.call('POST', '/api/v1/auth/otp/verify', {
        body: { challengeId: sent.json.data.challengeId, code },
      });
    const { refusalsByReason, totals } = await stats();
    expect(refusalsByReason).toEqual([
      { reason: 'code_invalid', count: 3 },
      { reason: 'gate_closed', count: 2 },
      { reason: 'membership_blocked', count: 1 },
    ]);
    expect(totals.refusals).toEqual({ count: 6, previous: 0 });
  });

  test('count unknown reasons as other, so that no outside text becomes a counter', async () => {
    const { instance, application, stats } = await setUp();
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      for (const reason of ['<script>', 'toString', null])
        await recordAudit(unit, {
          kind: 'signin.refused',
          ok: false,
          applicationId: application.id,
          detail: { reason },
        });
    });
    expect((await stats()).refusalsByReason).toEqual([{ reason: 'other', count: 3 }]);
  });

  test('sign-ins of a rolled-back change are not counted', async () => {
    const { instance, application, stats } = await setUp();
    const attempt = instance.db.write(SYSTEM_ACTOR, async (unit) => {
      await recordAudit(unit, { kind: 'signin.succeeded', applicationId: application.id, detail: { method: 'otp' } });
      throw new Error('rolled back');
    });
    expect(attempt).rejects.toThrow('rolled back');
    await attempt.catch(() => {});
    expect((await stats()).totals.signIns).toEqual(NOTHING);
  });
});

/** The active users of today and of the last 7 and 30 days, each with the period before. */
async function active(instance: Instance, id: string): Promise<Record<string, [number, number]>> {
  const { activeUsers } = await statsOf(instance, id);
  const both = ({ count, previous }: { count: number; previous: number }): [number, number] => [count, previous];
  return { day: both(activeUsers.day), week: both(activeUsers.week), month: both(activeUsers.month) };
}

describe('active users', () => {
  test('are counted once in rolling periods of 1, 7 and 30 days, however often they come', async () => {
    const { instance, application } = await setUp();
    const { clientId, id } = application;
    const come = (name: string) => instance.signIn(clientId, `${name}@example.com`);
    await come('ada');
    await come('bob');
    await come('bob');
    expect(await active(instance, id)).toEqual({ day: [2, 0], week: [2, 0], month: [2, 0] });
    instance.clock.advance(DAY);
    await come('ada');
    expect(await active(instance, id)).toEqual({ day: [1, 2], week: [2, 0], month: [2, 0] });
    instance.clock.advance(5 * DAY);
    await come('ada');
    expect(await active(instance, id)).toEqual({ day: [1, 0], week: [2, 0], month: [2, 0] });
    // The first day leaves the week.
    instance.clock.advance(DAY);
    expect(await active(instance, id)).toEqual({ day: [0, 1], week: [1, 2], month: [2, 0] });
    await come('cleo');
    instance.clock.advance(23 * DAY);
    await come('bob');
    // Day 30: ada, cleo and bob came in the 30 days since; ada and bob in the 30 before.
    expect(await active(instance, id)).toEqual({ day: [1, 0], week: [1, 0], month: [3, 2] });
    instance.clock.advance(5 * DAY);
    // Day 35: ada came last on day 6, cleo on day 7.
    expect(await active(instance, id)).toEqual({ day: [0, 0], week: [1, 0], month: [3, 2] });
    instance.clock.advance(2 * DAY);
    expect(await active(instance, id)).toEqual({ day: [0, 0], week: [0, 1], month: [1, 3] });
  });

  test('and sign-ins are compared with the period before up to the same hour', async () => {
    const { instance, application } = await setUp();
    const { clientId, id } = application;
    const come = (name: string) => instance.signIn(clientId, `${name}@example.com`);
    await come('ada');
    instance.clock.advance(6 * HOUR);
    await come('bob');
    await come('ada');
    instance.clock.advance(DAY - 6 * HOUR);
    expect((await active(instance, id)).day).toEqual([0, 1]);
    const days = { query: '?days=1' };
    expect((await statsOf(instance, id, days)).totals.signIns).toEqual({ count: 0, previous: 1 });
    instance.clock.advance(6 * HOUR);
    expect((await active(instance, id)).day).toEqual([0, 2]);
    expect((await statsOf(instance, id, days)).totals.signIns).toEqual({ count: 0, previous: 3 });
    instance.clock.advance(6 * DAY - 6 * HOUR);
    expect((await active(instance, id)).week).toEqual([0, 1]);
    expect((await statsOf(instance, id, { query: '?days=7' })).totals.newUsers).toEqual({ count: 0, previous: 1 });
  });

  test('a user before and after midnight, within a minute, is counted for both days', async () => {
    const { instance, application } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    instance.clock.advance(DAY + 12 * HOUR - 10_000);
    const use = () => instance.call('POST', '/api/v1/session', { token });
    // Nothing is written between the two.
    await use();
    instance.clock.advance(20_000);
    await use();
    const { days } = await statsOf(instance, application.id, { query: '?days=3' });
    expect(days.map((day: { activeUsers: number }) => day.activeUsers)).toEqual([1, 1, 1]);
  });

  test('are people: calls with a key count nobody', async () => {
    const { instance, application } = await setUp();
    const { token } = await instance.createKey(application.id);
    await instance.call('GET', `/api/applications/${application.id}/users`, { token });
    expect(await active(instance, application.id)).toEqual({ day: [0, 0], week: [0, 0], month: [0, 0] });
    expect((await statsOf(instance, application.id)).users).toEqual({ total: 0 });
  });

  test('are new on the day they first come, even if they were imported before', async () => {
    const { instance, application } = await setUp();
    const manage = managing(instance, application);
    const [userId] = await people(manage, 'ada@example.com', 'bob@example.com');
    expect(await statsOf(instance, application.id)).toMatchObject({
      totals: { newUsers: NOTHING },
      users: { total: 2 },
      activeUsers: { month: NOTHING },
    });
    await instance.signIn(application.clientId, 'ada@example.com');
    await instance.signIn(application.clientId, 'ada@example.com');
    expect((await statsOf(instance, application.id)).totals.newUsers).toEqual({ count: 1, previous: 0 });
    await manage('POST', `/users/${userId}/ban`, { body: { reason: 'spam' } });
    expect((await statsOf(instance, application.id)).users).toEqual({ total: 1 });
  });
});

describe('webhooks', () => {
  test('are counted by endpoint: deliveries, and failed attempts', async () => {
    const scene = await webhooks.setUp();
    const { instance, application, api } = scene;
    const good = await webhooks.subscribe(scene);
    const { receiver, id: bad } = await webhooks.subscribe(scene);
    receiver.answerWith(() => ({ status: 500 }));
    const idle = await webhooks.subscribe(scene, ['user.left']);
    await webhooks.emit(scene);
    await instance.services.deliveries.runOnce();
    instance.clock.advance(HOUR);
    await instance.services.deliveries.runOnce();
    const expected = {
      delivered: 1,
      failedAttempts: 2,
      endpoints: [
        { webhookId: good.id, delivered: 1, failedAttempts: 0 },
        { webhookId: bad, delivered: 0, failedAttempts: 2 },
        { webhookId: idle.id, delivered: 0, failedAttempts: 0 },
      ],
    };
    expect((await statsOf(instance, application.id)).webhooks).toEqual(expected);
    await api.remove(bad);
    expect((await statsOf(instance, application.id)).webhooks).toEqual({
      ...expected,
      endpoints: [expected.endpoints[0], expected.endpoints[2]],
    });
  });
});

describe('limits', () => {
  test('limits of keys, sessions and codes are counted when they refuse', async () => {
    const { instance, application, stats } = await setUp({
      environment: { GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '2', GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1' },
    });
    const { id, clientId } = application;
    const byMinute = await instance.createKey(id, { rateLimits: { perMinute: 1, perDay: 10 } });
    const byDay = await instance.createKey(id, { rateLimits: { perMinute: 10, perDay: 1 } });
    for (const { token } of [byMinute, byDay, byDay])
      for (let calls = 0; calls < 2; calls += 1)
        await instance.call('POST', '/api/v1/verify', { token, body: { token: 'nobody' } });
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    for (let calls = 0; calls < 3; calls += 1) await instance.call('POST', '/api/v1/session', { token });
    const again = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: 'ada@example.com', clientId },
    });
    expect(again.status).toBe(429);
    expect((await stats()).limits).toEqual([
      { limit: 'keyPerDay', count: 3 },
      { limit: 'codesPerEmail', count: 1 },
      { limit: 'keyPerMinute', count: 1 },
      { limit: 'sessionPerMinute', count: 1 },
    ]);
  });

  test('are not counted for accepted calls or for keys of the workspace', async () => {
    const { instance, application, stats } = await setUp();
    const { token } = await given.workspaceKey(instance, { rateLimits: { perMinute: 1, perDay: 10 } });
    for (let calls = 0; calls < 2; calls += 1)
      await instance.call('GET', `/api/applications/${application.id}/stats`, { token });
    expect((await stats()).limits).toEqual([]);
  });
});
