import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { createInstance, START } from '../../support/instance.ts';
import { workspaceMail } from '../../../src/mail/workspace-mail.ts';
import { userService } from '../../../src/modules/users/service.ts';
import { countingReader } from '../../support/database.ts';
import { BAD_CURSORS, managing, pages, people, tables } from './management.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  return { instance, application, manage: managing(instance, application) };
}

const userIds = (items: { userId: string }[]) => items.map(({ userId }) => userId);

const ENTRY = {
  externalId: null,
  userId: expect.any(String),
  username: null,
  email: 'ada@example.com',
  status: 'active',
  roles: ['user'],
  scopes: [],
  memberships: [],
  lastSeenAt: null,
  joinedAt: isoTime(START),
};

const PROFILE = {
  fullName: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  avatarUrl: null,
  locale: 'en-GB',
  timezone: 'Europe/London',
  languages: [{ code: 'en', level: 'NATIVE' }],
};

const ADA = {
  email: 'ada@example.com',
  profile: {
    givenName: 'Ada',
    familyName: 'Lovelace',
    locale: 'en-GB',
    timezone: 'Europe/London',
    languages: [{ code: 'en', level: 'NATIVE' }],
  },
};

describe('the list of users', () => {
  test('is empty at first', async () => {
    const { json } = await (await setUp()).manage('GET', '/users');
    expect(json).toEqual({ success: true, data: { items: [], nextCursor: null } });
  });

  test('begins with the user last seen; a verification counts once it is written', async () => {
    const { instance, application, manage } = await setUp();
    const signedIn = [];
    for (const name of ['ada', 'bob', 'cleo']) {
      signedIn.push(await instance.signIn(application.clientId, `${name}@example.com`));
      instance.clock.advance(MINUTE);
    }
    const [ada, bob, cleo] = signedIn.map(({ userId }) => userId);
    const order = async () => userIds((await manage('GET', '/users')).json.data.items);
    expect(await order()).toEqual([cleo!, bob!, ada!]);
    await instance.call('POST', '/api/v1/session', { token: signedIn[0]!.token });
    expect(await order()).toEqual([cleo!, bob!, ada!]);
    await instance.services.flushCounters();
    expect(await order()).toEqual([ada!, cleo!, bob!]);
    expect((await manage('GET', '/users')).json.data.items[0].lastSeenAt).toBe(isoTime(START + 3 * MINUTE));
  });

  test('pages without skipping or repeating anyone while people join, at the same instant or later', async () => {
    const { instance, manage } = await setUp();
    const first = await people(manage, ...Array.from({ length: 5 }, (_, index) => `early${index}@example.com`));
    instance.clock.advance(MINUTE);
    const second = await people(manage, ...Array.from({ length: 6 }, (_, index) => `late${index}@example.com`));
    const found = await pages<{ userId: string; lastSeenAt: string }>(manage, '/users?limit=2', async (page) => {
      await people(manage, `joins${page}@example.com`);
      instance.clock.advance(page % 2 === 0 ? 0 : MINUTE);
    });
    const listed = userIds(found.flat());
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toEqual(expect.arrayContaining([...first, ...second]));
    const times = found.flat().map(({ lastSeenAt }) => lastSeenAt);
    expect(times).toEqual([...times].sort().reverse());
    expect(found.slice(0, -1).every((items) => items.length === 2)).toBe(true);
  });

  test('gives an exactly full page a next cursor only if there is more', async () => {
    const { manage } = await setUp();
    await people(manage, 'ada@example.com', 'bob@example.com');
    expect((await manage('GET', '/users?limit=2')).json.data.nextCursor).toBeNull();
    expect((await manage('GET', '/users?limit=1')).json.data.nextCursor).toBeString();
  });

  test('has exactly the fields of an entry, and profiles only on request', async () => {
    const { manage } = await setUp();
    await manage('POST', '/users/bulk', { body: { users: [ADA] } });
    expect((await manage('GET', '/users')).json.data.items).toEqual([ENTRY]);
    expect((await manage('GET', '/users?include=profile')).json.data.items).toEqual([{ ...ENTRY, profile: PROFILE }]);
  });

  test('refuses profiles to read access', async () => {
    const { instance, application, manage } = await setUp();
    await manage('POST', '/users/bulk', { body: { users: [ADA] } });
    const { token } = await instance.createKey(application.id, { access: 'read' });
    const rows = await tables(instance);
    const refused = await manage('GET', '/users?include=profile', { token });
    expect([refused.status, refused.json.error]).toEqual([403, 'admin_scope_required']);
    expect(refused.text).not.toContain('ada@example.com');
    expect((await manage('GET', '/users', { token })).json.data.items).toEqual([ENTRY]);
    expect(await tables(instance)).toEqual(rows);
  });

  test('omits the principals of keys, which can still be read by id', async () => {
    const { instance, application, manage } = await setUp();
    await people(manage, 'ada@example.com');
    const { id } = await instance.createKey(application.id, { name: 'backend', roles: ['developer'] });
    const listed = await manage('GET', '/users');
    expect(listed.json.data.items).toHaveLength(1);
    const { userId } = (await manage('GET', '/api-keys')).json.data.items.find((key: { id: string }) => key.id === id);
    const detail = await manage('GET', `/users/${userId}`);
    expect(detail.status).toBe(200);
    expect(detail.json.data).toMatchObject({
      userId,
      kind: 'api_key',
      status: 'active',
      roles: ['developer'],
      apiKey: { id, name: 'backend', applicationId: application.id },
    });
    const rotated = (await manage('POST', `/api-keys/${id}/rotate`)).json.data;
    expect((await manage('GET', `/users/${userId}`)).json.data.apiKey.id).toBe(rotated.id);
    const reader = await instance.createKey(application.id, { access: 'read' });
    expect((await manage('GET', `/users/${userId}`, { token: reader.token })).json.data.apiKey).toBeUndefined();
    const [ada] = listed.json.data.items;
    expect((await manage('GET', `/users/${ada.userId}`)).json.data.apiKey).toBeUndefined();
  });

  test('contains nobody of another application', async () => {
    const { instance, manage } = await setUp();
    const other = managing(instance, await instance.createApplication({ name: 'Other' }));
    const [ada] = await people(manage, 'ada@example.com', 'both@example.com');
    const [both] = await people(other, 'both@example.com');
    expect(userIds((await other('GET', '/users')).json.data.items)).toEqual([both!]);
    const cursor = (await manage('GET', '/users?limit=1')).json.data.nextCursor;
    const behind = await other('GET', `/users?cursor=${cursor}`);
    expect(behind.status).toBe(200);
    expect(behind.text).not.toContain(ada!);
  });

  test.each(BAD_CURSORS)('refuses the cursor %j', async (cursor) => {
    const answer = await (await setUp()).manage('GET', `/users?cursor=${cursor}`);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_cursor']);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=x', 'limit'],
    ['include=addresses', 'include'],
    ['include=', 'include'],
  ])('refuses %s with its field', async (query, path) => {
    const answer = await (await setUp()).manage('GET', `/users?${query}`);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
  });
});

