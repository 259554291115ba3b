/** Reservations: imported people the workspace has never seen, and what they get when they sign in. */
import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '@/core/clock.ts';
import { as, changeEmail, deleteAccount, later, problemOf, prove } from '../account/account.ts';
import { register, signInWith } from '../passkeys/passkeys.ts';
import { createScene, personOf } from '../provider/scene.ts';
import { managing, tables, watch } from '../users/management.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';

const ADA = 'ada@example.com';

const ROW = {
  roleSlugs: ['developer'],
  profile: {
    username: 'countess',
    givenName: 'Imported',
    familyName: 'Lovelace',
    timezone: 'Europe/London',
    languages: [{ code: 'en', level: 'NATIVE' as const }],
  },
};

/** Creates an application in a workspace that has never seen Ada, and one in another workspace that has. */
async function setUp() {
  const instance = await createInstance();
  const home = await given.tenant(instance, 'Home');
  const ada = await instance.signIn(home.application.clientId, ADA);
  await as(instance, ada)('PATCH', '/profile/identity', { givenName: 'Ada', locale: 'en-GB' });
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const load = async (row: object = ROW) =>
    (await manage('POST', '/users/bulk', { body: { users: [{ email: ADA, ...row }] } })).json.data.results[0];
  const shown = async () => (await manage('GET', `/users/${ada.userId}`)).json.data;
  later(instance);
  return { instance, home, ada, application, manage, load, shown };
}

/** Signs Ada in to the console, as a member of her home workspace. */
async function signInToConsole(instance: Instance, home: given.Tenant): Promise<{ token: string }> {
  const body = { email: ADA, role: 'member' };
  await instance.call('POST', '/api/workspace/members', { token: home.workspaceKey, body });
  return instance.signIn('console', ADA);
}

/** Signs Ada in at home, with proofs to export and to delete the account. */
async function signInProved(instance: Instance, home: given.Tenant) {
  const fresh = await instance.signIn(home.application.clientId, ADA);
  for (const purpose of ['account_export', 'account_deletion']) await prove(instance, fresh, { purpose });
  return fresh;
}

const RESERVED = {
  username: 'countess',
  email: ADA,
  status: 'active',
  roles: ['developer', 'user'],
  lastSeenAt: null,
  emailVerifiedAt: null,
  profile: {
    fullName: 'Imported Lovelace',
    givenName: 'Imported',
    familyName: 'Lovelace',
    avatarUrl: null,
    locale: null,
    timezone: 'Europe/London',
    languages: [{ code: 'en', level: 'NATIVE' }],
  },
};

const REDEEMED = {
  username: 'countess',
  roles: ['developer', 'user'],
  lastSeenAt: expect.any(String),
  emailVerifiedAt: isoTime(START),
  profile: {
    fullName: 'Ada Lovelace',
    givenName: 'Ada',
    familyName: 'Lovelace',
    avatarUrl: null,
    locale: 'en-GB',
    timezone: 'Europe/London',
    languages: [{ code: 'en', level: 'NATIVE' }],
  },
};

