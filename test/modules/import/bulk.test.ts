import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { lastAudit, managing, people, tables, watch } from '../users/management.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const manage = managing(instance, application);
  const elsewhere = managing(instance, other);
  const post = (users: unknown) => manage('POST', '/users/bulk', { body: { users } });
  /** Imports rows that are expected to be accepted, and answers the data. */
  const load = async (...users: unknown[]) => (await post(users)).json.data;
  const profileOf = async (userId: string) => (await manage('GET', `/users/${userId}`)).json.data.profile;
  const count = (sql: string) => Object.values(instance.sqlite.query(sql).get() as Record<string, number>)[0];
  return { instance, application, other, manage, elsewhere, post, load, profileOf, count };
}

const PROFILE = {
  username: 'ada',
  givenName: 'Ada',
  familyName: 'Lovelace',
  fullName: 'Ada King',
  locale: 'en-GB',
  timezone: 'Europe/London',
  languages: [
    { code: 'en', level: 'NATIVE' },
    { code: 'fr', level: 'FLUENT' },
  ],
};

const SHOWN = {
  fullName: 'Ada King',
  givenName: 'Ada',
  familyName: 'Lovelace',
  avatarUrl: null,
  locale: 'en-GB',
  timezone: 'Europe/London',
  languages: PROFILE.languages,
};

/** Everything but the record of the call itself. */
async function withoutAudit(...args: Parameters<typeof tables>) {
  const { audit_records: _, ...rest } = await tables(...args);
  return rest;
}

describe('importing somebody new', () => {
  test('makes a user and a member with the whole profile, defaults and the named grants', async () => {
    const { manage, post } = await setUp();
    await manage('POST', '/scopes', { body: { slug: 'read' } });
    await manage('POST', '/scopes', { body: { slug: 'welcome', isDefault: true } });
    await manage('POST', '/memberships', { body: { slug: 'gold' } });
    const row = { roleSlugs: ['developer'], scopeSlugs: ['read'], membershipSlugs: ['gold'], profile: PROFILE };
    const answer = await post([{ email: ' Ada@Example.COM', ...row }]);
    const userId = answer.json.data.results[0].userId;
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        success: true,
        data: {
          summary: { requested: 1, created: 1, linked: 0, alreadyMember: 0, skipped: 0 },
          results: [{ email: 'ada@example.com', outcome: 'created', userId: expect.stringMatching(/^usr_/) }],
          unknownSlugs: { roles: [], scopes: [], memberships: [] },
        },
      },
    ]);
    expect((await manage('GET', `/users/${userId}`)).json.data).toEqual({
      userId,
      username: 'ada',
      email: 'ada@example.com',
      status: 'active',
      roles: ['developer', 'user'],
      scopes: ['read', 'welcome'],
      memberships: ['gold'],
      lastSeenAt: null,
      joinedAt: isoTime(START),
      kind: 'person',
      statusReason: null,
      emailVerifiedAt: null,
      profile: SHOWN,
    });
  });

  test('sends no mail, emits no event and is one audit record with the summary', async () => {
    const { instance, application, post, count } = await setUp();
    const before = watch(instance, application);
    const answer = await post([{ email: 'ada@example.com', profile: PROFILE }, { email: 'bob@example.com' }]);
    await instance.services.mail.runOnce();
    expect(count('SELECT count(*) FROM mails')).toBe(0);
    expect(before.events()).toEqual([]);
    expect(before.kinds()).toEqual(['user.imported']);
    expect(lastAudit(instance, 'user.imported')).toMatchObject({
      actor_type: 'key',
      request_id: answer.headers.get('x-request-id'),
      detail: JSON.stringify(answer.json.data.summary),
    });
  });

  test('marks no address as verified, not even one that is imported again; signing in does', async () => {
    const { instance, application, manage, load } = await setUp();
    await load({ email: 'ada@example.com' });
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    expect((await manage('GET', `/users/${userId}`)).json.data.emailVerifiedAt).toBeNull();
    const signedIn = await instance.signIn(application.clientId, 'ada@example.com');
    expect(signedIn.userId).toBe(userId);
    expect((await manage('GET', `/users/${userId}`)).json.data.emailVerifiedAt).toBe(isoTime(START));
  });

  test('writes profile values in their canonical form and takes null and blank ones as absent', async () => {
    const { load, profileOf } = await setUp();
    const { results } = await load(
      {
        email: 'ada@example.com',
        profile: { givenName: '  Ada ', locale: 'DE-at', languages: [{ code: 'PT-br', level: 'BASIC' }] },
      },
      {
        email: 'bob@example.com',
        profile: { username: ' ', givenName: null, fullName: '', locale: ' ', timezone: '' },
      },
    );
    expect(await profileOf(results[0].userId)).toMatchObject({
      givenName: 'Ada',
      locale: 'de-AT',
      languages: [{ code: 'pt-BR', level: 'BASIC' }],
    });
    expect(await profileOf(results[1].userId)).toEqual({
      fullName: null,
      givenName: null,
      familyName: null,
      avatarUrl: null,
      locale: null,
      timezone: null,
      languages: [],
    });
  });
});

