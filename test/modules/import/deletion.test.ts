/** Deleting and forgetting imported people who have never signed in. */
import { describe, expect, test } from 'bun:test';
import { changeEmail, later, problemOf } from '../account/account.ts';
import { register, signInWith } from '../passkeys/passkeys.ts';
import { fragmentOf } from '../provider/browser.ts';
import { createScene } from '../provider/scene.ts';
import { lastAudit, managing, watch } from '../users/management.ts';
import * as given from '../../support/given.ts';
import { PROFILE, setUp as setUpImport } from './importing.ts';

const ADA = 'ada@example.com';
const ROW = { email: ADA, roleSlugs: ['developer'], profile: PROFILE };

async function setUp() {
  const scene = await setUpImport();
  const { instance, application, manage, load } = scene;
  const [{ userId }] = (await load(ROW)).results;
  const act = (action: string, reason?: string) =>
    manage('POST', `/users/${userId}/${action}`, { body: reason === undefined ? {} : { reason } });
  const forget = () => manage('DELETE', `/users/${userId}`);
  const shown = async () => (await manage('GET', `/users/${userId}`)).json.data;
  const signIn = async (clientId = application.clientId, email = ADA) => {
    later(instance);
    return problemOf(await instance.trySignIn(clientId, email));
  };
  return { ...scene, userId, act, forget, shown, signIn };
}

