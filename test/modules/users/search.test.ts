/** Users found by part of a name or address, by status, and by their grants. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { as, deleteAccount } from '../account/account.ts';
import { managing, pages } from './management.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const find = async (query: string) => {
    const { status, json } = await manage('GET', `/users?${query}`);
    expect(status).toBe(200);
    return json.data.items.map(({ email }: { email: string }) => email.split('@')[0]);
  };
  const join = async (name: string, profile: Record<string, string> = {}) => {
    const person = await instance.signIn(application.clientId, `${name}@example.com`);
    if (Object.keys(profile).length > 0) await as(instance, person)('PATCH', '/profile/identity', profile);
    instance.clock.advance(MINUTE);
    return person;
  };
  return { instance, application, manage, find, join };
}

describe('a search of users', () => {
  test('finds part of the e-mail, the name or the username in any case and script', async () => {
    const { instance, find, join } = await setUp();
    const ada = await join('ada', { givenName: 'Ada', familyName: 'Lovelace' });
    await as(instance, ada)('PATCH', '/username', { username: 'countess' });
    await join('mesut', { fullName: 'Mesut ÖZIL' });
    await join('bob');
    expect(await find('q=ADA%40')).toEqual(['ada']);
    expect(await find('q=a%20love')).toEqual(['ada']);
    expect(await find('q=OUNT')).toEqual(['ada']);
    expect(await find('q=%C3%B6zil')).toEqual(['mesut']);
    expect(await find('q=o%CC%88zil')).toEqual(['mesut']);
    expect(await find('q=example.com')).toEqual(['bob', 'mesut', 'ada']);
    for (const nothing of ['q=%25', 'q=_', 'q=nobody', 'q=%27%20OR%201%3D1']) expect(await find(nothing)).toEqual([]);
  });

  test('finds whatever letters a keyboard lacks, and several words in any order', async () => {
    const { instance, find, join } = await setUp();
    await join('theo', { fullName: 'Théo Dubois' });
    await join('ayse', { fullName: 'Ayşe Yılmaz' });
    await join('jurgen', { fullName: 'Jürgen Weiß-Schröder' });
    await join('lukasz', { fullName: 'Łukasz Sørensen' });
    await join('wang', { fullName: '王小芳' });
    await join('odys', { fullName: 'Οδυσσέας' });
    const noa = await join('noa', { fullName: 'Noa Cohen' });
    await as(instance, noa)('PATCH', '/username', { username: 'noa_cohen' });
    const found: readonly (readonly [string, string])[] = [
      ['theo dubois', 'theo'],
      ['DUBOIS théo', 'theo'],
      ['dubois example.com', 'theo'],
      ['ayse yilmaz', 'ayse'],
      ['AYŞE YILMAZ', 'ayse'],
      ['schroder', 'jurgen'],
      ['weiss', 'jurgen'],
      ['WEISS', 'jurgen'],
      ['lukasz sorensen', 'lukasz'],
      ['小芳', 'wang'],
      ['芳', 'wang'],
      ['ΟΔΥΣΣΕΑΣ', 'odys'],
      ['@noa_cohen', 'noa'],
      [noa.userId, 'noa'],
      [` ${noa.userId.toUpperCase()} `, 'noa'],
    ];
    // Nobody is indexed yet at first: the answers are the same.
    for (const isIndexed of [false, true]) {
      if (isIndexed) await instance.services.scheduler.runAll();
      for (const [q, name] of found) expect([q, await find(`q=${encodeURIComponent(q)}`)]).toEqual([q, [name]]);
      for (const q of ['theo nobody', 'dubois yilmaz', '%20', 'usr_00000000000000000000000000'])
        expect([q, await find(`q=${q}`)]).toEqual([q, []]);
    }
  });

  test('finds a person by what they are called now, the moment it changes, and nothing of a deleted one', async () => {
    const { instance, manage, find, join } = await setUp();
    const ada = await join('ada', { fullName: 'Ada Lovelace' });
    await instance.services.scheduler.runAll();
    const stored = () => JSON.stringify(instance.sqlite.query('SELECT * FROM member_search').all());
    expect(stored()).toContain('lovelace');
    await as(instance, ada)('PATCH', '/profile/identity', { fullName: 'Ada Byron' });
    expect(stored()).not.toContain('lovelace');
    for (const isIndexed of [false, true]) {
      if (isIndexed) await instance.services.scheduler.runAll();
      expect(await find('q=byron')).toEqual(['ada']);
      expect(await find('q=lovelace')).toEqual([]);
    }
    await manage('POST', '/users/bulk', {
      body: { users: [{ email: 'ida@example.com', profile: { fullName: 'Ida Rhodes' } }] },
    });
    await instance.services.scheduler.runAll();
    expect(await find('q=rhodes')).toEqual(['ida']);
    const { items } = (await manage('GET', '/users?q=rhodes')).json.data;
    await manage('DELETE', `/users/${items[0].userId}`);
    expect(stored()).not.toContain('rhodes');
    expect(await find('q=rhodes')).toEqual([]);
    expect((await deleteAccount(instance, ada, 'ada@example.com')).status).toBe(200);
    await instance.services.scheduler.runAll();
    expect(stored()).not.toContain('byron');
  });

  test('finds the members of an upgraded instance while they are entered into the index, and after that', async () => {
    const { instance, find, join } = await setUp();
    for (const name of ['ada', 'bob', 'eve']) await join(name);
    instance.sqlite.run('DELETE FROM member_search');
    instance.sqlite.run(
      "INSERT INTO long_works (id, kind, application_id, actor, data, cursor, done, total, created_at, updated_at) VALUES (?, 'users.enter_search', NULL, ?, '{}', '', 0, NULL, 0, 0)",
      ['wrk_00000000000000000000000000', JSON.stringify(SYSTEM_ACTOR)],
    );
    const entered = () =>
      instance.sqlite.query('SELECT count(*) AS n FROM member_search WHERE tokens IS NOT NULL').get();
    expect(await find('q=bob')).toEqual(['bob']);
    await instance.services.tasks.runOnce();
    expect(await find('q=bob')).toEqual(['bob']);
    await join('bobby');
    await instance.services.scheduler.runAll();
    expect(await find('q=bob')).toEqual(['bobby', 'bob']);
    // The owner and the key that the workspace starts with are members of the console.
    expect(entered()).toEqual({ n: 6 });
  });

  test('finds by name only for full access, since a name could be guessed letter by letter', async () => {
    const { instance, application, manage, join } = await setUp();
    await join('ada', { givenName: 'Ada', familyName: 'Lovelace' });
    const eve = await join('eve');
    await as(instance, eve)('PATCH', '/username', { username: 'lovely' });
    await manage('POST', '/users/bulk', {
      body: { users: [{ email: 'new@example.com', profile: { fullName: 'Lov Imported' } }] },
    });
    const { token } = await instance.createKey(application.id, { access: 'read' });
    const owner = await instance.signIn('console', 'owner@example.com');
    const invited = { email: 'mia@example.com', role: 'member' };
    await instance.call('POST', '/api/workspace/members', { token: owner.token, body: invited });
    const member = await instance.signIn('console', 'mia@example.com');
    for (const reader of [token, member.token]) {
      const found = async (q: string) =>
        (await manage('GET', `/users?q=${q}`, { token: reader })).json.data.items.map(
          ({ email }: { email: string }) => email,
        );
      expect(await found('lov')).toEqual(['eve@example.com']);
      expect(await found('ada@')).toEqual(['ada@example.com']);
      expect(await found('Lovelace')).toEqual([]);
      expect(await found('Imported')).toEqual([]);
    }
    const { items } = (await manage('GET', '/users?q=lov', { token: owner.token })).json.data;
    expect(items).toHaveLength(3);
  });

  test('filters by status, role and membership, and by all of them together', async () => {
    const { manage, find, join } = await setUp();
    const [ada, bob] = [await join('ada'), await join('bob')];
    await join('cleo');
    await manage('POST', '/memberships', { body: { slug: 'berlin', name: 'Berlin' } });
    await manage('PUT', `/users/${ada.userId}/roles`, { body: { slugs: ['developer'] } });
    await manage('PUT', `/users/${bob.userId}/roles`, { body: { slugs: ['developer', 'user'] } });
    await manage('PUT', `/users/${bob.userId}/memberships`, { body: { slugs: ['berlin'] } });
    await manage('POST', `/users/${bob.userId}/pause`);
    expect(await find('status=paused')).toEqual(['bob']);
    expect(await find('role=developer')).toEqual(['bob', 'ada']);
    expect(await find('role=developer&status=active')).toEqual(['ada']);
    expect(await find('membership=berlin&role=user&q=B')).toEqual(['bob']);
    expect(await find('membership=paris')).toEqual([]);
    expect((await manage('GET', '/users?status=asleep')).json.fields[0].path).toBe('status');
  });

  test('finds imported people by their imported data only', async () => {
    const { instance, manage, find } = await setUp();
    const home = await given.tenant(instance, 'Home');
    const ada = await instance.signIn(home.application.clientId, 'ada@example.com');
    await as(instance, ada)('PATCH', '/profile/identity', { fullName: 'Secret Name' });
    const profile = { fullName: 'Imported Name', username: 'kept' };
    await manage('POST', '/users/bulk', { body: { users: [{ email: 'ada@example.com', profile }] } });
    const code = async (email: string) => {
      const { json } = await as(instance, ada)('POST', '/proof');
      await as(instance, ada)('POST', '/proof/confirm', {
        challengeId: json.data.challengeId,
        code: instance.codeFor('ada@example.com'),
      });
      const change = await as(instance, ada)('POST', '/email', { email });
      const body = { challengeId: change.json.data.challengeId, code: instance.codeFor(email) };
      expect((await as(instance, ada)('POST', '/email/confirm', body)).status).toBe(200);
    };
    await code('moved@example.com');
    for (const query of ['q=ADA', 'q=imported', 'q=kept']) expect(await find(query)).toEqual(['ada']);
    for (const query of ['q=secret', 'q=moved']) expect(await find(query)).toEqual([]);
  });

  test('never finds keys or people of another application', async () => {
    const { instance, application, find } = await setUp();
    await instance.createKey(application.id);
    const other = await instance.createApplication({ name: 'Other' });
    await instance.signIn(other.clientId, 'eve@example.com');
    for (const query of ['q=invalid', 'q=key', 'q=eve', 'status=active']) expect(await find(query)).toEqual([]);
  });

  test('pages over all matches, with profiles on request', async () => {
    const { manage, join } = await setUp();
    for (const name of ['ada', 'bob', 'adam', 'adele', 'eve', 'nada']) await join(name);
    const found = await pages<{ email: string; profile: object }>(manage, '/users?q=AD&limit=2&include=profile');
    expect(found.map((page) => page.map(({ email }) => email.split('@')[0]))).toEqual([
      ['nada', 'adele'],
      ['adam', 'ada'],
    ]);
    expect(found[0]![0]!.profile).toMatchObject({ locale: null });
  });
});