describe('importing somebody known', () => {
  test('from another application links them, and leaves what they are there alone', async () => {
    const { instance, other, manage, elsewhere, load } = await setUp();
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    const [userId] = await people(elsewhere, 'ada@example.com');
    const there = (await elsewhere('GET', `/users/${userId}`)).json.data;
    const before = watch(instance, other);
    const { summary, results } = await load({
      email: 'ADA@example.com',
      roleSlugs: ['editor'],
      profile: { username: 'ada' },
    });
    expect(summary).toEqual({ requested: 1, created: 0, linked: 1, alreadyMember: 0, skipped: 0 });
    expect(results).toEqual([{ email: 'ada@example.com', outcome: 'linked', userId }]);
    expect((await manage('GET', `/users/${userId}`)).json.data).toMatchObject({
      username: 'ada',
      roles: ['editor', 'user'],
    });
    expect((await elsewhere('GET', `/users/${userId}`)).json.data).toEqual(there);
    expect([...before.events(), ...before.kinds()]).toEqual([]);
  });

  test('a second time changes nothing at all', async () => {
    const { instance, manage, load } = await setUp();
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    const rows = [
      { email: 'ada@example.com', roleSlugs: ['editor'], profile: PROFILE },
      { email: 'bob@example.com', profile: { username: 'bob' } },
    ];
    const first = await load(...rows);
    instance.clock.advance(MINUTE);
    const before = await withoutAudit(instance);
    const second = await load(...rows);
    expect(second.summary).toEqual({ requested: 2, created: 0, linked: 0, alreadyMember: 2, skipped: 0 });
    expect(second.results).toEqual(first.results.map((result: object) => ({ ...result, outcome: 'already_member' })));
    expect(await withoutAudit(instance)).toEqual(before);
  });

  test.each(['givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const)(
    'fills a blank %s and never overwrites one',
    async (field) => {
      const { load, profileOf } = await setUp();
      const others = { givenName: 'X', familyName: 'Y', fullName: 'Z', locale: 'fr', timezone: 'UTC' };
      const { [field]: _, ...filled } = others;
      const [{ userId }] = (await load({ email: 'ada@example.com', profile: filled })).results;
      await load({ email: 'ada@example.com', profile: PROFILE });
      expect(await profileOf(userId)).toMatchObject({ ...filled, [field]: PROFILE[field] });
      await load({ email: 'ada@example.com', profile: others });
      expect(await profileOf(userId)).toMatchObject({ ...filled, [field]: PROFILE[field] });
    },
  );

  test('gives languages only to who has none', async () => {
    const { load, profileOf } = await setUp();
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    await load({ email: 'ada@example.com', profile: { languages: [{ code: 'de', level: 'BASIC' }] } });
    await load({ email: 'ada@example.com', profile: { languages: PROFILE.languages } });
    expect((await profileOf(userId)).languages).toEqual([{ code: 'de', level: 'BASIC' }]);
  });

  test('a username is kept by who has one and given, with its event, to a member who has none', async () => {
    const { instance, application, manage, load } = await setUp();
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    const before = watch(instance, application);
    await load({ email: 'ada@example.com', profile: { username: 'Ada.L' } });
    const told = [{ type: 'user.username_changed', data: { userId, username: 'ada.l', previousUsername: null } }];
    expect(before.events()).toEqual(told);
    const { results } = await load({ email: 'ada@example.com', profile: { username: 'countess' } });
    expect(results[0]).toEqual({ email: 'ada@example.com', outcome: 'already_member', userId });
    expect((await manage('GET', `/users/${userId}`)).json.data.username).toBe('ada.l');
    expect(before.events()).toEqual(told);
  });

  test('who has a username is not refused for naming one that somebody else holds', async () => {
    const { load } = await setUp();
    await load(
      { email: 'ada@example.com', profile: { username: 'ada' } },
      { email: 'bob@example.com', profile: { username: 'bob' } },
    );
    const { results } = await load({ email: 'bob@example.com', profile: { username: 'ada', givenName: 'Bob' } });
    expect(results[0].outcome).toBe('already_member');
  });

  test('grants are added and never removed, with events that tell only what was added', async () => {
    const { instance, application, manage, load } = await setUp();
    for (const kind of ['roles', 'scopes', 'memberships'])
      for (const slug of ['a', 'b', 'c']) await manage('POST', `/${kind}`, { body: { slug } });
    const row = { roleSlugs: ['a'], scopeSlugs: ['a'], membershipSlugs: ['a'] };
    const [{ userId }] = (await load({ email: 'ada@example.com', ...row })).results;
    const before = watch(instance, application);
    await load({
      email: 'ada@example.com',
      roleSlugs: ['c', 'a', 'c'],
      scopeSlugs: ['b', 'c'],
      membershipSlugs: ['b'],
    });
    expect(before.events()).toEqual([
      { type: 'user.role_added', data: { userId, roles: ['c'], current: ['a', 'c', 'user'] } },
      { type: 'user.scope_added', data: { userId, scopes: ['b', 'c'], current: ['a', 'b', 'c'] } },
      { type: 'user.membership_changed', data: { userId, memberships: ['a', 'b'], added: ['b'], removed: [] } },
    ]);
    expect(before.kinds()).toEqual(['user.imported']);
    await load({ email: 'ada@example.com', roleSlugs: [], scopeSlugs: ['a'] });
    expect(before.events()).toHaveLength(3);
    expect((await manage('GET', `/users/${userId}`)).json.data).toMatchObject({
      roles: ['a', 'c', 'user'],
      scopes: ['a', 'b', 'c'],
      memberships: ['a', 'b'],
    });
  });

  test('a default taken from a member is not given back', async () => {
    const { manage, load } = await setUp();
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    await manage('PUT', `/users/${userId}/roles`, { body: { slugs: [] } });
    await load({ email: 'ada@example.com', profile: { givenName: 'Ada' } });
    expect((await manage('GET', `/users/${userId}`)).json.data.roles).toEqual([]);
  });

  test.each(['ban', 'pause'])('does not undo a %s', async (action) => {
    const { manage, load } = await setUp();
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    const { status } = (await manage('POST', `/users/${userId}/${action}`)).json.data;
    const { results } = await load({ email: 'ada@example.com' });
    expect(results[0].outcome).toBe('already_member');
    expect((await manage('GET', `/users/${userId}`)).json.data.status).toBe(status);
  });
});

describe('a row that fails', () => {
  test.each([
    ['no-address', 'email_invalid', {}],
    ['', 'email_invalid', {}],
    ['ada@localhost', 'email_invalid', {}],
    ['ada@example.com', 'username_invalid', { username: 'a' }],
    ['ada@example.com', 'username_invalid', { username: 'admin' }],
    ['ada@example.com', 'username_invalid', { username: 'ada..l' }],
    ['ada@example.com', 'name_invalid', { fullName: 'Ada\u202eevil' }],
    ['ada@example.com', 'name_invalid', { givenName: 'x'.repeat(101) }],
    ['ada@example.com', 'locale_invalid', { locale: 'de_AT' }],
    ['ada@example.com', 'timezone_invalid', { timezone: 'Mars/Olympus' }],
    ['ada@example.com', 'timezone_invalid', { timezone: '+01:00' }],
    ['ada@example.com', 'language_invalid', { languages: [{ code: 'not a tag', level: 'BASIC' }] }],
  ])('%j is skipped as %s, writes nothing and lets the others through', async (email, error, profile) => {
    const { load, count } = await setUp();
    const people = count("SELECT count(*) FROM users WHERE kind = 'person'")!;
    const { summary, results } = await load(
      { email: 'first@example.com' },
      { email, profile: { givenName: 'X', ...profile } },
      { email: 'last@example.com' },
    );
    expect(summary).toEqual({ requested: 3, created: 2, linked: 0, alreadyMember: 0, skipped: 1 });
    expect(results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['created', 'skipped', 'created']);
    expect(results[1]).toEqual({ email, outcome: 'skipped', userId: null, error });
    expect(count("SELECT count(*) FROM users WHERE kind = 'person'")).toBe(people + 2);
  });

  test('for a username that somebody else holds says which, in its normal form, and changes nothing of the person', async () => {
    const { instance, manage, load } = await setUp();
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    const [, bob] = (
      await load({ email: 'ada@example.com', profile: { username: 'ada' } }, { email: 'bob@example.com' })
    ).results;
    const before = await withoutAudit(instance);
    const profile = { username: ' ＡDA ', givenName: 'X', languages: PROFILE.languages };
    const { summary, results } = await load(
      { email: 'bob@example.com', roleSlugs: ['editor'], profile },
      { email: 'cleo@example.com', roleSlugs: ['editor'], profile },
    );
    expect(summary).toMatchObject({ requested: 2, skipped: 2 });
    expect(results).toEqual([
      { email: 'bob@example.com', outcome: 'skipped', userId: bob.userId, error: 'username_taken:ada' },
      { email: 'cleo@example.com', outcome: 'skipped', userId: null, error: 'username_taken:ada' },
    ]);
    expect(await withoutAudit(instance)).toEqual(before);
  });

  test('does not fail for a username that is held in another application', async () => {
    const { elsewhere, load } = await setUp();
    await elsewhere('POST', '/users/bulk', {
      body: { users: [{ email: 'ada@example.com', profile: { username: 'ada' } }] },
    });
    const { results } = await load({ email: 'bob@example.com', profile: { username: 'ada' } });
    expect(results[0].outcome).toBe('created');
  });

  test('names a deleted user, and brings nobody back', async () => {
    const { instance, application, other, manage, load } = await setUp();
    const { userId: ada } = await instance.signIn(application.clientId, 'ada@example.com');
    await manage('POST', `/users/${ada}/delete`);
    const { userId: bob } = await instance.signIn(other.clientId, 'bob@example.com');
    await instance.services.mail.runOnce();
    await given.person(instance, bob, { deletedAt: 1 });
    const before = await withoutAudit(instance);
    const { results } = await load(
      { email: 'ada@example.com', roleSlugs: ['developer'], profile: PROFILE },
      { email: 'bob@example.com', profile: PROFILE },
    );
    expect(results).toEqual([
      { email: 'ada@example.com', outcome: 'skipped', userId: ada, error: 'user_deleted' },
      { email: 'bob@example.com', outcome: 'skipped', userId: bob, error: 'user_deleted' },
    ]);
    expect(await withoutAudit(instance)).toEqual(before);
  });

  test('names an archived address, which never becomes a new account', async () => {
    const { instance, application, load } = await setUp();
    const { userId: ada } = await instance.signIn(application.clientId, 'new@example.com');
    await instance.services.mail.runOnce();
    await given.alias(instance, 'old@example.com', ada);
    const before = await withoutAudit(instance);
    const { results } = await load({ email: 'Old@example.com' });
    expect(results).toEqual([{ email: 'old@example.com', outcome: 'skipped', userId: null, error: 'email_archived' }]);
    expect(await withoutAudit(instance)).toEqual(before);
  });

  test('is one whose address stands for a key, of whatever application', async () => {
    const { instance, application, other, load } = await setUp();
    const own = await instance.createKey(application.id);
    const foreign = await instance.createKey(other.id);
    const before = await withoutAudit(instance);
    const rows = [own, foreign].map(({ id }) => ({
      email: `${id}@api-key.invalid`,
      roleSlugs: ['developer'],
      profile: { fullName: 'Mine' },
    }));
    const { results } = await load(...rows);
    expect(results.map(({ outcome, error }: Record<string, string>) => [outcome, error])).toEqual([
      ['skipped', 'email_invalid'],
      ['skipped', 'email_invalid'],
    ]);
    expect(await withoutAudit(instance)).toEqual(before);
  });
});

describe('within one batch', () => {
  test('an address that comes twice is one user; the later row fills what the first left blank', async () => {
    const { load, profileOf, count } = await setUp();
    const { summary, results } = await load(
      { email: 'ada@example.com', profile: { givenName: 'Ada' } },
      { email: 'ADA@example.com', profile: { givenName: 'Eve', familyName: 'Lovelace' } },
    );
    expect(summary).toEqual({ requested: 2, created: 1, linked: 0, alreadyMember: 1, skipped: 0 });
    expect(results[1]).toEqual({ ...results[0], outcome: 'already_member' });
    expect(await profileOf(results[0].userId)).toMatchObject({ givenName: 'Ada', familyName: 'Lovelace' });
    expect(count("SELECT count(*) FROM users WHERE email = 'ada@example.com'")).toBe(1);
  });

  test('a username goes to the first who names it', async () => {
    const { load } = await setUp();
    const { results } = await load(
      { email: 'ada@example.com', profile: { username: 'ada' } },
      { email: 'eve@example.com', profile: { username: 'ADA' } },
      { email: 'ada@example.com', profile: { username: 'ada' } },
    );
    expect(results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'created',
      'skipped',
      'already_member',
    ]);
    expect(results[1].error).toBe('username_taken:ada');
  });

  test('results stand in the order of their rows', async () => {
    const { load } = await setUp();
    const emails = ['c@example.com', 'broken', 'a@example.com', 'b@example.com'];
    const { results } = await load(...emails.map((email) => ({ email })));
    expect(results.map(({ email }: { email: string }) => email)).toEqual(emails);
  });

  test('slugs that do not exist are reported once each, by kind, and the rest of their rows is done', async () => {
    const { manage, elsewhere, load } = await setUp();
    await elsewhere('POST', '/roles', { body: { slug: 'foreign' } });
    await manage('POST', '/scopes', { body: { slug: 'read' } });
    const { summary, results, unknownSlugs } = await load(
      { email: 'ada@example.com', roleSlugs: ['zeta', 'developer', 'foreign'], scopeSlugs: ['read', 'zeta'] },
      { email: 'bob@example.com', roleSlugs: ['zeta', 'read'], membershipSlugs: ['Ünknown', ''] },
    );
    expect(unknownSlugs).toEqual({
      roles: ['foreign', 'read', 'zeta'],
      scopes: ['zeta'],
      memberships: ['', 'Ünknown'],
    });
    expect(summary.created).toBe(2);
    const detail = (await manage('GET', `/users/${results[0].userId}`)).json.data;
    expect(detail).toMatchObject({ roles: ['developer', 'user'], scopes: ['read'], memberships: [] });
    expect((await manage('GET', '/roles')).json.data.items).toHaveLength(2);
  });

  test('five hundred rows are done, and are one record', async () => {
    const { instance, application, post, count } = await setUp();
    const before = watch(instance, application);
    const users = Array.from({ length: 500 }, (_, index) => ({
      email: `person${index}@example.com`,
      roleSlugs: ['developer'],
      profile: { ...PROFILE, username: `person${index}` },
    }));
    const answer = await post(users);
    expect([answer.status, answer.json.data.summary.created]).toEqual([200, 500]);
    expect(count('SELECT count(*) FROM application_users WHERE username IS NOT NULL')).toBe(500);
    expect(before.kinds()).toEqual(['user.imported']);
    expect(JSON.parse(lastAudit(instance, 'user.imported')['detail'] as string)).toEqual(answer.json.data.summary);
  });

  test('rows far apart see one another as neighbours do', async () => {
    const { manage, load } = await setUp();
    await manage('POST', '/scopes', { body: { slug: 'read' } });
    const between = Array.from({ length: 60 }, (_, index) => ({ email: `person${index}@example.com` }));
    const { summary, results, unknownSlugs } = await load(
      { email: 'ada@example.com', roleSlugs: ['nowhere'], profile: { username: 'ada' } },
      ...between,
      { email: 'ADA@example.com', roleSlugs: ['nowhere', 'away'], scopeSlugs: ['read'] },
      { email: 'eve@example.com', profile: { username: 'ada' } },
      { email: 'person3@example.com', scopeSlugs: ['read'] },
      { email: 'person3@example.com', scopeSlugs: ['read'], profile: { givenName: 'Three' } },
    );
    expect(summary).toEqual({ requested: 65, created: 61, linked: 0, alreadyMember: 3, skipped: 1 });
    expect(results[61]).toEqual({ ...results[0], outcome: 'already_member' });
    expect(results[62].error).toBe('username_taken:ada');
    expect(unknownSlugs.roles).toEqual(['away', 'nowhere']);
    const detail = (await manage('GET', `/users/${results[63].userId}`)).json.data;
    expect(detail).toMatchObject({ scopes: ['read'], profile: { givenName: 'Three' } });
  });

  test('somebody who joins in it and comes again is given what the later rows name', async () => {
    const { instance, application, manage, load } = await setUp();
    for (const slug of ['a', 'b', 'c']) await manage('POST', '/scopes', { body: { slug, isDefault: slug === 'a' } });
    const before = watch(instance, application);
    const email = 'ada@example.com';
    const { results } = await load(
      { email, scopeSlugs: ['b'] },
      { email, scopeSlugs: ['a', 'c'] },
      { email, scopeSlugs: ['c', 'b'] },
    );
    const { userId } = results[0];
    expect((await manage('GET', `/users/${userId}`)).json.data.scopes).toEqual(['a', 'b', 'c']);
    expect(before.events()).toEqual([
      { type: 'user.scope_added', data: { userId, scopes: ['c'], current: ['a', 'b', 'c'] } },
    ]);
  });
});

