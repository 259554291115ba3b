import { describe, expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { createPeople, INVALID, LONG, refused, SILENCE, watch } from './people.ts';

const PATH = '/username';
const TAKEN = { status: 409, error: 'conflict', fields: [] };

describe('a username', () => {
  test('is claimed in normal form, changed, and released with null', async () => {
    const { asAda, envelope } = await createPeople();
    const { status, json } = await asAda('PATCH', PATH, { username: ' ＡDA.Lovelace ' });
    expect([status, json]).toEqual([200, { success: true, data: { username: 'ada.lovelace' } }]);
    expect((await envelope()).username).toBe('ada.lovelace');
    expect((await asAda('PATCH', PATH, { username: 'ada' })).json.data).toEqual({ username: 'ada' });
    expect((await envelope()).username).toBe('ada');
    expect((await asAda('PATCH', PATH, { username: null })).json.data).toEqual({ username: null });
    expect((await envelope()).username).toBeNull();
  });

  test('belongs to the application of the session; other applications keep theirs', async () => {
    const { asAda, as, adaInForum, envelope } = await createPeople();
    await asAda('PATCH', PATH, { username: 'ada' });
    await as(adaInForum.token)('PATCH', PATH, { username: 'countess' });
    expect((await envelope()).username).toBe('ada');
    expect((await envelope(adaInForum.token)).username).toBe('countess');
  });

  test('is a conflict in any spelling if it is taken in the application, and free elsewhere', async () => {
    const { instance, asAda, asBob, as, adaInForum } = await createPeople();
    await asBob('PATCH', PATH, { username: 'bob' });
    for (const username of ['bob', ' BOB ', 'ｂｏｂ'])
      expect(await refused(instance, () => asAda('PATCH', PATH, { username }))).toEqual(TAKEN);
    expect((await as(adaInForum.token)('PATCH', PATH, { username: 'bob' })).status).toBe(200);
  });

  test('can be checked first in normal form without a write; one’s own is available', async () => {
    const { asAda, asBob, as, adaInForum, envelope } = await createPeople();
    await asBob('PATCH', PATH, { username: 'bob' });
    await asAda('PATCH', PATH, { username: 'ada' });
    const check = async (call: typeof asAda, username: string) =>
      (await call('GET', `${PATH}/check?${new URLSearchParams({ username })}`)).json.data;
    expect(await check(asAda, ' ＢOB ')).toEqual({ username: 'bob', status: 'taken' });
    expect(await check(asAda, 'ada')).toEqual({ username: 'ada', status: 'available' });
    expect(await check(asAda, 'Countess')).toEqual({ username: 'countess', status: 'available' });
    expect((await check(asAda, 'admin')).status).toBe('format_invalid');
    expect((await check(as(adaInForum.token), 'bob')).status).toBe('available');
    expect((await envelope()).username).toBe('ada');
  });

  test('stays taken by a banned or former member, and is free once it is released', async () => {
    const { instance, shop, asAda, asBob, bob } = await createPeople();
    await asBob('PATCH', PATH, { username: 'bob' });
    for (const status of ['banned', 'left', 'deleted'] as const) {
      await given.member(instance, shop.id, bob.userId, { status });
      expect((await asAda('PATCH', PATH, { username: 'bob' })).status).toBe(409);
    }
    await given.member(instance, shop.id, bob.userId, { status: 'active' });
    await asBob('PATCH', PATH, { username: null });
    expect((await asAda('PATCH', PATH, { username: 'bob' })).status).toBe(200);
  });

  test.each([
    '',
    ' ',
    'ab',
    'x'.repeat(31),
    '1ada',
    'ada..l',
    'ada-',
    'admin',
    'ROOT',
    'a b c',
    'аda',
    '__proto__',
    '<b>ada</b>',
  ])('cannot be %j, and the error states the rules', async (username) => {
    const { instance, asAda } = await createPeople();
    const sent = username.length > 8 ? username : undefined;
    expect(await refused(instance, () => asAda('PATCH', PATH, { username }), sent)).toEqual(INVALID('username'));
    const { json } = await asAda('PATCH', PATH, { username });
    expect(json.fields[0].message).toContain('3 to 30 of a-z');
  });

  test.each(['ada\0', 'a\ud800da'])('cannot be the invalid Unicode text %j', async (username) => {
    const { instance, asAda } = await createPeople();
    expect(await refused(instance, () => asAda('PATCH', PATH, { username }))).toEqual(INVALID('username'));
  });

  test.each([[{}], [{ username: 5 }], [{ username: ['ada'] }], [{ username: { x: 1 } }]])(
    'is required if the body is %j',
    async (body) => {
      const { instance, asAda } = await createPeople();
      expect(await refused(instance, () => asAda('PATCH', PATH, body))).toEqual(INVALID('username'));
    },
  );

  test('cannot be 64 KiB long', async () => {
    const { instance, asAda } = await createPeople();
    expect(await refused(instance, () => asAda('PATCH', PATH, { username: LONG }), LONG)).toEqual(INVALID('username'));
  });

  test('follows the same rules in the check and in the import', async () => {
    const { instance, shop, asAda } = await createPeople();
    const names = ['ada', 'Ada.L', 'ab', 'admin', 'a--b', '９ada', 'ﬁnn', 'x'.repeat(30), 'x'.repeat(31), 'ada_'];
    const { json } = await instance.call('POST', `/api/applications/${shop.id}/usernames/check`, {
      token: instance.workspaceKey,
      body: { usernames: names },
    });
    const claimed = [];
    for (const username of names) {
      const answer = await asAda('PATCH', PATH, { username });
      claimed.push({
        input: username,
        ...(answer.status === 200
          ? { username: answer.json.data.username, status: 'available' }
          : { username: expect.any(String), status: 'format_invalid' }),
      });
    }
    expect(json.data.results).toEqual(claimed);
  });
});

describe('a change of username', () => {
  test('is sent to that application only, with the former name, and recorded without either', async () => {
    const people = await createPeople();
    const { asAda, ada, shop } = people;
    const since = watch(people);
    for (const username of ['ada', 'lovelace', null]) await asAda('PATCH', PATH, { username });
    const expectedEvents = (username: string | null, previousUsername: string | null) => ({
      type: 'user.username_changed',
      data: { userId: ada.userId, username, previousUsername },
    });
    expect(since.events()).toEqual({
      ...SILENCE,
      shop: [expectedEvents('ada', null), expectedEvents('lovelace', 'ada'), expectedEvents(null, 'lovelace')],
    });
    const record = {
      kind: 'account.username_changed',
      applicationId: shop.id,
      userId: ada.userId,
      targetId: null,
      detail: null,
    };
    expect(since.audits()).toEqual([record, record, record]);
  });

  test('a change to the same name is silent', async () => {
    const people = await createPeople();
    await people.asAda('PATCH', PATH, { username: 'ada' });
    const since = watch(people);
    expect((await people.asAda('PATCH', PATH, { username: 'ADA' })).json.data).toEqual({ username: 'ada' });
    await people.asBob('PATCH', PATH, { username: null });
    expect([since.events(), since.audits()]).toEqual([SILENCE, []]);
  });

  test('succeeds for one of two concurrent requests and is a conflict for the other', async () => {
    const { asAda, asBob } = await createPeople();
    const answers = await Promise.all([asAda, asBob].map((as) => as('PATCH', PATH, { username: 'both' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('is a conflict without a change if only the database index refuses it', async () => {
    const { instance, asAda, bob } = await createPeople();
    // A concurrent claim between the check and the change, simulated in SQL.
    instance.sqlite.run(
      `CREATE TRIGGER faster BEFORE UPDATE OF username ON application_users WHEN NEW.user_id <> '${bob.userId}' BEGIN
         UPDATE application_users SET username = NEW.username WHERE user_id = '${bob.userId}';
       END`,
    );
    expect(await refused(instance, () => asAda('PATCH', PATH, { username: 'both' }))).toEqual(TAKEN);
  });
});
