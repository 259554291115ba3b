import { describe, expect, test } from 'bun:test';
import { FIRST_BATCH } from '@/jobs/background-tasks.ts';
import { MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { managing } from '../users/management.ts';

/** More sessions than the first batch, which the state change itself writes. */
const MANY = 250;
const EMAIL = 'ada@example.com';

/** Opens many sessions of one person, and stops the background tasks. */
async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const { token, userId } = await instance.signIn(application.clientId, EMAIL);
  const more = await given.sessions(instance, application, userId, MANY - 1);
  const tokens = [token, ...more.map((session) => session.token)];
  await instance.services.tasks.stop();
  return { instance, application, userId, tokens };
}

const revoked = (instance: Instance): number =>
  (instance.sqlite.query('SELECT count(*) AS n FROM sessions WHERE revoked_at IS NOT NULL').get() as { n: number }).n;

/** Picks few enough tokens to stay below the failure limit per address, including the last. */
const sampleOf = (tokens: readonly string[]) => tokens.filter((_, index) => index % 25 === 24);

const verify = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });

describe('archiving an application with many open sessions', () => {
  test('ends all of them at once, before the background task has reached their rows', async () => {
    const { instance, application, tokens } = await setUp();
    const answer = await given.lifecycle(instance, application.id, { kind: 'archive' });
    expect([answer.status, answer.json.data.pendingWork]).toEqual([
      200,
      { kind: 'end_sessions', done: FIRST_BATCH, total: null },
    ]);
    expect(revoked(instance)).toBe(FIRST_BATCH);
    for (const token of sampleOf(tokens)) expect((await verify(instance, token)).json.error).toBe('revoked');
  });

  test('revives none of them when it is undone before the task has finished', async () => {
    const { instance, application, tokens, userId } = await setUp();
    await given.lifecycle(instance, application.id, { kind: 'archive' });
    await managing(instance, application)('POST', '/unarchive');
    instance.clock.advance(MINUTE);
    const back = await instance.signIn(application.clientId, EMAIL);
    expect(back.userId).toBe(userId);
    const restarted = await instance.restart();
    await restarted.services.scheduler.runAll();
    expect(revoked(restarted)).toBe(MANY);
    for (const token of sampleOf(tokens)) expect((await verify(restarted, token)).json.error).toBe('revoked');
    expect((await verify(restarted, back.token)).json.ok).toBe(true);
  });

  test('is completed after a crash: one event per session, and no pending work', async () => {
    const { instance, application, userId } = await setUp();
    const before = instance.events(application.id).length;
    await given.lifecycle(instance, application.id, { kind: 'archive' });
    const restarted = await instance.restart();
    for (let turn = 0; turn < 2; turn += 1) await restarted.services.scheduler.runAll();
    const events = restarted.events(application.id).slice(before);
    expect(events).toHaveLength(MANY);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['user.session_revoked']));
    const reported = events.map(({ data }) => data as { userId: string; sessionId: string; reason: string });
    expect(new Set(reported.map(({ sessionId }) => sessionId)).size).toBe(MANY);
    expect(reported[0]).toMatchObject({ userId, reason: 'application.archived' });
    const record = await managing(restarted, application)('GET', '');
    expect(record.json.data.pendingWork).toBeNull();
  });
});
