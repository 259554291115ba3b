/**
 * Ending many sessions: they are invalid from the state change on, and each is recorded and reported exactly once,
 * whatever happens in between.
 */
import { describe, expect, test } from 'bun:test';
import { FIRST_BATCH } from '@/jobs/background-tasks.ts';
import { HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { managing } from '../users/management.ts';

/** More than the batch that is part of the state change. */
const MANY = 250;

/** A person with many sessions besides the current one. Background tasks run only when a test runs them. */
async function setUp() {
  const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100' } });
  const application = await instance.createApplication({ sessionTtlSeconds: HOUR / SECOND });
  const person = await instance.signIn(application.clientId, 'ada@example.com');
  const mint = () => given.sessions(instance, application, person.userId, MANY);
  const sessions = await mint();
  await instance.services.tasks.stop();
  return { instance, application, person, sessions, mint, manage: managing(instance, application) };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

const verdict = async (instance: Instance, token: string): Promise<string> => {
  const { json } = await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });
  return json.success ? 'ok' : json.errorMessage;
};

async function verdicts(instance: Instance, sessions: readonly { token: string }[]): Promise<string[]> {
  const found = new Set<string>();
  for (const { token } of sessions) found.add(await verdict(instance, token));
  return [...found];
}

const reported = ({ instance, application }: SetUp): { sessionId: string; reason: string }[] =>
  instance
    .events(application.id)
    .filter(({ type }) => type === 'user.session_revoked')
    .map(({ data }) => data as { sessionId: string; reason: string });

const idsOf = (list: readonly { sessionId: string }[]) => list.map(({ sessionId }) => sessionId).sort();

const rowsRevoked = ({ instance }: SetUp) =>
  instance.sqlite.query('SELECT id FROM sessions WHERE revoked_at IS NOT NULL').all().length;

async function change({ instance, application }: SetUp, kind: string): Promise<void> {
  expect((await given.lifecycle(instance, application.id, { kind })).status).toBe(200);
}

/** Restarts as after a crash during the task. */
async function restartDuringTask({ instance }: SetUp): Promise<Instance> {
  const restarted = await instance.restart();
  await restarted.services.scheduler.runAll();
  return restarted;
}

describe('many sessions of an archived application', () => {
  test('are refused from the archiving on, before their rows are updated', async () => {
    const scene = await setUp();
    const { instance, manage, sessions } = scene;
    await change(scene, 'archive');
    expect(rowsRevoked(scene)).toBeLessThan(MANY);
    expect(await verdicts(instance, sessions)).toEqual(['revoked']);
    expect((await manage('GET', '')).json.data.pendingWork).toEqual({
      kind: 'end_sessions',
      done: FIRST_BATCH,
      total: null,
    });
  });

  test('are each recorded and reported once, even across a restart', async () => {
    const scene = await setUp();
    const { sessions, manage, person } = scene;
    await change(scene, 'archive');
    await restartDuringTask(scene);
    await restartDuringTask(scene);
    expect(reported(scene)).toHaveLength(MANY + 1);
    expect(idsOf(reported(scene))).toEqual(expect.arrayContaining(idsOf(sessions)));
    expect(new Set(reported(scene).map(({ reason }) => reason))).toEqual(new Set(['application.archived']));
    expect(rowsRevoked(scene)).toBe(MANY + 1);
    expect((await manage('GET', '')).json.data.pendingWork).toBeNull();
    expect(await verdict(scene.instance, person.token)).toBe('revoked');
  });

  test('are not revived by unarchiving, and the task does not end sessions begun later', async () => {
    const scene = await setUp();
    const { instance, application, manage, sessions } = scene;
    await change(scene, 'archive');
    expect((await manage('POST', '/unarchive')).status).toBe(200);
    instance.clock.advance(MINUTE);
    const later = await instance.signIn(application.clientId, 'ada@example.com');
    expect(await verdicts(instance, sessions)).toEqual(['revoked']);
    expect(await verdict(instance, later.token)).toBe('ok');
    await restartDuringTask(scene);
    expect(reported(scene)).toHaveLength(MANY + 1);
    expect(await verdicts(instance, sessions)).toEqual(['revoked']);
    expect(await verdict(instance, later.token)).toBe('ok');
  });

  test('appear in no list from then on', async () => {
    const scene = await setUp();
    const { manage, person } = scene;
    const open = async () => (await manage('GET', `/users/${person.userId}/sessions`)).json.data.items.length;
    expect(await open()).toBeGreaterThan(0);
    await change(scene, 'archive');
    expect(await open()).toBe(0);
  });

  test('are reported as revoked even if they expire before their row is updated', async () => {
    const scene = await setUp();
    const { instance, application } = scene;
    await change(scene, 'archive');
    instance.clock.advance(2 * HOUR);
    // The job that reports expired sessions runs first.
    await restartDuringTask(scene);
    const types = instance.events(application.id).map(({ type }) => type);
    expect(types).not.toContain('user.session_expired');
    expect(reported(scene)).toHaveLength(MANY + 1);
  });

  test('expired before are reported as expired', async () => {
    const scene = await setUp();
    const { instance, application } = scene;
    instance.clock.advance(2 * HOUR);
    await change(scene, 'archive');
    await restartDuringTask(scene);
    await restartDuringTask(scene);
    const types = instance.events(application.id).map(({ type }) => type);
    expect(types.filter((type) => type === 'user.session_expired')).toHaveLength(MANY + 1);
    expect(reported(scene)).toEqual([]);
  });
});

