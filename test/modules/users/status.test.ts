import { describe, expect, test } from 'bun:test';
import { MINUTE } from '../../../src/core/clock.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { lastAudit, managing, people, tables, watch } from './management.ts';

const STATES = ['active', 'banned', 'paused', 'inactivated', 'left', 'deleted'] as const;
type State = (typeof STATES)[number];

/** The target of an action in each state; a repeat keeps the state, and null is refused. */
const TRANSITIONS: Record<string, { event: string; leadsTo: Record<State, State | null> }> = {
  ban: {
    event: 'user.banned',
    leadsTo: {
      active: 'banned',
      banned: 'banned',
      paused: 'banned',
      inactivated: 'banned',
      left: 'banned',
      deleted: null,
    },
  },
  unban: {
    event: 'user.unbanned',
    leadsTo: { active: 'active', banned: 'active', paused: null, inactivated: null, left: null, deleted: null },
  },
  pause: {
    event: 'user.paused',
    leadsTo: { active: 'paused', banned: null, paused: 'paused', inactivated: null, left: null, deleted: null },
  },
  resume: {
    event: 'user.resumed',
    leadsTo: { active: 'active', banned: null, paused: 'active', inactivated: null, left: null, deleted: null },
  },
  delete: {
    event: 'user.deleted',
    leadsTo: {
      active: 'deleted',
      banned: 'deleted',
      paused: 'deleted',
      inactivated: 'deleted',
      left: 'deleted',
      deleted: 'deleted',
    },
  },
  restore: {
    event: 'user.restored',
    leadsTo: { active: 'active', banned: null, paused: null, inactivated: null, left: null, deleted: 'active' },
  },
};

const CASES = Object.entries(TRANSITIONS).flatMap(([action, { event, leadsTo }]) =>
  STATES.map((state) => ({ action, event, state, target: leadsTo[state] })),
);

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const ada = await instance.signIn(application.clientId, 'ada@example.com');
  const manage = managing(instance, application);
  const act = (action: string, body?: unknown) => manage('POST', `/users/${ada.userId}/${action}`, { body });
  return { instance, application, manage, act, ada, clientId: application.clientId };
}

const BY_ADMIN = { banned: 'ban', paused: 'pause', deleted: 'delete' } as const;
const BY_THEMSELVES = { inactivated: 'inactivate', left: 'leave' } as const;

/** Brings a membership into a state through regular calls. */
async function bringInto({ instance, act, ada }: Awaited<ReturnType<typeof setUp>>, state: State): Promise<void> {
  if (state === 'active') return;
  const { status } =
    state in BY_ADMIN
      ? await act(BY_ADMIN[state as keyof typeof BY_ADMIN])
      : await instance.call('POST', `/api/account/${BY_THEMSELVES[state as keyof typeof BY_THEMSELVES]}`, ada);
  expect(status).toBe(200);
}

const session = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });

describe.each(CASES)('the action $action on a member in state $state', ({ action, event, state, target }) => {
  if (target === null)
    test('is refused and changes nothing', async () => {
      const scene = await setUp();
      const { instance, act } = scene;
      await bringInto(scene, state);
      const rows = await tables(instance);
      const answer = await act(action, { reason: 'why' });
      expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
      expect(answer.json.data).toBeUndefined();
      expect(await tables(instance)).toEqual(rows);
    });
  else if (target === state)
    test('answers with the unchanged user', async () => {
      const scene = await setUp();
      const { instance, act } = scene;
      await bringInto(scene, state);
      const rows = await tables(instance);
      const answer = await act(action, { reason: 'again' });
      expect([answer.status, answer.json.data.status, answer.json.data.statusReason]).toEqual([200, state, null]);
      expect(await tables(instance)).toEqual(rows);
    });
  else
    test(`makes them ${target}, with the reason, one event and one audit record`, async () => {
      const scene = await setUp();
      const { instance, application, ada, act, manage } = scene;
      await bringInto(scene, state);
      const before = watch(instance, application);
      const answer = await act(action, { reason: 'a good one' });
      expect([answer.status, answer.json.data]).toEqual([
        200,
        expect.objectContaining({ userId: ada.userId, status: target, statusReason: 'a good one' }),
      ]);
      const ended = state === 'active' ? ['user.session_revoked'] : [];
      expect(before.events().map(({ type }) => type)).toEqual([...ended, event]);
      expect(before.events().at(-1)!.data).toEqual({ userId: ada.userId, reason: 'a good one' });
      expect(before.kinds()).toEqual([event]);
      expect((await manage('GET', `/users/${ada.userId}`)).json.data).toEqual(answer.json.data);
    });
});