test('a long list cut off half-way leaves what is done, on record; sent again, the rest is done', async () => {
  const { instance, application, post, count } = await setUp();
  const mend = given.brokenWrites(instance, 'INSERT ON users', "NEW.email = 'p70@example.com'");
  const before = watch(instance, application);
  const rows = Array.from({ length: 120 }, (_, index) => ({
    email: `p${index}@example.com`,
    roleSlugs: ['developer'],
  }));
  const answer = await post(rows);
  expect([answer.status, answer.json.error]).toEqual([500, 'internal']);
  const done = count(
    "SELECT count(*) FROM application_users m JOIN users u ON u.id = m.user_id WHERE u.email LIKE 'p%'",
  )!;
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(70);
  expect(JSON.parse(lastAudit(instance, 'user.imported')['detail'] as string)).toMatchObject({ created: done });
  mend();
  const again = await post(rows);
  expect(again.json.data.summary).toEqual({
    requested: 120,
    created: 120 - done,
    linked: 0,
    alreadyMember: done,
    skipped: 0,
  });
  expect(before.events()).toEqual([]);
  expect(before.kinds()).toEqual(['user.imported', 'user.imported']);
});

describe('a batch that is refused as a whole writes nothing', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com` }));
  test.each([
    ['501 rows', rows(501), 'users'],
    ['no list', 'ada@example.com', 'users'],
    ['nothing', undefined, 'users'],
    ['a row without an address', [...rows(1), {}], 'users.1.email'],
    ['a row that is no object', [...rows(1), 'ada@example.com'], 'users.1'],
    ['an unknown field', [...rows(1), { email: 'a@example.com', colour: 'red' }], 'users.1.colour'],
    ['an unknown field of a profile', [{ email: 'a@example.com', profile: { shoe: 'x' } }], 'users.0.profile.shoe'],
    ['a list of the wrong kind', [{ email: 'a@example.com', roleSlugs: 'editor' }], 'users.0.roleSlugs'],
    [
      'an unknown level',
      [{ email: 'a@example.com', profile: { languages: [{ code: 'en', level: 'GOOD' }] } }],
      'users.0.profile.languages.0.level',
    ],
  ])('%s', async (_what, users, path) => {
    const { instance, post } = await setUp();
    const before = await tables(instance);
    const answer = await post(users);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(before);
  });

  test('what fails half-way', async () => {
    const { instance, post } = await setUp();
    given.brokenWrites(instance, 'INSERT ON users', "NEW.email = 'p3@example.com'");
    const before = await tables(instance);
    const answer = await post(rows(5));
    expect([answer.status, answer.json.error]).toEqual([500, 'internal']);
    expect(answer.text).not.toContain('disk full');
    expect(await tables(instance)).toEqual(before);
  });
});