describe('a deleted reservation', () => {
  test('stays listed and readable as imported, with the reason', async () => {
    const { manage, act, shown, userId } = await setUp();
    const before = await shown();
    const { json } = await act('delete', 'fired');
    expect(json.data).toEqual({ ...before, status: 'deleted', statusReason: 'fired' });
    expect(await shown()).toEqual(json.data);
    const { items } = (await manage('GET', '/users?status=deleted')).json.data;
    expect(items.map((user: { userId: string }) => user.userId)).toEqual([userId]);
  });

  test('refuses a sign-in by code with user_deleted, and skips an import without a change', async () => {
    const { act, load, shown, signIn, userId } = await setUp();
    await act('delete');
    expect(await signIn()).toEqual([403, 'user_deleted']);
    const deleted = await shown();
    const { results } = await load({ ...ROW, roleSlugs: ['user'], profile: { fullName: 'Other' } });
    expect(results).toEqual([{ email: ADA, outcome: 'skipped', userId, error: 'user_deleted' }]);
    expect(await shown()).toEqual(deleted);
  });

  test('refuses a sign-in by identity provider with user_deleted', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const userId = await given.reservation(instance, application, ADA);
    await managing(instance, application)('POST', `/users/${userId}/delete`);
    const landed = await scene.signIn({ sub: 'ada', email: ADA });
    expect(fragmentOf(landed)).toEqual({ error: 'user_deleted' });
  });

  test('refuses a sign-in by console passkey with user_deleted', async () => {
    const { instance, application, act } = await setUp();
    await instance.call('POST', '/api/workspace/members', {
      token: instance.workspaceKey,
      body: { email: ADA, role: 'member' },
    });
    const { token } = await instance.signIn('console', ADA);
    const { passkey } = await register(instance, token);
    await act('delete');
    expect(problemOf(await signInWith(instance, application.clientId, passkey))).toEqual([403, 'user_deleted']);
  });

  test('stays deleted after a sign-in to a sibling application, and is restored by an admin', async () => {
    const { other, act, shown, signIn } = await setUp();
    await act('delete', 'fired');
    expect(await signIn(other.clientId)).toEqual([200, 'ok']);
    expect(await shown()).toMatchObject({ status: 'deleted', statusReason: 'fired', lastSeenAt: null });
    expect(await signIn()).toEqual([403, 'user_deleted']);
    await act('restore');
    expect(await signIn()).toEqual([200, 'ok']);
  });

  test('stays deleted when a sibling application imports the same address', async () => {
    const { elsewhere, act, shown, userId } = await setUp();
    await act('delete');
    const { json } = await elsewhere('POST', '/users/bulk', { body: { users: [{ email: ADA }] } });
    expect(json.data.results).toEqual([{ email: ADA, outcome: 'linked', userId }]);
    expect((await shown()).status).toBe('deleted');
  });

  test('keeps its username, as other deleted users do', async () => {
    const { manage, act } = await setUp();
    await act('delete');
    const check = await manage('POST', '/usernames/check', { body: { usernames: [PROFILE.username] } });
    expect(check.json.data.summary).toMatchObject({ available: 0, taken: 1 });
  });

  test('is restored as imported, with one event and one audit record for each change', async () => {
    const { instance, application, act, shown, signIn, userId } = await setUp();
    const before = await shown();
    const watched = watch(instance, application);
    await act('delete', 'a mistake');
    expect((await act('delete')).json.data.status).toBe('deleted');
    expect((await act('restore')).json.data).toEqual(before);
    expect(watched.events()).toEqual([
      { type: 'user.deleted', data: { userId, reason: 'a mistake' } },
      { type: 'user.restored', data: { userId } },
    ]);
    expect(watched.kinds()).toEqual(['user.deleted', 'user.restored']);
    expect(await signIn()).toEqual([200, 'ok']);
    expect(await shown()).toMatchObject({ roles: ['developer', 'user'], username: PROFILE.username });
  });

  test.each([
    ['ban', 'banned'],
    ['pause', 'paused'],
  ])('after a %s returns to that status when restored', async (action, status) => {
    const { act, shown, signIn } = await setUp();
    await act(action, 'spam');
    await act('delete');
    expect(await signIn()).toEqual([403, 'user_deleted']);
    await act('restore');
    expect(await shown()).toMatchObject({ status, statusReason: 'spam' });
    expect(await signIn()).toEqual([403, 'membership_blocked']);
  });

  test('refuses its address even for a person who is reserved under an earlier one and joined a sibling', async () => {
    const { instance, application, other, manage, load, signIn } = await setUp();
    const home = await given.tenant(instance, 'Home');
    const bob = await instance.signIn(home.application.clientId, 'bob@example.com');
    await load({ email: 'bob@example.com' });
    expect((await changeEmail(instance, bob, 'bob@new.example')).status).toBe(200);
    const [{ userId }] = (await load({ email: 'bob@new.example', roleSlugs: ['developer'] })).results;
    expect(userId).not.toBe(bob.userId);
    await manage('POST', `/users/${userId}/delete`);
    const watched = watch(instance, application);
    expect(await signIn(application.clientId, 'bob@new.example')).toEqual([403, 'user_deleted']);
    expect(await signIn(other.clientId, 'bob@new.example')).toEqual([200, 'ok']);
    expect(await signIn(application.clientId, 'bob@new.example')).toEqual([403, 'user_deleted']);
    const { items } = (await manage('GET', '/users?status=deleted')).json.data;
    expect(items).toMatchObject([{ userId, email: 'bob@new.example', roles: ['developer', 'user'] }]);
    expect(watched.events()).toEqual([]);
  });
});