describe('the first sign-in to the workspace', () => {
  test('by code redeems all reservations, fills empty fields and notifies applications with a changed profile', async () => {
    const { instance, home, ada, application, load, shown } = await setUp();
    expect(await load()).toEqual({ email: ADA, outcome: 'created', userId: ada.userId });
    expect(await shown()).toMatchObject(RESERVED);
    const here = watch(instance, application);
    const there = watch(instance, home.application);
    const { userId, token } = await instance.signIn(application.clientId, ADA);
    expect(userId).toBe(ada.userId);
    expect(await shown()).toMatchObject(REDEEMED);
    const { json } = await instance.call('POST', '/api/v1/session', { token });
    expect(json).toMatchObject({ username: 'countess', name: 'Ada Lovelace', roles: ['developer', 'user'] });
    expect(here.events()).toEqual([
      {
        type: 'user.profile_updated',
        data: { userId, name: 'Ada Lovelace', categories: ['identity'], changed: ['givenName', 'locale'] },
      },
      { type: 'user.signed_in', data: expect.objectContaining({ userId, isNewUser: true }) },
    ]);
    expect(there.events()).toEqual([
      {
        type: 'user.profile_updated',
        data: {
          userId,
          name: 'Ada Lovelace',
          categories: ['identity', 'languages'],
          changed: ['familyName', 'timezone'],
        },
      },
    ]);
  });

  test('by passkey redeems the reservation', async () => {
    const { instance, home, ada, application, load, shown } = await setUp();
    // Only a passkey of the console works in every workspace.
    const { token } = await signInToConsole(instance, home);
    const { passkey, json: added } = await register(instance, token);
    expect(added.success).toBe(true);
    await load();
    const answer = await signInWith(instance, application.clientId, passkey);
    expect(problemOf(answer)).toEqual([200, 'ok']);
    expect(answer.json.data.userId).toBe(ada.userId);
    expect(await shown()).toMatchObject(REDEEMED);
  });

  test.each(['nobody', 'another tenant'])(
    'by a provider redeems the reservation of a person known to %s before',
    async (who) => {
      const scene = await createScene();
      const { instance, application } = scene;
      if (who !== 'nobody') {
        const home = await given.tenant(instance);
        await instance.signIn(home.application.clientId, ADA);
      }
      const reservedId = await given.reservation(instance, application, ADA, ROW);
      const landed = await scene.signIn({ sub: 'ada', email: ADA });
      const { userId } = await personOf(scene, landed);
      expect(userId).toBe(reservedId);
      const user = (await managing(instance, application)('GET', `/users/${userId}`)).json.data;
      expect(user).toMatchObject({ username: 'countess', roles: ['developer', 'user'], lastSeenAt: isoTime(START) });
      expect(user.profile).toMatchObject({ givenName: 'Imported', familyName: 'Lovelace' });
    },
  );

  test('to another of its applications redeems the reservation too, but does not count as seen in this one', async () => {
    const { instance, application, manage, load, shown } = await setUp();
    await load();
    const other = await instance.createApplication({ name: 'Other' });
    expect(await load()).toMatchObject({ outcome: 'already_member' });
    const bob = await instance.signIn(application.clientId, 'bob@example.com');
    await instance.signIn(other.clientId, ADA);
    expect(await shown()).toMatchObject({ ...REDEEMED, lastSeenAt: null });
    const { items } = (await manage('GET', '/users')).json.data;
    expect(items.map(({ userId }: { userId: string }) => userId)[0]).toBe(bob.userId);
    later(instance);
    await instance.signIn(application.clientId, ADA);
    expect((await shown()).lastSeenAt).toBe(isoTime(instance.clock.now()));
  });

  test('of a new person keeps the reserved profile, and emits no change of it', async () => {
    const { instance, application, manage } = await setUp();
    const userId = await given.reservation(instance, application, 'new@example.com', ROW);
    const before = (await manage('GET', `/users/${userId}`)).json.data;
    const here = watch(instance, application);
    expect((await instance.signIn(application.clientId, 'new@example.com')).userId).toBe(userId);
    const now = isoTime(instance.clock.now());
    expect((await manage('GET', `/users/${userId}`)).json.data).toEqual({
      ...before,
      lastSeenAt: now,
      emailVerifiedAt: now,
    });
    expect(here.events().map(({ type }) => type)).toEqual(['user.signed_in']);
  });

  test('redeems nothing when it is refused', async () => {
    const { instance, application, manage, load, ada } = await setUp();
    await load();
    await manage('POST', `/users/${ada.userId}/ban`);
    const { users: before } = await tables(instance);
    expect(problemOf(await instance.trySignIn(application.clientId, ADA))).toEqual([403, 'membership_blocked']);
    expect((await tables(instance))['users']).toEqual(before!);
    expect((await manage('GET', `/users/${ada.userId}`)).json.data.profile.givenName).toBe('Imported');
  });

  test('passes a closed gate, as any member does', async () => {
    const { instance, application, manage, load } = await setUp();
    await manage('POST', '/signin-gate', { body: { gate: 'closed' } });
    expect(problemOf(await instance.trySignIn(application.clientId, ADA))).toEqual([403, 'gate_closed']);
    await load();
    later(instance);
    expect((await instance.trySignIn(application.clientId, ADA)).status).toBe(200);
  });

  test('under a new address redeems the reservation of the old one', async () => {
    const { instance, home, ada, application, load, shown } = await setUp();
    await load();
    const fresh = await instance.signIn(home.application.clientId, ADA);
    expect((await changeEmail(instance, fresh, 'ada@new.example')).status).toBe(200);
    expect((await shown()).email).toBe(ADA);
    later(instance);
    expect((await instance.signIn(application.clientId, 'ada@new.example')).userId).toBe(ada.userId);
    expect(await shown()).toMatchObject({ ...REDEEMED, email: 'ada@new.example', emailVerifiedAt: expect.any(String) });
  });

  test('under a new address also takes over a reservation for that address', async () => {
    const { instance, home, ada, application, manage } = await setUp();
    const reserve = (email: string, role: string) =>
      given.reservation(instance, application, email, { roleSlugs: [role] });
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    await reserve(ADA, 'developer');
    const fresh = await instance.signIn(home.application.clientId, ADA);
    await changeEmail(instance, fresh, 'ada@new.example');
    const other = await reserve('ada@new.example', 'editor');
    expect(other).not.toBe(ada.userId);
    later(instance);
    await instance.signIn(application.clientId, 'ada@new.example');
    const { items } = (await manage('GET', '/users')).json.data;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ userId: ada.userId, roles: ['developer', 'editor', 'user'] });
  });
});

