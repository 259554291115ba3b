/** Active sessions in an application's statistics. */
import { describe, expect, test } from 'bun:test';
import { DAY, HOUR, SECOND } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { ENGINE } from '../../support/engine.ts';
import type { Instance } from '../../support/instance.ts';
import { setUp, statsOf } from './scene.ts';

/** The active sessions of today and of the last 7 and 30 days, each with the period before. */
async function active(instance: Instance, id: string): Promise<Record<string, [number, number]>> {
  const { activeSessions } = await statsOf(instance, id);
  const both = ({ count, previous }: { count: number; previous: number }): [number, number] => [count, previous];
  return { day: both(activeSessions.day), week: both(activeSessions.week), month: both(activeSessions.month) };
}

const use = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });

/** Removes what was counted of sessions: before an upgrade nothing was. */
async function forgetCounts(instance: Instance): Promise<void> {
  await instance.services.flushCounters();
  instance.sqlite.run("DELETE FROM daily_counts WHERE metric = 'session_gap'");
  instance.sqlite.run("DELETE FROM hourly_counts WHERE metric LIKE 'session%'");
}

describe('active sessions', () => {
  test('are counted once in rolling periods of 1, 7 and 30 days, however often and on however many days they are used', async () => {
    const { instance, application } = await setUp();
    const { clientId, id } = application;
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    await instance.signIn(clientId, 'ada@example.com');
    const { token: third } = await instance.signIn(clientId, 'bob@example.com');
    expect(await active(instance, id)).toEqual({ day: [3, 0], week: [3, 0], month: [3, 0] });
    instance.clock.advance(DAY);
    for (let times = 0; times < 3; times += 1) {
      await use(instance, token);
      await instance.services.flushCounters();
      instance.clock.advance(HOUR);
    }
    instance.clock.advance(DAY - 3 * HOUR);
    expect(await active(instance, id)).toEqual({ day: [0, 1], week: [3, 0], month: [3, 0] });
    await use(instance, token);
    instance.clock.advance(5 * DAY);
    // The day of the sign-ins leaves the week.
    expect(await active(instance, id)).toEqual({ day: [0, 0], week: [1, 3], month: [3, 0] });
    await use(instance, third);
    expect(await active(instance, id)).toEqual({ day: [1, 0], week: [2, 3], month: [3, 0] });
    instance.clock.advance(23 * DAY);
    expect(await active(instance, id)).toEqual({ day: [0, 0], week: [0, 0], month: [2, 3] });
  });

  test('are compared with the period before up to the same hour', async () => {
    const { instance, application } = await setUp();
    await instance.signIn(application.clientId, 'ada@example.com');
    instance.clock.advance(6 * HOUR);
    await instance.signIn(application.clientId, 'bob@example.com');
    instance.clock.advance(DAY - 6 * HOUR);
    expect((await active(instance, application.id))['day']).toEqual([0, 1]);
    instance.clock.advance(6 * HOUR);
    expect((await active(instance, application.id))['day']).toEqual([0, 2]);
  });

  test('that have ended count where they were used, and their refused use does not count', async () => {
    const { instance, application } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    await instance.call('DELETE', '/api/v1/session', { token });
    expect((await active(instance, application.id))['day']).toEqual([1, 0]);
    instance.clock.advance(DAY);
    expect((await use(instance, token)).status).toBe(401);
    expect(await active(instance, application.id)).toEqual({ day: [0, 1], week: [1, 0], month: [1, 0] });
  });

  test('of another application do not count', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Market' });
    const { token } = await instance.signIn(other.clientId, 'ada@example.com');
    await instance.signIn(application.clientId, 'ada@example.com');
    instance.clock.advance(DAY);
    await use(instance, token);
    expect((await active(instance, application.id))['day']).toEqual([0, 1]);
    expect((await active(instance, other.id))['day']).toEqual([1, 1]);
  });

  test('are used by a verification of a backend, and a session before and after midnight counts on both days', async () => {
    const { instance, application } = await setUp();
    const key = await instance.createKey(application.id);
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    const verify = () => instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
    instance.clock.advance(DAY + 12 * HOUR - 10 * SECOND);
    // Nothing is written between the two.
    await verify();
    instance.clock.advance(20 * SECOND);
    await verify();
    const { activeSessions } = await statsOf(instance, application.id);
    // The one of yesterday came in an hour that today has not reached.
    expect(activeSessions.day).toEqual({ count: 1, previous: 0 });
    instance.clock.advance(23 * HOUR);
    expect((await active(instance, application.id))['day']).toEqual([1, 1]);
  });

  test('of many are counted once in every batch', async () => {
    const { instance, application } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const minted = await given.sessions(instance, application, userId, 119);
    instance.clock.advance(DAY);
    for (let hours = 0; hours < 2; hours += 1) {
      for (const { token } of minted) await use(instance, token);
      expect((await active(instance, application.id))['day']).toEqual([119, 120]);
      instance.clock.advance(HOUR);
    }
  });

  test('on several instances count once, whichever of them is first to write', async () => {
    const { instance, application } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    // On SQLite there is one instance, which hears of every commit itself.
    const sibling = ENGINE === 'postgres' ? await instance.sibling() : instance;
    instance.clock.advance(DAY);
    await use(instance, token);
    await use(sibling, token);
    await Promise.all([instance.services.flushCounters(), sibling.services.flushCounters()]);
    expect((await active(instance, application.id))['day']).toEqual([1, 1]);
  });
});

describe('sessions from before they were counted', () => {
  test('count from their first use on, and the answer says since when', async () => {
    const { instance, application } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    instance.clock.advance(DAY);
    await use(instance, token);
    await forgetCounts(instance);
    instance.clock.advance(DAY);
    await use(instance, token);
    await instance.signIn(application.clientId, 'bob@example.com');
    const both = { count: 2, previous: 0 };
    const counted = { day: both, week: both, month: both, since: '2026-03-04' };
    expect((await statsOf(instance, application.id)).activeSessions).toEqual(counted);
    instance.clock.advance(DAY);
    await use(instance, token);
    expect((await statsOf(instance, application.id)).activeSessions).toMatchObject({
      day: { count: 1, previous: 2 },
      week: both,
      month: both,
      since: '2026-03-04',
    });
  });

  test('are none in an application without earlier sign-ins', async () => {
    const { instance } = await setUp();
    instance.clock.advance(3 * DAY);
    const later = await instance.createApplication({ name: 'Market' });
    await instance.signIn(later.clientId, 'ada@example.com');
    expect((await statsOf(instance, later.id)).activeSessions).toMatchObject({ month: { count: 1 }, since: null });
  });
});