describe('an action on a user', () => {
  test.each(['ban', 'pause', 'delete'])(
    'the action %s ends every session at once, each with its event before the action’s own',
    async (action) => {
      const { instance, application, act, ada, clientId } = await setUp();
      instance.clock.advance(MINUTE);
      const second = await instance.signIn(clientId, 'ada@example.com');
      const bob = await instance.signIn(clientId, 'bob@example.com');
      const key = await instance.createKey(application.id, { access: 'read' });
      const before = watch(instance, application);
      const { json } = await act(action);
      expect(before.events()).toEqual([
        ...Array(2).fill({
          type: 'user.session_revoked',
          data: { userId: ada.userId, sessionId: expect.stringMatching(/^ses_/), reason: json.data.status },
        }),
        { type: `user.${json.data.status}`, data: { userId: ada.userId } },
      ]);
      expect(new Set(before.events().map(({ data }) => (data as { sessionId?: string }).sessionId)).size).toBe(3);
      for (const { token } of [ada, second]) {
        const refused = await session(instance, token);
        expect([refused.status, refused.json.ok, refused.json.error]).toEqual([403, false, 'membership_blocked']);
        const verdict = await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
        expect([verdict.status, verdict.json]).toEqual([200, { success: false, errorMessage: 'membership_blocked' }]);
        expect((await instance.call('GET', '/api/me/roles', { token })).status).toBe(403);
      }
      expect((await session(instance, bob.token)).status).toBe(200);
    },
  );

  test.each([
    ['ban', 'unban'],
    ['pause', 'resume'],
    ['delete', 'restore'],
  ])('the action %s, then %s, allows new sign-ins and revives no session', async (away, back) => {
    const { instance, act, ada, clientId } = await setUp();
    await act(away);
    instance.clock.advance(MINUTE);
    await act(back);
    const dead = await session(instance, ada.token);
    expect([dead.status, dead.json.error]).toEqual([401, 'revoked']);
    const again = await instance.trySignIn(clientId, 'ada@example.com');
    expect([again.status, again.json.data.userId]).toEqual([200, ada.userId]);
  });

  test.each(['banned', 'paused', 'inactivated', 'left'] as const)(
    'a restore returns a member who was %s to that state with its reason',
    async (state) => {
      const scene = await setUp();
      const { instance, application, act, ada, manage, clientId } = scene;
      const isByAdmin = state === 'banned' || state === 'paused';
      if (isByAdmin) await act(BY_ADMIN[state], { reason: 'spam' });
      else await bringInto(scene, state);
      await act('delete', { reason: 'asked for' });
      const before = watch(instance, application);
      const answer = await act('restore', { reason: 'a mistake' });
      const statusReason = isByAdmin ? 'spam' : null;
      expect(answer.json.data).toMatchObject({ status: state, statusReason });
      const data = { userId: ada.userId, status: state, reason: 'a mistake' };
      expect(before.events()).toEqual([{ type: 'user.restored', data }]);
      expect(JSON.parse(lastAudit(instance, 'user.restored')['detail'] as string)).toEqual({
        status: state,
        reason: 'a mistake',
      });
      instance.clock.advance(MINUTE);
      const again = await instance.trySignIn(clientId, 'ada@example.com');
      expect([again.status, again.json.error]).toEqual(isByAdmin ? [403, 'membership_blocked'] : [200, undefined]);
      expect((await manage('POST', `/users/${ada.userId}/delete`)).status).toBe(200);
    },
  );

  test.each([
    ['ban', 'membership_blocked'],
    ['pause', 'membership_blocked'],
    ['delete', 'user_deleted'],
  ])('the action %s refuses their sign-in as %s, even with a code sent before', async (action, error) => {
    const { instance, application, act, clientId } = await setUp();
    instance.clock.advance(MINUTE);
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'ada@example.com', clientId } });
    await act(action);
    const before = watch(instance, application);
    const early = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId: sent.json.data.challengeId, code: instance.codeFor('ada@example.com') },
    });
    expect([early.status, early.json.error]).toEqual([403, error]);
    instance.clock.advance(MINUTE);
    const late = await instance.trySignIn(clientId, 'ada@example.com');
    expect([late.status, late.json.error]).toEqual([403, error]);
    expect(before.events()).toEqual([]);
  });

  test('is limited to its application', async () => {
    const { instance, act } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    const before = watch(instance, other);
    await act('delete');
    expect((await session(instance, elsewhere.token)).status).toBe(200);
    instance.clock.advance(MINUTE);
    expect((await instance.trySignIn(other.clientId, 'ada@example.com')).status).toBe(200);
    expect(before.events().map(({ type }) => type)).toEqual(['user.signed_in']);
  });

  test('blocks the principal of a key like any user, and unblocks it', async () => {
    const { instance, application, manage } = await setUp();
    const { token } = await instance.createKey(application.id);
    const { userId } = (await manage('GET', '/api-keys')).json.data.items[0];
    const works = async () => (await manage('GET', '/users', { token })).status;
    await manage('POST', `/users/${userId}/pause`);
    expect(await works()).toBe(401);
    const verdict = await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });
    expect(verdict.json).toEqual({ success: false, errorMessage: 'membership_blocked' });
    await manage('POST', `/users/${userId}/resume`);
    expect(await works()).toBe(200);
  });

  test('is recorded with its actor, its target and the request', async () => {
    const { instance, application, manage, act, ada } = await setUp();
    const banned = await act('ban', { reason: 'spam' });
    expect(lastAudit(instance, 'user.banned')).toMatchObject({
      ok: 1,
      application_id: application.id,
      user_id: ada.userId,
      email: 'ada@example.com',
      actor_type: 'key',
      actor_user_id: expect.stringMatching(/^usr_/),
      actor_api_key_id: expect.stringMatching(/^key_/),
      request_id: banned.headers.get('x-request-id'),
      ip: instance.peer,
      detail: '{"reason":"spam"}',
    });
    const owner = await instance.signIn('console', 'owner@example.com');
    const unbanned = await manage('POST', `/users/${ada.userId}/unban`, { token: owner.token });
    expect(unbanned.status).toBe(200);
    expect(lastAudit(instance, 'user.unbanned')).toMatchObject({
      actor_type: 'user',
      actor_user_id: owner.userId,
      actor_api_key_id: null,
      request_id: unbanned.headers.get('x-request-id'),
    });
  });

  test('needs no reason: no body, an empty one and {} are the same', async () => {
    for (const body of [undefined, '', '{}']) {
      const { act } = await setUp();
      const answer = await act('ban', body);
      expect([answer.status, answer.json.data.statusReason]).toEqual([200, null]);
    }
  });

  test.each([
    [{ reason: 'x'.repeat(501) }, 'reason'],
    [{ reason: 'red \u009b31m' }, 'reason'],
    [{ reason: 5 }, 'reason'],
    [{ because: 'x' }, 'because'],
    [[], 'body'],
  ])('an action with a bad body is refused and changes nothing', async (body, path) => {
    const { instance, act } = await setUp();
    const rows = await tables(instance);
    const answer = await act('ban', body);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(rows);
  });

  test('takes effect once out of fifty concurrent calls', async () => {
    const { instance, application, act } = await setUp();
    const before = watch(instance, application);
    const answers = await Promise.all(Array.from({ length: 50 }, () => act('ban')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(before.events().map(({ type }) => type)).toEqual(['user.session_revoked', 'user.banned']);
    expect(before.kinds()).toEqual(['user.banned']);
  });

  test('works on a person who has never signed in and has no sessions', async () => {
    const { instance, application, manage } = await setUp();
    const [bob] = await people(manage, 'bob@example.com');
    const before = watch(instance, application);
    expect((await manage('POST', `/users/${bob}/ban`)).json.data.status).toBe('banned');
    expect(before.events()).toEqual([{ type: 'user.banned', data: { userId: bob! } }]);
  });
});