describe('a reservation', () => {
  test('is filled by a repeated import, and only its own application is notified', async () => {
    const { instance, home, ada, application, load, shown } = await setUp();
    await load({ profile: { givenName: 'First' } });
    const here = watch(instance, application);
    const there = watch(instance, home.application);
    expect((await load({ ...ROW, roleSlugs: ['developer'] })).outcome).toBe('already_member');
    expect((await shown()).profile).toMatchObject({ givenName: 'First', familyName: 'Lovelace' });
    expect(here.events().map(({ type }) => type)).toEqual([
      'user.profile_updated',
      'user.username_changed',
      'user.role_added',
    ]);
    expect(here.events()[0]!.data).toMatchObject({ userId: ada.userId, name: 'First Lovelace' });
    expect(there.events()).toEqual([]);
  });

  test('keeps its username from members and other reservations', async () => {
    const { application, instance, load, manage } = await setUp();
    await load();
    const rows = [{ email: 'eve@example.com', profile: { username: 'countess' } }];
    const { results } = (await manage('POST', '/users/bulk', { body: { users: rows } })).json.data;
    expect(results[0]).toEqual({
      email: 'eve@example.com',
      outcome: 'skipped',
      userId: null,
      error: 'username_taken:countess',
    });
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    expect(problemOf(await as(instance, eve)('PATCH', '/username', { username: 'countess' }))).toEqual([
      409,
      'conflict',
    ]);
  });

  test('is no membership to its person before their sign-in, and blocks no removal of a passkey', async () => {
    const { instance, application, home, load } = await setUp();
    await given.application(instance, application.id, { signinMethods: ['passkey'] });
    await load();
    // A session of the console has the widest access.
    const { token } = await signInToConsole(instance, home);
    const account = as(instance, { token });
    const { memberships } = (await account('GET', '')).json.data;
    expect(memberships.map(({ applicationId }: { applicationId: string }) => applicationId)).not.toContain(
      application.id,
    );
    for (const action of ['inactivate', 'leave', 'reactivate'])
      expect(problemOf(await account('POST', `/${action}`, { applicationId: application.id }))).toEqual([
        404,
        'not_found',
      ]);
    const roles = await instance.call('GET', `/api/me/roles?applicationId=${application.id}`, { token });
    expect(roles.status).toBe(404);
    const { json: added } = await register(instance, token);
    expect(problemOf(await account('DELETE', `/passkeys/${added.data.id}`))).toEqual([200, 'ok']);
  });

  test('is part of the account export, and is deleted with the account without an event', async () => {
    const { instance, ada, application, home, manage, load } = await setUp();
    await load();
    const fresh = await signInProved(instance, home);
    const { tables: exported } = (await as(instance, fresh)('GET', '/export')).json.data;
    const rows = exported.applicationUsers as { applicationId: string; reservedProfile: object }[];
    expect(rows.find(({ applicationId }) => applicationId === application.id)).toMatchObject({
      reservedEmail: ADA,
      reservedProfile: { givenName: 'Imported' },
      username: 'countess',
    });
    const here = watch(instance, application);
    instance.clock.advance(MINUTE);
    expect((await deleteAccount(instance, fresh, ADA)).status).toBe(200);
    expect(here.events()).toEqual([]);
    expect((await manage('GET', `/users/${ada.userId}`)).status).toBe(404);
    const stored = instance.sqlite.query(
      'SELECT count(*) AS n FROM application_users WHERE reserved_email IS NOT NULL',
    );
    expect(stored.get()).toEqual({ n: 0 });
  });

  test('of a workspace membership shows the invited address until its person signs in to the console', async () => {
    const { instance, home, ada } = await setUp();
    const members = async () =>
      (await instance.call('GET', '/api/workspace/members', { token: instance.workspaceKey })).json.data.items;
    const { json } = await instance.call('POST', '/api/workspace/members', {
      token: instance.workspaceKey,
      body: { email: ADA, role: 'admin' },
    });
    expect(json.data.userId).toBe(ada.userId);
    const fresh = await instance.signIn(home.application.clientId, ADA);
    await changeEmail(instance, fresh, 'ada@new.example');
    expect((await members()).at(-1)).toEqual(json.data);
    later(instance);
    await instance.signIn('console', 'ada@new.example');
    expect((await members()).at(-1)).toEqual({ ...json.data, email: 'ada@new.example' });
  });
});

test('an invitation as the only owner does not prevent the deletion of the account', async () => {
  const { instance, home, ada } = await setUp();
  const owner = await instance.signIn('console', 'owner@example.com');
  const made = await instance.call('POST', '/api/workspace/members', {
    token: owner.token,
    body: { email: ADA, role: 'owner' },
  });
  expect(made.status).toBe(200);
  instance.sqlite.run("DELETE FROM workspace_members WHERE user_id <> ? AND role = 'owner'", [ada.userId]);
  const fresh = await signInProved(instance, home);
  expect(problemOf(await as(instance, fresh)('POST', '/deletion'))).toEqual([200, 'ok']);
});
