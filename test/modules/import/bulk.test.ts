/** Rows of an import: new people, changes to known people, and rows that fail alone. */
import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { START } from '../../support/instance.ts';
import { lastAudit, people, watch } from '../users/management.ts';
import { PROFILE, setUp, SHOWN, withoutAudit } from './importing.ts';

describe('importing a new person', () => {
  test('creates a user and a member with the profile, the defaults and the given grants', async () => {
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
      externalId: null,
      metadata: {},
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

  test('accepts roles, scopes and memberships as aliases of roleSlugs, scopeSlugs and membershipSlugs', async () => {
    const { manage, load } = await setUp();
    await manage('POST', '/scopes', { body: { slug: 'read' } });
    await manage('POST', '/memberships', { body: { slug: 'gold' } });
    const { results, unknownSlugs } = await load({
      email: 'ada@example.com',
      roles: ['developer', 'nosuch'],
      scopes: ['read'],
      memberships: ['gold'],
    });
    expect((await manage('GET', `/users/${results[0].userId}`)).json.data).toMatchObject({
      roles: ['developer', 'user'],
      scopes: ['read'],
      memberships: ['gold'],
    });
    expect(unknownSlugs).toEqual({ roles: ['nosuch'], scopes: [], memberships: [] });
  });

  test('sends no mail, emits no event and writes one audit record with the summary', async () => {
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

  test('verifies no address, not even when imported twice, but signing in does', async () => {
    const { instance, application, manage, load } = await setUp();
    await load({ email: 'ada@example.com' });
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    expect((await manage('GET', `/users/${userId}`)).json.data.emailVerifiedAt).toBeNull();
    const signedIn = await instance.signIn(application.clientId, 'ada@example.com');
    expect(signedIn.userId).toBe(userId);
    expect((await manage('GET', `/users/${userId}`)).json.data.emailVerifiedAt).toBe(isoTime(START));
  });

  test('stores profile values in canonical form, and ignores null and blank ones', async () => {
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

describe('importing a known person', () => {
  test('links a person from another application, and does not change their membership there', async () => {
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

  test('changes nothing when repeated', async () => {
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
    'fills an empty %s and never overwrites one',
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

  test('adds languages only to a person who has none', async () => {
    const { load, profileOf } = await setUp();
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    await load({ email: 'ada@example.com', profile: { languages: [{ code: 'de', level: 'BASIC' }] } });
    await load({ email: 'ada@example.com', profile: { languages: PROFILE.languages } });
    expect((await profileOf(userId)).languages).toEqual([{ code: 'de', level: 'BASIC' }]);
  });

  test('keeps an existing username, and sets a missing one with its event', async () => {
    const { instance, application, manage, load } = await setUp();
    const [{ userId }] = (await load({ email: 'ada@example.com' })).results;
    const before = watch(instance, application);
    await load({ email: 'ada@example.com', profile: { username: 'Ada.L' } });
    const expected = [{ type: 'user.username_changed', data: { userId, username: 'ada.l', previousUsername: null } }];
    expect(before.events()).toEqual(expected);
    const { results } = await load({ email: 'ada@example.com', profile: { username: 'countess' } });
    expect(results[0]).toEqual({ email: 'ada@example.com', outcome: 'already_member', userId });
    expect((await manage('GET', `/users/${userId}`)).json.data.username).toBe('ada.l');
    expect(before.events()).toEqual(expected);
  });

  test('ignores a taken username in a row for a person who already has one', async () => {
    const { load } = await setUp();
    await load(
      { email: 'ada@example.com', profile: { username: 'ada' } },
      { email: 'bob@example.com', profile: { username: 'bob' } },
    );
    const { results } = await load({ email: 'bob@example.com', profile: { username: 'ada', givenName: 'Bob' } });
    expect(results[0].outcome).toBe('already_member');
  });

  test('adds grants and never removes any, with events for the added ones only', async () => {
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

  test('does not restore a default grant that was taken from a member', async () => {
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
    ['ada@example.com', 'field_invalid:profile.fullName', { fullName: 'Ada\u202eevil' }],
    ['ada@example.com', 'field_invalid:profile.givenName', { givenName: 'x'.repeat(101) }],
    ['ada@example.com', 'locale_invalid', { locale: 'de_AT' }],
    ['ada@example.com', 'timezone_invalid', { timezone: 'Mars/Olympus' }],
    ['ada@example.com', 'timezone_invalid', { timezone: '+01:00' }],
    ['ada@example.com', 'language_invalid', { languages: [{ code: 'not a tag', level: 'BASIC' }] }],
  ])('%j is skipped as %s, writes nothing and does not affect other rows', async (email, error, profile) => {
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

  const OK = { email: 'ada@example.com' };
  const profile = (values: object) => ({ ...OK, profile: values });
  const long = 'x'.repeat(5000);
  test.each([
    ['no object', 'ada@example.com', 'row_invalid'],
    ['null', null, 'row_invalid'],
    ['a list', [OK], 'row_invalid'],
    ['no address', {}, 'email_invalid'],
    ['an address that is no text', { email: 5 }, 'email_invalid'],
    ['an endless address', { email: `${long}@example.com` }, 'email_invalid'],
    ['an unknown field', { ...OK, colour: 'red' }, 'field_unknown:colour'],
    ['an unknown field with an endless name', { ...OK, [long]: 1 }, `field_unknown:${'x'.repeat(100)}`],
    ['an unknown field of half a letter', { ...OK, '\ud83d': 1 }, 'field_unknown:\ufffd'],
    ['an unknown field of the profile', profile({ shoe: 'x' }), 'field_unknown:profile.shoe'],
    [
      'an unknown field of a language',
      profile({ languages: [{ code: 'en', level: 'BASIC', x: 1 }] }),
      'field_unknown:profile.languages.0.x',
    ],
    ['a profile that is no object', { ...OK, profile: 'x' }, 'field_invalid:profile'],
    ['an endless username', profile({ username: long }), 'username_invalid'],
    ['a username that is no text', profile({ username: 5 }), 'username_invalid'],
    ['an endless given name', profile({ givenName: long }), 'field_invalid:profile.givenName'],
    ['an endless family name', profile({ familyName: long }), 'field_invalid:profile.familyName'],
    ['an endless full name', profile({ fullName: long }), 'field_invalid:profile.fullName'],
    ['a full name that is no text', profile({ fullName: ['Ada'] }), 'field_invalid:profile.fullName'],
    ['an endless locale', profile({ locale: long }), 'locale_invalid'],
    ['an endless time zone', profile({ timezone: long }), 'timezone_invalid'],
    ['languages that are no list', profile({ languages: 'en' }), 'language_invalid'],
    ['too many languages', profile({ languages: Array(51).fill({ code: 'en', level: 'BASIC' }) }), 'language_invalid'],
    ['a language without a level', profile({ languages: [{ code: 'en' }] }), 'language_invalid'],
    ['an unknown level', profile({ languages: [{ code: 'en', level: 'GOOD' }] }), 'language_invalid'],
    ['slugs that are no list', { ...OK, roleSlugs: 'editor' }, 'field_invalid:roleSlugs'],
    ['an endless slug', { ...OK, scopeSlugs: ['a', long] }, 'field_invalid:scopeSlugs.1'],
    ['too many slugs', { ...OK, memberships: Array(101).fill('a') }, 'field_invalid:memberships'],
    ['a list of slugs under both its names', { ...OK, roles: ['a'], roleSlugs: [] }, 'field_repeated:roles'],
    ['the same of scopes', { ...OK, scopes: [], scopeSlugs: ['a'] }, 'field_repeated:scopes'],
    ['the same of groups', { ...OK, memberships: [], membershipSlugs: [] }, 'field_repeated:memberships'],
  ])('because of %s is skipped alone, and its error names the field', async (_, row, error) => {
    const { load, count } = await setUp();
    const people = count("SELECT count(*) FROM users WHERE kind = 'person'")!;
    const { summary, results, unknownSlugs } = await load({ email: 'first@example.com' }, row, {
      email: 'last@example.com',
    });
    expect(summary).toEqual({ requested: 3, created: 2, linked: 0, alreadyMember: 0, skipped: 1 });
    expect(results[1]).toEqual({ email: expect.any(String), outcome: 'skipped', userId: null, error });
    expect(unknownSlugs).toEqual({ roles: [], scopes: [], memberships: [] });
    expect(count("SELECT count(*) FROM users WHERE kind = 'person'")).toBe(people + 2);
  });

  test('because of a taken username names it in canonical form, and changes nothing', async () => {
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

  test('is not caused by a username of another application', async () => {
    const { elsewhere, load } = await setUp();
    await elsewhere('POST', '/users/bulk', {
      body: { users: [{ email: 'ada@example.com', profile: { username: 'ada' } }] },
    });
    const { results } = await load({ email: 'bob@example.com', profile: { username: 'ada' } });
    expect(results[0].outcome).toBe('created');
  });

  test('names a deleted user and does not restore them', async () => {
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

  test('names the address of an API key as invalid, in any application', async () => {
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
