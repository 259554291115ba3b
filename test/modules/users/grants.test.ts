import { describe, expect, test } from 'bun:test';
import { MINUTE } from '../../../src/core/clock.ts';
import { createInstance, START } from '../../support/instance.ts';
import { lastAudit, managing, people, tables, watch } from './management.ts';

const KINDS = [
  { kind: 'roles', family: 'role', column: 'roles_updated_at' },
  { kind: 'scopes', family: 'scope', column: 'scopes_updated_at' },
  { kind: 'memberships', family: 'membership', column: 'memberships_updated_at' },
] as const;

describe.each(KINDS)('setting the $kind of a user', ({ kind, family, column }) => {
  async function setUp() {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const manage = managing(instance, application);
    for (const slug of ['a', 'b', 'c']) await manage('POST', `/${kind}`, { body: { slug } });
    const [userId] = await people(manage, 'ada@example.com');
    const set = (slugs: unknown) => manage('PUT', `/users/${userId}/${kind}`, { body: { slugs } });
    await set([]);
    return { instance, application, manage, userId: userId!, set };
  }

  test('accepts them under the name of their kind and as slugs, and names that field in errors', async () => {
    const { manage, userId, set } = await setUp();
    const put = (body: unknown) => manage('PUT', `/users/${userId}/${kind}`, { body });
    expect((await put({ [kind]: ['b', 'a'] })).json.data.slugs).toEqual(['a', 'b']);
    expect((await set(['c'])).json.data.slugs).toEqual(['c']);
    const fields = async (body: unknown) => {
      const { status, json } = await put(body);
      expect([status, json.error]).toEqual([400, 'invalid_request']);
      return json.fields.map(({ path }: { path: string }) => path);
    };
    expect(await fields({ [kind]: ['nothing'] })).toEqual([`${kind}.0`]);
    expect(await fields({ slugs: ['nothing'] })).toEqual(['slugs.0']);
    expect(await fields({ slugs: ['a'], [kind]: ['a'] })).toEqual(['slugs']);
    expect(await fields({})).toEqual([kind]);
    expect(await fields({ [kind === 'roles' ? 'scopes' : 'roles']: ['a'] })).toHaveLength(1);
    expect((await put({ [kind]: [] })).json.data.slugs).toEqual([]);
  });

  /** The events of one replacement. */
  function expectedEvents(userId: string, added: string[], removed: string[], current: string[]) {
    if (kind === 'memberships')
      return [{ type: 'user.membership_changed', data: { userId, memberships: current, added, removed } }];
    const event = (change: string, slugs: string[]) =>
      slugs.length === 0 ? [] : [{ type: `user.${family}_${change}`, data: { userId, [kind]: slugs, current } }];
    return [...event('added', added), ...event('removed', removed)];
  }

  test('replaces the current set; the event lists additions, removals and the full set', async () => {
    const { instance, application, manage, userId, set } = await setUp();
    const steps: [slugs: string[], added: string[], removed: string[]][] = [
      [['b', 'a'], ['a', 'b'], []],
      [['c', 'b'], ['c'], ['a']],
      [['b'], [], ['c']],
      [[], [], ['b']],
    ];
    for (const [slugs, added, removed] of steps) {
      const before = watch(instance, application);
      const current = [...slugs].sort();
      const answer = await set(slugs);
      expect([answer.status, answer.json]).toEqual([200, { success: true, data: { slugs: current } }]);
      expect(before.events()).toEqual(expectedEvents(userId, added, removed, current));
      expect(before.kinds()).toEqual([`${family}.assigned`]);
      expect(lastAudit(instance, `${family}.assigned`)).toMatchObject({
        user_id: userId,
        actor_type: 'key',
        request_id: answer.headers.get('x-request-id'),
        detail: JSON.stringify({ added, removed }),
      });
      expect((await manage('GET', `/users/${userId}`)).json.data[kind]).toEqual(current);
    }
  });

  test('writes nothing without a difference, even if slugs are reordered or repeated', async () => {
    const { instance, set } = await setUp();
    await set(['a', 'b']);
    instance.clock.advance(MINUTE);
    const rows = await tables(instance);
    for (const slugs of [
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b', 'a', 'a'],
    ])
      expect((await set(slugs)).json.data).toEqual({ slugs: ['a', 'b'] });
    expect(await tables(instance)).toEqual(rows);
  });

  test('records the time of the change for this kind only', async () => {
    const { instance, userId, set } = await setUp();
    instance.clock.advance(MINUTE);
    await set(['a']);
    const row = instance.sqlite.query('SELECT * FROM application_users WHERE user_id = ?').get(userId);
    const times = Object.fromEntries(KINDS.map((entry) => [entry.column, START]));
    expect(row).toMatchObject({ ...times, [column]: START + MINUTE });
  });

  test('reports each unknown slug by its index and changes nothing', async () => {
    const { instance, manage, set } = await setUp();
    const other = managing(instance, await instance.createApplication({ name: 'Other' }));
    await other('POST', `/${kind}`, { body: { slug: 'foreign' } });
    await manage('POST', `/${kind === 'roles' ? 'scopes' : 'roles'}`, { body: { slug: 'of-another-kind' } });
    await set(['a']);
    const rows = await tables(instance);
    const answer = await set(['b', 'nowhere', 'c', 'foreign', 'of-another-kind', '']);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    const places = answer.json.fields.map(({ path }: { path: string }) => path);
    expect(places).toEqual(['slugs.1', 'slugs.3', 'slugs.4', 'slugs.5']);
    expect(answer.text).not.toMatch(/nowhere|foreign|of-another-kind/);
    expect(await tables(instance)).toEqual(rows);
  });

  test.each([
    [{}, kind],
    [{ slugs: 'a' }, 'slugs'],
    [{ slugs: [5] }, 'slugs.0'],
    [{ slugs: Array(201).fill('a') }, 'slugs'],
    [{ slugs: ['a'], colour: 'red' }, 'colour'],
    [undefined, 'body'],
  ])('refuses a bad body with the field that is wrong', async (body, path) => {
    const { instance, manage, userId } = await setUp();
    const rows = await tables(instance);
    const answer = await manage('PUT', `/users/${userId}/${kind}`, { body });
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(rows);
  });

  test('does not affect other kinds or other people', async () => {
    const { manage, userId, set } = await setUp();
    const [bob] = await people(manage, 'bob@example.com');
    await manage('PUT', `/users/${bob}/${kind}`, { body: { slugs: ['a', 'b'] } });
    const others = KINDS.filter((entry) => entry.kind !== kind).map((entry) => entry.kind);
    for (const other of others) {
      await manage('POST', `/${other}`, { body: { slug: 'a' } });
      await manage('PUT', `/users/${userId}/${other}`, { body: { slugs: ['a'] } });
    }
    await set(['c']);
    const ada = (await manage('GET', `/users/${userId}`)).json.data;
    for (const other of others) expect(ada[other]).toEqual(['a']);
    expect((await manage('GET', `/users/${bob}`)).json.data[kind]).toEqual(['a', 'b']);
  });
});