describe('many sessions of one person', () => {
  test('are all counted and refused when an admin revokes them, and reported once each', async () => {
    const scene = await setUp();
    const { instance, manage, person, sessions } = scene;
    const answer = await manage('DELETE', `/users/${person.userId}/sessions`);
    expect(answer.json.data).toEqual({ revoked: MANY + 1 });
    expect(await verdicts(instance, sessions)).toEqual(['revoked']);
    expect((await manage('DELETE', `/users/${person.userId}/sessions`)).json.data).toEqual({ revoked: 0 });
    await restartDuringTask(scene);
    expect(new Set(idsOf(reported(scene))).size).toBe(MANY + 1);
    expect(reported(scene)).toHaveLength(MANY + 1);
  });

  test('stay ended if a ban is lifted before the last of them is recorded', async () => {
    const scene = await setUp();
    const { instance, manage, person, sessions, mint } = scene;
    await manage('POST', `/users/${person.userId}/ban`);
    await manage('POST', `/users/${person.userId}/unban`);
    instance.clock.advance(MINUTE);
    const later = await mint();
    expect(await verdicts(instance, sessions)).toEqual(['revoked']);
    await restartDuringTask(scene);
    expect(await verdicts(instance, later)).toEqual(['ok']);
    expect(reported(scene)).toHaveLength(MANY + 1);
  });

  test('end except the requesting one', async () => {
    const scene = await setUp();
    const { instance, person, sessions } = scene;
    const others = () => instance.call('DELETE', '/api/account/sessions', { token: person.token });
    expect((await others()).json.data).toEqual({ revoked: MANY, devices: 0 });
    expect(await verdicts(instance, sessions)).toEqual(['revoked']);
    expect(await verdict(instance, person.token)).toBe('ok');
    expect((await others()).json.data).toEqual({ revoked: 0, devices: 0 });
    await restartDuringTask(scene);
    expect(idsOf(reported(scene))).toEqual(idsOf(sessions));
    expect(await verdict(instance, person.token)).toBe('ok');
  });

  test('sessions in another application are not affected', async () => {
    const scene = await setUp();
    const { instance, manage, person } = scene;
    const other = await instance.createApplication({ name: 'Other' });
    instance.clock.advance(MINUTE);
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    await manage('POST', `/users/${person.userId}/ban`);
    await restartDuringTask(scene);
    expect(await verdict(instance, elsewhere.token)).toBe('ok');
  });
});
