import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { MINUTE, SECOND } from '@/core/clock.ts';
import { deadlineIn } from '@/core/deadline.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const person = await instance.signIn(application.clientId, 'ada@example.com');
  const seen = () => ({
    ...(instance.sqlite.query('SELECT last_seen_at AS session FROM sessions').get() as { session: number }),
    ...(instance.sqlite
      .query('SELECT last_seen_at AS member FROM application_users WHERE user_id = ?')
      .get(person.userId) as { member: number }),
  });
  return { instance, application, person, seen };
}

const session = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });

describe('the last-seen time', () => {
  test('is written by the flush and never by a request', async () => {
    const { instance, person, seen } = await setUp();
    instance.clock.advance(5 * MINUTE);
    await session(instance, person.token);
    expect(seen()).toEqual({ session: START, member: START });
    instance.clock.advance(SECOND);
    await instance.services.flushCounters();
    expect(seen()).toEqual({ session: START + 5 * MINUTE, member: START + 5 * MINUTE });
  });

  test('has a resolution of one minute, so that a fresh time is not written again', async () => {
    const { instance, person, seen } = await setUp();
    instance.clock.advance(MINUTE - 1);
    await session(instance, person.token);
    await instance.services.flushCounters();
    expect(seen()).toEqual({ session: START, member: START });
    instance.clock.advance(1);
    await session(instance, person.token);
    await instance.services.flushCounters();
    expect(seen()).toEqual({ session: START + MINUTE, member: START + MINUTE });
  });

  test('is updated by a backend’s verification too, for session and key alike', async () => {
    const { instance, application, person, seen } = await setUp();
    const key = await instance.createKey(application.id);
    const presented = await instance.createKey(application.id);
    instance.clock.advance(2 * MINUTE);
    for (const token of [person.token, presented.token])
      await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
    const used = () =>
      instance.sqlite.query('SELECT last_used_at AS at FROM api_keys WHERE id IN (?, ?)').all(key.id, presented.id);
    expect(used()).toEqual([{ at: null }, { at: null }]);
    await instance.services.flushCounters();
    expect(used()).toEqual([{ at: START + 2 * MINUTE }, { at: START + 2 * MINUTE }]);
    expect(seen().session).toBe(START + 2 * MINUTE);
  });

  test('is not updated by a refused token or a verification from another workspace', async () => {
    const { instance, application, person, seen } = await setUp();
    const foreign = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    instance.clock.advance(5 * MINUTE);
    await instance.call('POST', '/api/v1/verify', { token: foreign.token, body: { token: person.token } });
    await given.member(instance, application.id, person.userId, { status: 'paused' });
    await session(instance, person.token);
    await instance.services.flushCounters();
    expect(seen()).toEqual({ session: START, member: START });
  });

  test('is written completely for more than one batch', async () => {
    const { instance, application, person } = await setUp();
    const { sqlite } = instance;
    const minted = await given.sessions(instance, application, person.userId, 600);
    instance.clock.advance(MINUTE);
    for (const { token } of minted) await session(instance, token);
    // A large number is spread over several runs.
    for (let run = 0; run < 3; run += 1) await instance.services.flushCounters();
    expect(sqlite.query('SELECT count(*) AS n FROM sessions WHERE last_seen_at = ?').get(START + MINUTE)).toEqual({
      n: 600,
    });
  });

  test('is written at a stop in a few large changes, however much it is', async () => {
    const { instance, application, person } = await setUp();
    const minted = await given.sessions(instance, application, person.userId, 2500);
    instance.clock.advance(MINUTE);
    while (minted.length > 0) await Promise.all(minted.splice(0, 100).map(({ token }) => session(instance, token)));
    const before = instance.db.metrics.changes;
    await instance.services.flushAll();
    expect(instance.db.metrics.changes - before).toBeLessThan(20);
    const written = instance.sqlite.query('SELECT count(*) AS n FROM sessions WHERE last_seen_at = ?');
    expect(written.get(START + MINUTE)).toEqual({ n: 2500 });
    expect(instance.logLines.join('')).not.toContain('could not write');
  });

  test('is logged with the unwritten count if a stop runs out of time, and the stop completes', async () => {
    const { instance, person } = await setUp();
    instance.clock.advance(MINUTE);
    await session(instance, person.token);
    await instance.services.flushAll(deadlineIn(0));
    const line = instance.logLines.findLast((each) => each.includes('could not write everything'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      unwritten: expect.arrayContaining(['2 last-seen times']),
      reason: 'timed out',
    });
  });

  test('is logged with count and reason if the disk fails at a stop, and the stop completes', async () => {
    const { instance, person } = await setUp();
    instance.clock.advance(MINUTE);
    await session(instance, person.token);
    rmSync(instance.sqlite.filename);
    await instance.services.flushAll();
    const line = instance.logLines.findLast((each) => each.includes('could not write everything'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      unwritten: expect.arrayContaining(['2 last-seen times']),
      reason: expect.stringContaining('deleted or replaced'),
    });
  });
});
