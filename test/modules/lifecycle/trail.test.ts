import { describe, expect, test } from 'bun:test';
import { MINUTE } from '../../../src/core/clock.ts';
import { newId } from '../../../src/core/id.ts';
import { systemRandom } from '../../../src/core/random.ts';
import { hashSecret, mintSecret } from '../../../src/core/secret.ts';
import type { Application } from '../../../src/store/applications.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { managing } from '../users/management.ts';

/** More than the slice that is part of the switch. */
const MANY = 250;
const OWNER = 'owner@example.com';
const EMAIL = 'ada@example.com';

/** Many open sessions of one person, and nothing that writes the trail of a switch to its end. */
async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const { token, userId } = await instance.signIn(application.clientId, EMAIL);
  const tokens = [token];
  const { sqlite, clock } = instance;
  const insert = sqlite.prepare(
    `INSERT INTO sessions (id, token_hash, application_user_id, method, last_seen_at, created_at, expires_at)
     SELECT ?, ?, id, 'otp', ?3, ?3, ?4 FROM application_users WHERE application_id = ?5 AND user_id = ?6`,
  );
  while (tokens.length < MANY) {
    const more = mintSecret('session', systemRandom);
    const now = clock.now();
    insert.run(newId('session', now), Buffer.from(hashSecret(more)), now, now + 60 * MINUTE, application.id, userId);
    tokens.push(more);
  }
  await instance.services.longWork.stop();
  return { instance, application, userId, tokens };
}

async function archive(instance: Instance, application: Application) {
  const manage = managing(instance, application);
  const sent = await manage('POST', '/lifecycle/send', { body: { kind: 'archive' } });
  const { challengeId } = sent.json.data;
  return manage('POST', '/lifecycle/confirm', { body: { challengeId, code: instance.codeFor(OWNER) } });
}

const revoked = (instance: Instance): number =>
  (instance.sqlite.query('SELECT count(*) AS n FROM sessions WHERE revoked_at IS NOT NULL').get() as { n: number }).n;

/** Few enough for the limit of failures by one address; the last is among them. */
const sampleOf = (tokens: readonly string[]) => tokens.filter((_, index) => index % 25 === 24);

const verify = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });

describe('archiving an application with many open sessions', () => {
  test('ends all of them at once, whether their rows have been reached or not', async () => {
    const { instance, application, tokens } = await setUp();
    const answer = await archive(instance, application);
    expect([answer.status, answer.json.data.pendingWork]).toEqual([
      200,
      { kind: 'end_sessions', done: 100, total: null },
    ]);
    expect(revoked(instance)).toBe(100);
    for (const token of sampleOf(tokens)) expect((await verify(instance, token)).json.error).toBe('revoked');
  });

  test('revives none of them when it is undone before all were reached', async () => {
    const { instance, application, tokens, userId } = await setUp();
    await archive(instance, application);
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

  test('is followed up after a crash: one event for each session, and then nothing is pending', async () => {
    const { instance, application, userId } = await setUp();
    const before = instance.events(application.id).length;
    await archive(instance, application);
    const restarted = await instance.restart();
    for (let turn = 0; turn < 2; turn += 1) await restarted.services.scheduler.runAll();
    const events = restarted.events(application.id).slice(before);
    expect(events).toHaveLength(MANY);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['user.session_revoked']));
    const told = events.map(({ data }) => data as { userId: string; sessionId: string; reason: string });
    expect(new Set(told.map(({ sessionId }) => sessionId)).size).toBe(MANY);
    expect(told[0]).toMatchObject({ userId, reason: 'application.archived' });
    const record = await managing(restarted, application)('GET', '');
    expect(record.json.data.pendingWork).toBeNull();
  });
});
