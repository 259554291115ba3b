import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';
import { managing, people, tables } from '../users/management.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const check = (usernames: unknown) => manage('POST', '/usernames/check', { body: { usernames } });
  const claim = async (email: string, username: string) =>
    (await manage('POST', '/users/bulk', { body: { users: [{ email, profile: { username } }] } })).json.data.results[0];
  return { instance, application, manage, check, claim };
}

describe('the username check', () => {
  test('separates available, taken and invalid names in canonical form, and counts them', async () => {
    const { check, claim } = await setUp();
    await claim('ada@example.com', 'ada');
    const answer = await check([' Grace ', 'ＡDA', 'admin', 'x', 'grace']);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        success: true,
        data: {
          results: [
            { input: ' Grace ', username: 'grace', status: 'available' },
            { input: 'ＡDA', username: 'ada', status: 'taken' },
            { input: 'admin', username: 'admin', status: 'format_invalid' },
            { input: 'x', username: 'x', status: 'format_invalid' },
            { input: 'grace', username: 'grace', status: 'available' },
          ],
          summary: { requested: 5, available: 2, taken: 1, formatInvalid: 2 },
        },
      },
    ]);
  });

  test('writes nothing, not even an audit record', async () => {
    const { instance, check } = await setUp();
    const before = await tables(instance);
    await check(['ada', 'admin', '']);
    expect(await tables(instance)).toEqual(before);
  });

  test('covers its own application only', async () => {
    const { instance, check, claim } = await setUp();
    await claim('ada@example.com', 'ada');
    const other = managing(instance, await instance.createApplication({ name: 'Other' }));
    const answer = await other('POST', '/usernames/check', { body: { usernames: ['ada'] } });
    expect(answer.json.data.results[0].status).toBe('available');
    expect((await check(['ada'])).json.data.results[0].status).toBe('taken');
  });

  test('counts the username of a deleted or banned member as taken', async () => {
    const { instance, application, manage, check, claim } = await setUp();
    const ada = await claim('ada@example.com', 'ada');
    await instance.signIn(application.clientId, 'ada@example.com');
    const bob = await claim('bob@example.com', 'bob');
    await manage('POST', `/users/${ada.userId}/delete`);
    await manage('POST', `/users/${bob.userId}/ban`);
    expect((await check(['ada', 'bob'])).json.data.summary).toMatchObject({ taken: 2 });
  });

  test('accepts an empty list and up to five hundred names', async () => {
    const { check } = await setUp();
    const many = await check(Array.from({ length: 500 }, (_, index) => `person${index}`));
    expect([many.status, many.json.data.summary.available]).toEqual([200, 500]);
    expect((await check([])).json.data).toEqual({
      results: [],
      summary: { requested: 0, available: 0, taken: 0, formatInvalid: 0 },
    });
  });

  test.each([
    [Array(501).fill('ada'), 'usernames'],
    ['ada', 'usernames'],
    [undefined, 'usernames'],
    [['ada', 5], 'usernames.1'],
    [['ada', null], 'usernames.1'],
  ])('refuses an invalid list and names the position', async (usernames, path) => {
    const { instance, check } = await setUp();
    const before = await tables(instance);
    const answer = await check(usernames);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(before);
  });

  test('needs full access', async () => {
    const { instance, application, manage } = await setUp();
    const { token } = await instance.createKey(application.id, { access: 'read' });
    const answer = await manage('POST', '/usernames/check', { token, body: { usernames: ['ada'] } });
    expect([answer.status, answer.json.error]).toEqual([403, 'admin_scope_required']);
  });
});

const NAMES = [
  'ada',
  'ADA LOVELACE',
  'Ada.Lovelace',
  'ada..lovelace',
  'ada-',
  '_ada',
  '9lives',
  'x'.repeat(30),
  'x'.repeat(31),
  'ab',
  'abc',
  'admin',
  'Ｒｏｏｔ',
  'ﬁnn',
  'адa',
  'ada\u200d',
  `ada${' '.repeat(197)}`,
];

test.each(NAMES)('the check and the import give the same verdict on %j', async (name) => {
  const { manage, check, claim } = await setUp();
  const [{ status, username }] = (await check([name])).json.data.results;
  const { outcome, error, userId } = await claim('ada@example.com', name);
  if (status === 'format_invalid') {
    expect([outcome, error]).toEqual(['skipped', 'username_invalid']);
    return;
  }
  expect([status, outcome]).toEqual(['available', 'created']);
  expect((await manage('GET', `/users/${userId}`)).json.data.username).toBe(username);
  expect((await check([name])).json.data.results[0].status).toBe('taken');
  const [eve] = await people(manage, 'eve@example.com');
  expect(await claim('eve@example.com', name)).toEqual({
    email: 'eve@example.com',
    outcome: 'skipped',
    userId: eve,
    error: `username_taken:${username}`,
  });
});

test('a long name is judged as a whole, not by its beginning', async () => {
  const { check } = await setUp();
  const [result] = (await check([`ada${' '.repeat(300)}lovelace`])).json.data.results;
  expect(result.status).toBe('format_invalid');
});
