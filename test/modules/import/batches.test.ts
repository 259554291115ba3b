/** Batches of an import: rows that affect one another, interrupted lists, and refusals of a whole batch. */
import { describe, expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { lastAudit, tables, watch } from '../users/management.ts';
import { PROFILE, setUp } from './importing.ts';

describe('rows of one batch', () => {
  test('with the same address create one user, and later rows fill empty fields', async () => {
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

  test('with the same username give it to the first row', async () => {
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

  test('have their results in the order of the rows', async () => {
    const { load } = await setUp();
    const emails = ['c@example.com', 'broken', 'a@example.com', 'b@example.com'];
    const { results } = await load(...emails.map((email) => ({ email })));
    expect(results.map(({ email }: { email: string }) => email)).toEqual(emails);
  });

  test('report unknown slugs once each, by kind, and are otherwise imported', async () => {
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

  test('may number five hundred, and write one audit record', async () => {
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

  test('affect one another even when they are far apart', async () => {
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

  test('for one new member add the grants of later rows', async () => {
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

test('an import that fails midway keeps and records its rows, and a repetition imports the rest', async () => {
  const { instance, application, post, count } = await setUp();
  const repair = given.brokenWrites(instance, 'INSERT ON users', "NEW.email = 'p70@example.com'");
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
  repair();
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

describe('a batch that is refused as a whole', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ email: `p${index}@example.com` }));
  test.each([
    ['501 rows', rows(501), 'users'],
    ['no list', 'ada@example.com', 'users'],
    ['nothing', undefined, 'users'],
  ])('writes nothing for %s', async (_what, users, path) => {
    const { instance, post } = await setUp();
    const before = await tables(instance);
    const answer = await post(users);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(before);
  });

  test('writes nothing when a short list fails midway', async () => {
    const { instance, post } = await setUp();
    given.brokenWrites(instance, 'INSERT ON users', "NEW.email = 'p3@example.com'");
    const before = await tables(instance);
    const answer = await post(rows(5));
    expect([answer.status, answer.json.error]).toEqual([500, 'internal']);
    expect(answer.text).not.toContain('disk full');
    expect(await tables(instance)).toEqual(before);
  });
});
