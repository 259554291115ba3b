import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, SECOND } from '@/core/clock.ts';
import { sessionExpiryJob } from '@/jobs/session-expiry.ts';
import { recordAudit } from '@/store/audit.ts';
import { EVENT_EMITTED } from '@/store/events.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const TTL = 30 * DAY;

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  return { instance, application, job: sessionExpiryJob(instance), signIn: signInTo(instance, application.clientId) };
}

const signInTo = (instance: Instance, clientId: string) => async (name: string) => {
  const signedIn = await instance.signIn(clientId, `${name}@example.com`);
  const row = instance.sqlite.query('SELECT id FROM sessions ORDER BY rowid DESC LIMIT 1').get() as { id: string };
  return { ...signedIn, sessionId: row.id };
};

const reports = (instance: Instance, applicationId: string) =>
  instance.events(applicationId).filter(({ type }) => type === 'user.session_expired');

describe('a session that expires', () => {
  test('is reported as user.session_expired, once', async () => {
    const { instance, application, job, signIn } = await setUp();
    const people = [await signIn('ada'), await signIn('bea')];
    instance.clock.advance(TTL);
    await job.runOnce();
    const expected = people.map(({ userId, sessionId }) => ({
      type: 'user.session_expired',
      data: { userId, sessionId },
    }));
    expect(reports(instance, application.id)).toEqual(expected);
    await job.runOnce();
    instance.clock.advance(DAY);
    await job.runOnce();
    expect(reports(instance, application.id)).toEqual(expected);
  });

  test('is not reported again after a restart', async () => {
    const { instance, application, job, signIn } = await setUp();
    await signIn('ada');
    instance.clock.advance(TTL);
    await job.runOnce();
    const restarted = await instance.restart();
    await restarted.services.scheduler.runAll();
    expect(reports(restarted, application.id)).toHaveLength(1);
  });

  test('while the server is down is reported after the next start', async () => {
    const { instance, application, signIn } = await setUp();
    await signIn('ada');
    instance.clock.advance(TTL + 3 * DAY);
    const restarted = await instance.restart();
    await restarted.services.scheduler.runAll();
    expect(reports(restarted, application.id)).toHaveLength(1);
  });

  test('is reported before its row is deleted, even after a long downtime', async () => {
    const { instance, application, signIn } = await setUp();
    await signIn('ada');
    instance.clock.advance(400 * DAY);
    await (await instance.restart()).services.scheduler.runAll();
    const rows = instance.sqlite.query('SELECT id FROM sessions').all();
    expect([reports(instance, application.id).length, rows]).toEqual([1, []]);
  });

  test('is reported as soon as a verification refuses it', async () => {
    const { instance, application, job, signIn } = await setUp();
    const { token } = await signIn('ada');
    const verdict = async () => (await instance.call('POST', '/api/v1/session', { token })).json.error ?? 'ok';
    instance.clock.advance(TTL - 1);
    await job.runOnce();
    expect([await verdict(), reports(instance, application.id)]).toEqual(['ok', []]);
    instance.clock.advance(1);
    await job.runOnce();
    expect([await verdict(), reports(instance, application.id).length]).toEqual(['expired', 1]);
  });

  test('has the lifetime of its own application', async () => {
    const { instance, application, job, signIn } = await setUp();
    await signIn('ada');
    const short = await instance.createApplication({ name: 'Short' });
    await instance.call('PATCH', `/api/applications/${short.id}`, {
      token: instance.workspaceKey,
      body: { sessionTtlSeconds: 300 },
    });
    const { userId } = await instance.signIn(short.clientId, 'ada@example.com');
    instance.clock.advance(300 * SECOND);
    await job.runOnce();
    expect(reports(instance, application.id)).toEqual([]);
    expect(reports(instance, short.id)).toEqual([
      { type: 'user.session_expired', data: { userId, sessionId: expect.any(String) } },
    ]);
  });
});

describe('the report of expired sessions', () => {
  test('leaves out sessions that were signed out, revoked by an admin, or ended by a ban', async () => {
    const { instance, application, job, signIn } = await setUp();
    const [ada, bea, cleo] = [await signIn('ada'), await signIn('bea'), await signIn('cleo')];
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    const manage = (method: string, path: string) =>
      instance.call(method, `/api/applications/${application.id}/users/${path}`, { token: instance.workspaceKey });
    await manage('DELETE', `${bea.userId}/sessions`);
    await manage('POST', `${cleo.userId}/ban`);
    instance.clock.advance(TTL + DAY);
    await job.runOnce();
    expect(reports(instance, application.id)).toEqual([]);
  });

  test('includes an expired session after a later ban of its person, without a revocation', async () => {
    const { instance, application, job, signIn } = await setUp();
    const { userId } = await signIn('ada');
    instance.clock.advance(TTL);
    await instance.call('POST', `/api/applications/${application.id}/users/${userId}/ban`, {
      token: instance.workspaceKey,
    });
    await job.runOnce();
    const types = instance.events(application.id).map(({ type }) => type);
    expect(types).toEqual(['user.signed_in', 'user.banned', 'user.session_expired']);
  });
});

describe('a thousand sessions that expire at once', () => {
  const COUNT = 1000;

  async function expired() {
    const world = await setUp();
    const ada = await world.signIn('ada');
    const more = await given.sessions(world.instance, world.application, ada.userId, COUNT - 1);
    const ids = [ada, ...more].map(({ sessionId }) => sessionId);
    world.instance.clock.advance(TTL);
    const sizes: number[] = [];
    world.instance.db.onCommit(EVENT_EMITTED, (events) => void sizes.push(events.length));
    const reported = () =>
      reports(world.instance, world.application.id).map(({ data }) => (data as { sessionId: string }).sessionId);
    return { ...world, ids, sizes, reported };
  }

  test('are each reported once, 200 per transaction', async () => {
    const { job, ids, sizes, reported } = await expired();
    await job.runOnce();
    expect(reported().sort()).toEqual([...ids].sort());
    expect(sizes).toEqual([200, 200, 200, 200, 200]);
  });

  test('yield to other writes in between', async () => {
    const { instance, job, reported } = await expired();
    let isDone = false;
    const running = Promise.resolve(job.runOnce()).then(() => void (isDone = true));
    const seen: number[] = [];
    while (!isDone) {
      await instance.db.write(SYSTEM_ACTOR, (unit) => recordAudit(unit, { kind: 'setup.link_created' }));
      seen.push(reported().length);
      await Bun.sleep(0);
    }
    await running;
    expect(seen.filter((count) => count < COUNT).length).toBeGreaterThanOrEqual(4);
    expect(reported()).toHaveLength(COUNT);
  });

  test('continue after a crash with whole batches and without repeats', async () => {
    const { instance, job, ids, reported } = await expired();
    // The 500th report fails, as on a full disk, and its batch is rolled back.
    const last = "(SELECT count(*) FROM events WHERE type = 'user.session_expired') >= 499";
    const repair = given.brokenWrites(instance, 'INSERT ON events', last);
    await expect(Promise.resolve(job.runOnce())).rejects.toThrow('disk full');
    const marked = instance.sqlite.query('SELECT count(*) AS n FROM sessions WHERE expiry_reported_at > 0').get();
    expect([reported().length, marked]).toEqual([400, { n: 400 }]);
    repair();
    await (await instance.restart()).services.scheduler.runAll();
    expect(reported().sort()).toEqual([...ids].sort());
  });
});
