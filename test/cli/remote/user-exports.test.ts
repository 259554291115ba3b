/** `gatehouse users import --from`: exports of other services, with their ids, names, roles and bans. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SOURCE_NAMES } from '@/cli/remote/user-exports/sources.ts';
import { oneServer, type Person } from './scene.ts';

const FOLDER = resolve(import.meta.dir, '../../fixtures/user-exports');

async function oneShop() {
  const scene = await oneServer();
  const shop = await scene.instance.createApplication({ slug: 'shop' });
  for (const slug of ['editor', 'billing-admin']) await scene.person.manage(['roles', 'create', slug]);
  await scene.person.manage(['groups', 'create', 'staff-berlin']);
  return { ...scene, shop };
}

interface Exported {
  readonly email: string;
  readonly status: string;
}

async function exported(person: Person): Promise<Map<string, Exported>> {
  const { out } = await person.manage(['users', 'export', '--profile']);
  const users = out.trim().split('\n').filter(Boolean);
  return new Map(users.map((line) => JSON.parse(line) as Exported).map((user) => [user.email, user]));
}

const importFrom = (person: Person, from: string, file: string, ...more: string[]) =>
  person.manage(['users', 'import', '--from', from, join(FOLDER, file), ...more]);

const ADA = { username: 'ada', profile: { givenName: 'Ada', familyName: 'Lovelace' } };

describe('an export is imported with ids, names, roles and metadata', () => {
  test('of Clerk, from its dashboard', async () => {
    const { person } = await oneShop();
    const ran = await importFrom(person, 'clerk', 'clerk.csv');
    expect([ran.exitCode, ran.out]).toEqual([0, '3 created, 0 linked, 0 there already, 0 skipped.\n']);
    expect(ran.err).toBe(
      'Left out, without an e-mail address: user_2XfqKv9rTbY5dM1ZfU4wOpXyE6g\nUsernames not allowed here, left out: admin\n',
    );
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({ ...ADA, externalId: 'user_2XfqGn4hYkQ0aJ8WcR1sLmTvB3d' });
    expect(users.get('grace@example.com')).toMatchObject({ profile: { givenName: 'Grace "Amazing"' } });
    expect(JSON.stringify([...users.values()])).not.toContain('$2a$');
  });

  test('of Clerk, from its API', async () => {
    const { person } = await oneShop();
    const ran = await importFrom(person, 'clerk', 'clerk.json');
    expect([ran.exitCode, ran.err]).toEqual([0, '']);
    expect(ran.out).toBe('2 created, 0 linked, 0 there already, 0 skipped.\n1 banned here, as there.\n');
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({
      ...ADA,
      status: 'active',
      roles: ['editor', 'user'],
      metadata: { plan: 'pro', stripe: 'cus_1', unsafe_metadata: { theme: 'dark' } },
    });
    expect(users.get('mallory@example.com')).toMatchObject({ status: 'banned' });
    expect(users.has('old@example.com')).toBe(false);
  });

  test('of Auth0, as JSON lines, compressed as it comes', async () => {
    const { person } = await oneShop();
    const file = join(person.home, 'auth0.json.gz');
    writeFileSync(file, Bun.gzipSync(await Bun.file(join(FOLDER, 'auth0.jsonl')).bytes()));
    const ran = await person.manage(['users', 'import', '--from', 'auth0', file]);
    expect(ran.out).toBe('2 created, 0 linked, 0 there already, 0 skipped.\n1 banned here, as there.\n');
    expect(ran.err).toBe('Left out, without an e-mail address: sms|65a1f0c2b4d3e5f601234568\n');
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({
      username: 'ada',
      externalId: 'auth0|65a1f0c2b4d3e5f601234567',
      roles: ['billing-admin', 'editor', 'user'],
      profile: { ...ADA.profile, fullName: 'Ada Lovelace' },
      metadata: { plan: 'pro', user_metadata: { theme: 'dark' } },
    });
    expect(users.get('grace@example.com')).toMatchObject({ status: 'banned', profile: { fullName: null } });
  });

  test('of Auth0, as CSV of its extension', async () => {
    const { person } = await oneShop();
    await importFrom(person, 'auth0', 'auth0.csv');
    expect((await exported(person)).get('ada@example.com')).toMatchObject({
      externalId: 'auth0|65a1f0c2b4d3e5f601234567',
      roles: ['editor', 'user'],
      profile: ADA.profile,
      metadata: { plan: 'pro' },
    });
  });

  test.each(['firebase.json', 'firebase.csv'])('of Firebase: %s', async (file) => {
    const { person } = await oneShop();
    const ran = await importFrom(person, 'firebase', file);
    expect(ran.out).toBe('2 created, 0 linked, 0 there already, 0 skipped.\n1 banned here, as there.\n');
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({
      externalId: 'Zk3nVqT8mXgYwR5uPbLcD1sEfHj2',
      status: 'active',
      roles: ['editor', 'user'],
      profile: { fullName: 'Ada Lovelace' },
      metadata: { plan: 'pro' },
    });
    expect(users.get('grace@example.com')).toMatchObject({ status: 'banned' });
  });

  test('of Supabase, with what users wrote themselves apart', async () => {
    const { person } = await oneShop();
    const ran = await importFrom(person, 'supabase', 'supabase.csv');
    expect(ran.out).toBe('2 created, 0 linked, 0 there already, 0 skipped.\n1 banned here, as there.\n');
    expect(ran.err).toBe(
      'Left out, without an e-mail address: 7b4d8e30-9c76-4fac-9e43-5a3b2d9c1f32\nLeft out, deleted there: 8c5e9f41-0d87-40bd-8f54-6b4c3e0d2043\n',
    );
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({
      externalId: '5f2b6c1e-7a54-4d8a-9c21-3e1f0b7a9d10',
      roles: ['editor', 'user'],
      profile: { fullName: 'Ada Lovelace' },
      metadata: { plan: 'pro', user_metadata: { theme: 'dark' } },
    });
    expect(users.get('grace@example.com')).toMatchObject({ status: 'banned', profile: { fullName: 'Grace Hopper' } });
  });

  test('of Keycloak, with groups', async () => {
    const { person } = await oneShop();
    const ran = await importFrom(person, 'keycloak', 'keycloak.json');
    expect(ran.err).toBe('Left out, a service account: 7b4d8e30-9c76-4fac-9e43-5a3b2d9c1f32\n');
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({
      ...ADA,
      roles: ['editor', 'user'],
      memberships: ['staff-berlin'],
      profile: { ...ADA.profile, locale: 'de' },
      metadata: { plan: 'pro', tags: ['a', 'b'] },
    });
    expect(users.get('grace@example.com')).toMatchObject({ status: 'banned', username: null });
  });

  test.each(['better-auth.csv', 'better-auth.json'])('of Better Auth: %s', async (file) => {
    const { person } = await oneShop();
    const ran = await importFrom(person, 'better-auth', file);
    expect([ran.exitCode, ran.err]).toEqual([0, '']);
    const users = await exported(person);
    expect(users.get('ada@example.com')).toMatchObject({
      username: 'ada',
      externalId: 'Zk3nVqT8mXgYwR5uPbLcD1sEfHj2kLmN',
      roles: ['editor', 'user'],
      profile: { fullName: 'Ada Lovelace' },
    });
    // A ban that has ended there is none here.
    expect(users.get('grace@example.com')?.status ?? 'banned').toBe('banned');
    expect(users.get('kay@example.com')?.status ?? 'active').toBe('active');
  });
});

test('people sign in with a code afterwards, and a banned one is refused', async () => {
  const { instance, person, shop } = await oneShop();
  await importFrom(person, 'clerk', 'clerk.json');
  const { token } = await instance.signIn(shop.clientId, 'ada@example.com');
  const verdict = await instance.call('POST', '/api/v1/verify', {
    token: instance.workspaceKey,
    body: { token, include: ['externalId', 'metadata'] },
  });
  expect(verdict.json.data).toMatchObject({
    externalId: 'user_2XfqGn4hYkQ0aJ8WcR1sLmTvB3d',
    roles: ['editor', 'user'],
    metadata: { plan: 'pro' },
  });
  const refused = await instance.trySignIn(shop.clientId, 'mallory@example.com');
  expect([refused.status, refused.json.error]).toEqual([403, 'membership_blocked']);
});

test('a second import changes nothing, and says with --json whom it left out', async () => {
  const { person } = await oneShop();
  await importFrom(person, 'auth0', 'auth0.jsonl');
  const before = await exported(person);
  const again = (await importFrom(person, 'auth0', 'auth0.jsonl', '--json')).json();
  expect(again).toMatchObject({
    summary: { requested: 2, created: 0, alreadyMember: 2, skipped: 0 },
    banned: 0,
    leftOut: [{ id: 'sms|65a1f0c2b4d3e5f601234568', reason: 'without an e-mail address' }],
    lostUsernames: [],
  });
  expect(await exported(person)).toEqual(before);
});

test('an unknown role is named and not given', async () => {
  const { person } = await oneServer();
  await person.manage(['apps', 'create', 'Shop']);
  expect((await importFrom(person, 'keycloak', 'keycloak.json')).err).toContain(
    'Unknown roles, not given: editor\nUnknown groups, not given: staff-berlin\n',
  );
});

describe('a file that cannot be read imports nobody', () => {
  test.each([
    ['clerk', 'u.csv', 'first_name,primary_email_address\nAda,ada@example.com\n', 'line 2, id: is missing'],
    ['clerk', 'u.csv', 'id,first_name\na,"A\nB"\n,x\n', 'line 4, id: is missing'],
    ['clerk', 'u.csv', 'id\na,b\n', 'line 2: has 2 columns, where an export of Clerk has 1'],
    ['clerk', 'u.csv', 'id,public_metadata\na,{x\n', 'line 2, public_metadata: is no JSON'],
    ['clerk', 'u.json', '[{"id":"a","email_addresses":[{"email_address":7}]}]', null],
    ['clerk', 'u.json', '[\n{"id":"a","banned":"perhaps"}\n]', 'user 1, banned: is neither true nor false'],
    ['clerk', 'u.json', '[\n{"id":"a","public_metadata":{"role":7}}\n]', 'user 1, public_metadata.role: is neither'],
    ['clerk', 'u.json', '[\n{"id":"a"},\n7\n]', 'user 2: is no object'],
    ['clerk', 'u.json', '[\n{"id":\n]', 'line 3, column 1 is no JSON'],
    ['auth0', 'u.json', '{"user_id":"a"}\n{"email":"x@example.com"}\n', 'line 2, user_id: is missing'],
    ['auth0', 'u.json', '{"user_id":"a"}\n{user_id:"a"}\n', 'line 2 is no JSON'],
    [
      'firebase',
      'u.json',
      '{"users":[{"localId":"a","customAttributes":"{"}]}',
      'user 1, customAttributes: is no JSON',
    ],
    ['firebase', 'u.json', '{\n"users":7}', 'users: is no list'],
    ['supabase', 'u.json', '[{"id":"a","banned_until":"soon"}]', 'user 1, banned_until: is no time'],
    [
      'keycloak',
      'u.json',
      '{\n"realm":"shop"\n}',
      'it has no users. An export by its console has no users: use "kc.sh',
    ],
    ['keycloak', 'u.json', '[{"id":"a","realmRoles":[7]}]', 'user 1, realmRoles: is no list of texts'],
    ['better-auth', 'u.json', '[{"id":"a","email":7e9,"role":["user"]}]', 'user 1, role: is no text'],
    ['better-auth', 'u.json', '', 'it has no users'],
  ])('%s %s %p', async (from, name, text, problem) => {
    const { person } = await oneShop();
    const file = join(person.home, name);
    writeFileSync(file, text);
    const ran = await person.manage(['users', 'import', '--from', from, file]);
    if (problem === null) return expect(ran.err).toContain('skipped  7  email_invalid');
    expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining(problem)]);
    expect(ran.err).toContain(`${name} cannot be imported as an export of `);
    expect((await exported(person)).size).toBe(0);
  });

  test('nor does an unknown service, which is answered with those there are', async () => {
    const { person } = await oneShop();
    const ran = await person.manage(['users', 'import', '--from', 'okta', 'u.csv']);
    expect(ran.exitCode).toBe(2);
    for (const name of SOURCE_NAMES) expect(ran.err).toContain(name);
  });
});