describe('forgetting an imported person', () => {
  test('removes the reservation and frees the username, and the person may sign in like anyone', async () => {
    const { instance, application, manage, forget, shown, signIn, userId } = await setUp();
    const watched = watch(instance, application);
    const answer = await forget();
    expect([answer.status, answer.json.data]).toEqual([200, { userId }]);
    expect(watched.events()).toEqual([{ type: 'user.deleted', data: { userId, forgotten: true } }]);
    expect(watched.kinds()).toEqual(['user.forgotten']);
    expect(lastAudit(instance, 'user.forgotten')).toMatchObject({
      user_id: userId,
      email: ADA,
      actor_type: 'key',
      request_id: answer.headers.get('x-request-id'),
      detail: '{"status":"active"}',
    });
    for (const [method, tail] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
    ] as const)
      expect(problemOf(await manage(method, `/users/${userId}${tail}`))).toEqual([404, 'not_found']);
    const check = await manage('POST', '/usernames/check', { body: { usernames: [PROFILE.username] } });
    expect(check.json.data.summary.available).toBe(1);
    expect(await signIn()).toEqual([200, 'ok']);
    expect(await shown()).toMatchObject({ username: null, roles: ['user'], profile: { fullName: null } });
  });

  test('keeps the user id for a later import of the same address', async () => {
    const { load, forget, userId } = await setUp();
    await forget();
    expect((await load(ROW)).results).toEqual([{ email: ADA, outcome: 'created', userId }]);
  });

  test.each([
    ['ban', 'banned'],
    ['delete', 'deleted'],
  ])('lifts a %s, and the audit record names the status', async (action, status) => {
    const { instance, act, forget, signIn } = await setUp();
    await act(action);
    expect((await forget()).status).toBe(200);
    expect(lastAudit(instance, 'user.forgotten')['detail']).toBe(JSON.stringify({ status }));
    expect(await signIn()).toEqual([200, 'ok']);
  });

  test('is refused once the person has signed in to the workspace, even to a sibling application', async () => {
    const { instance, other, manage, load, signIn, forget, shown, userId } = await setUp();
    await signIn(other.clientId);
    const watched = watch(instance, other);
    const linked = await forget();
    expect([linked.status, linked.json.error, linked.json.message]).toEqual([
      409,
      'invalid_state',
      'Only imported people who have never signed in to this workspace can be removed this way; use the delete action instead.',
    ]);
    await signIn();
    expect(problemOf(await forget())).toEqual([409, 'invalid_state']);
    expect(watched.events()).toEqual([]);
    expect((await shown()).userId).toBe(userId);
    await load({ email: 'bob@example.com' });
    const bob = await instance.signIn(other.clientId, 'bob@example.com');
    expect(problemOf(await manage('DELETE', `/users/${bob.userId}`))).toEqual([409, 'invalid_state']);
  });

  test('is refused for a person with a profile from the workspace’s identity provider', async () => {
    const { instance, application, forget, userId } = await setUp();
    const profile = await instance.signIn('console', 'owner@example.com');
    await given.member(instance, application.id, userId, { profileUserId: profile.userId });
    expect(problemOf(await forget())).toEqual([409, 'invalid_state']);
  });

  test('is refused for the principal of a key', async () => {
    const { instance, application, manage } = await setUp();
    const key = await instance.createKey(application.id);
    expect(problemOf(await manage('DELETE', `/users/${key.userId}`))).toEqual([409, 'invalid_state']);
  });

  test('needs a full key of the application, and finds no user of another one', async () => {
    const { instance, application, other, manage, elsewhere, shown, userId } = await setUp();
    const read = await instance.createKey(application.id, { access: 'read' });
    const foreign = await given.tenant(instance);
    const foreignKey = await instance.createKey(other.id, { access: 'full' });
    const answers = [
      await manage('DELETE', `/users/${userId}`, { token: undefined }),
      await manage('DELETE', `/users/${userId}`, { token: read.token }),
      await manage('DELETE', `/users/${userId}`, { token: foreign.workspaceKey }),
      await manage('DELETE', `/users/${userId}`, { token: foreignKey.token }),
      await elsewhere('DELETE', `/users/${userId}`),
      await manage('DELETE', '/users/usr_01hzzzzzzzzzzzzzzzzzzzzzzz'),
    ];
    expect(answers.map(problemOf)).toEqual([
      [401, 'unauthenticated'],
      [403, 'admin_scope_required'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    expect((await shown()).status).toBe('active');
  });

  test('takes effect once in fifty concurrent calls', async () => {
    const { instance, application, forget } = await setUp();
    const watched = watch(instance, application);
    const answers = await Promise.all(Array.from({ length: 50 }, forget));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(49);
    expect(watched.events()).toHaveLength(1);
  });
});