describe('one user', () => {
  test('is shown in full to full access, and without profile to read access', async () => {
    const { instance, application, manage } = await setUp();
    await manage('POST', '/users/bulk', {
      body: { users: [{ ...ADA, profile: { ...ADA.profile, username: 'ada' } }] },
    });
    const { userId } = (await manage('GET', '/users')).json.data.items[0];
    const detail = { ...ENTRY, userId, username: 'ada', kind: 'person', statusReason: null, emailVerifiedAt: null };
    expect((await manage('GET', `/users/${userId}`)).json).toEqual({
      success: true,
      data: { ...detail, profile: PROFILE, metadata: {} },
    });
    const { token } = await instance.createKey(application.id, { access: 'read' });
    expect((await manage('GET', `/users/${userId}`, { token })).json.data).toEqual(detail);
  });

  test('has a verified address after signing in', async () => {
    const { instance, application, manage } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    expect((await manage('GET', `/users/${userId}`)).json.data.emailVerifiedAt).toBe(isoTime(START));
  });
});

test('a page of many users with profiles takes as many statements as a page of two', async () => {
  const { instance, application, manage } = await setUp();
  await manage('POST', '/scopes', { body: { slug: 'read' } });
  const row = (index: number) => ({ ...ADA, email: `person${index}@example.com`, scopeSlugs: ['read'] });
  await manage('POST', '/users/bulk', { body: { users: Array.from({ length: 220 }, (_, index) => row(index)) } });
  const { reader, count } = countingReader(instance.db.reader);
  const users = userService({
    db: { ...instance.db, reader },
    clock: instance.clock,
    cdnUrl: () => '',
    baseUrl: () => '',
    mails: workspaceMail(0),
  });
  const counts = [];
  for (const limit of [2, 200]) {
    const before = count();
    const { items } = await users.list(application, { limit, include: 'profile' }, true);
    counts.push(count() - before);
    expect(items).toHaveLength(limit);
    for (const item of items) {
      expect([item.roles, item.scopes]).toEqual([['user'], ['read']]);
      expect(item.profile).toMatchObject({ languages: PROFILE.languages });
    }
  }
  expect(counts[1]).toBe(counts[0]!);
  expect(counts[0]).toBeLessThan(10);
});
