import { describe, expect, test } from 'bun:test';
import { FIRST_BATCH } from '@/jobs/background-tasks.ts';
import { isoTime, MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { BAD_CURSORS, lastAudit, managing, pages, people, refusal, tables, watch } from '../users/management.ts';

const KINDS = [
  { kind: 'roles', family: 'role', prefix: 'rol', defaults: ['developer', 'user'] },
  { kind: 'scopes', family: 'scope', prefix: 'scp', defaults: [] },
  { kind: 'memberships', family: 'membership', prefix: 'mgr', defaults: [] },
] as const;

type Kind = (typeof KINDS)[number]['kind'];

/** Returns the events for a gain or loss of one slug, with the slugs the person holds afterwards. */
function changeEvents(kind: Kind, userId: string, change: 'added' | 'removed', slug: string, current: string[]) {
  if (kind === 'memberships') {
    const data = { userId, memberships: current, added: [] as string[], removed: [] as string[], [change]: [slug] };
    return [{ type: 'user.membership_changed', data }];
  }
  return [{ type: `user.${kind.slice(0, -1)}_${change}`, data: { userId, [kind]: [slug], current } }];
}

describe.each(KINDS)('$kind', ({ kind, family, prefix, defaults }) => {
  async function setUp() {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const manage = managing(instance, application);
    const create = async (body: Record<string, unknown>): Promise<string> =>
      (await manage('POST', `/${kind}`, { body })).json.data.id;
    const list = async (): Promise<{ id: string; slug: string }[]> => (await manage('GET', `/${kind}`)).json.data.items;
    /** Sets the slugs that a person holds. */
    const hold = (userId: string, ...slugs: string[]) => manage('PUT', `/users/${userId}/${kind}`, { body: { slugs } });
    return { instance, application, manage, create, list, hold, before: watch(instance, application) };
  }

  test('creation returns the whole record, writes one audit record and emits no event', async () => {
    const { instance, manage, before } = await setUp();
    const answer = await manage('POST', `/${kind}`, {
      body: { slug: 'editor', name: '  Editor  ', description: 'Writes.', isDefault: true },
    });
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        success: true,
        data: {
          id: expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{26}$`)),
          slug: 'editor',
          name: 'Editor',
          description: 'Writes.',
          isDefault: true,
          createdAt: isoTime(START),
          updatedAt: isoTime(START),
        },
      },
    ]);
    expect(before.kinds()).toEqual([`${family}.created`]);
    expect(before.events()).toEqual([]);
    expect(lastAudit(instance, `${family}.created`)).toMatchObject({
      target_id: answer.json.data.id,
      actor_type: 'key',
      request_id: answer.headers.get('x-request-id'),
    });
  });

  test('creation needs only the slug, which is also the default name', async () => {
    const { manage } = await setUp();
    const { json } = await manage('POST', `/${kind}`, { body: { slug: 'editor' } });
    expect(json.data).toMatchObject({ name: 'editor', description: null, isDefault: false });
  });

  test.each(['a', '0', 'a.b_c-d:e', '-', 'a'.repeat(64)])('the slug %j is accepted', async (slug) => {
    const { manage } = await setUp();
    expect((await manage('POST', `/${kind}`, { body: { slug } })).json.data.slug).toBe(slug);
  });

  test.each(['', 'Admin', 'two words', 'zürich', 'a/b', 'a,b', 'a\n', 'a'.repeat(65), 5, null, undefined, {}])(
    'the slug %j is refused on creation and on change, naming the field but not the value',
    async (slug) => {
      const { instance, manage, create } = await setUp();
      const id = await create({ slug: 'editor' });
      const rows = await tables(instance);
      const created = await manage('POST', `/${kind}`, { body: { slug } });
      expect([created.status, created.json.error]).toEqual([400, 'invalid_request']);
      expect(created.json.fields.map(({ path }: { path: string }) => path)).toEqual(['slug']);
      if (typeof slug === 'string' && slug.length > 1) expect(created.text).not.toContain(JSON.stringify(slug));
      if (slug !== undefined)
        expect((await manage('PATCH', `/${kind}/${id}`, { body: { slug } })).json.fields[0].path).toBe('slug');
      expect(await tables(instance)).toEqual(rows);
    },
  );

  test.each([
    [{ slug: 'editor', colour: 'red' }, 'colour'],
    [{ slug: 'editor', name: '' }, 'name'],
    [{ slug: 'editor', name: ' ' }, 'name'],
    [{ slug: 'editor', name: 'a'.repeat(101) }, 'name'],
    [{ slug: 'editor', description: 'a'.repeat(501) }, 'description'],
    [{ slug: 'editor', isDefault: 'yes' }, 'isDefault'],
    [[], 'body'],
  ])('the body %j is refused with the path of the error', async (body, path) => {
    const { instance, manage } = await setUp();
    const rows = await tables(instance);
    const answer = await manage('POST', `/${kind}`, { body });
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await tables(instance)).toEqual(rows);
  });

  test('a slug is unique within its application, and free in another', async () => {
    const { instance, manage, create } = await setUp();
    await create({ slug: 'editor' });
    const writer = await create({ slug: 'writer' });
    const rows = await tables(instance);
    const again = await manage('POST', `/${kind}`, { body: { slug: 'editor' } });
    expect([again.status, again.json.error]).toEqual([409, 'conflict']);
    const renamed = await manage('PATCH', `/${kind}/${writer}?force=true`, { body: { slug: 'editor', name: 'X' } });
    expect([renamed.status, renamed.json.error]).toEqual([409, 'conflict']);
    expect(await tables(instance)).toEqual(rows);
    const other = managing(instance, await instance.createApplication({ name: 'Other' }));
    expect((await other('POST', `/${kind}`, { body: { slug: 'editor' } })).status).toBe(200);
  });

  test('fifty concurrent creations of a slug create it once', async () => {
    const { manage, list, before } = await setUp();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => manage('POST', `/${kind}`, { body: { slug: 'editor' } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    expect((await list()).filter(({ slug }) => slug === 'editor')).toHaveLength(1);
    expect(before.kinds()).toEqual([`${family}.created`]);
  });

  test('an application holds at most a thousand', async () => {
    const { instance, application, manage } = await setUp();
    await given.grants(instance, kind, application.id, 999 - defaults.length);
    expect((await manage('POST', `/${kind}`, { body: { slug: 'thousandth' } })).status).toBe(200);
    const answer = await manage('POST', `/${kind}`, { body: { slug: 'one-more' } });
    expect([answer.status, answer.json.error]).toEqual([409, 'conflict']);
  });

  test('the list is ordered by slug and pages without gaps or repeats while others are added', async () => {
    const { manage, create } = await setUp();
    for (const slug of ['m', 'c', 'k', 'e', 'i', 'g']) await create({ slug });
    const found = await pages<{ slug: string }>(manage, `/${kind}?limit=2`, (page) =>
      Promise.all(page < 4 ? [create({ slug: `a${page}` }), create({ slug: `j${page}` })] : []),
    );
    const slugs = found.flat().map(({ slug }) => slug);
    expect(slugs).toEqual([...slugs].sort());
    expect(new Set(slugs).size).toBe(slugs.length);
    expect(slugs).toEqual(expect.arrayContaining(['c', 'e', 'g', 'i', 'k', 'm', ...defaults]));
    expect(found.slice(0, -1).every((items) => items.length === 2)).toBe(true);
  });

  test('the list counts on request who has each, in any status, without the principals of keys', async () => {
    const { instance, application, manage, create, hold } = await setUp();
    for (const slug of ['some', 'none']) await create({ slug });
    const userIds = await people(manage, 'ada@example.com', 'bea@example.com');
    for (const userId of userIds) await hold(userId, 'some');
    await manage('POST', `/users/${userIds[0]}/ban`);
    const { userId: principal } = await instance.createKey(application.id);
    await hold(principal, 'some');
    const counted = (await manage('GET', `/${kind}?include=people`)).json.data.items as { slug: string }[];
    const ours = counted.filter(({ slug }) => ['none', 'some'].includes(slug));
    expect(ours).toMatchObject([
      { slug: 'none', people: 0 },
      { slug: 'some', people: 2 },
    ]);
    const plain = (await manage('GET', `/${kind}`)).json.data.items as object[];
    expect(plain.some((grant) => 'people' in grant)).toBe(false);
    expect((await manage('GET', `/${kind}?include=others`)).status).toBe(400);
  });

  test.each(BAD_CURSORS)('the cursor %j is refused', async (cursor) => {
    const answer = await (await setUp()).manage('GET', `/${kind}?cursor=${cursor}`);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_cursor']);
  });

  test.each(['0', '201', '-1', 'many'])('the limit %s is refused', async (limit) => {
    const answer = await (await setUp()).manage('GET', `/${kind}?limit=${limit}`);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', 'limit']);
  });

  test('a change affects the given fields only', async () => {
    const { instance, manage, create, list, before } = await setUp();
    const id = await create({ slug: 'editor', name: 'Editor', description: 'Writes.' });
    const created = (await list()).find((item) => item.id === id)!;
    instance.clock.advance(MINUTE);
    const updatedAt = isoTime(START + MINUTE);
    for (const patch of [{ name: 'Author' }, { description: null }, { isDefault: true }, { slug: 'author' }]) {
      const answer = await manage('PATCH', `/${kind}/${id}`, { body: patch });
      Object.assign(created, patch, { updatedAt });
      expect([answer.status, answer.json.data]).toEqual([200, created]);
    }
    expect(before.kinds()).toEqual([`${family}.created`, ...Array(4).fill(`${family}.updated`)]);
    expect(before.events()).toEqual([]);
    expect(lastAudit(instance, `${family}.updated`)).toMatchObject({ target_id: id, actor_type: 'key' });
  });

  test('an id of another application gets the same 404 as an unknown one', async () => {
    const { instance, manage } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const foreign = await managing(instance, other)('POST', `/${kind}`, { body: { slug: 'editor' } });
    const rows = await tables(instance);
    const answers = [];
    for (const id of [foreign.json.data.id, `${prefix}_01h455vb4pex5vsknk084sn02q`, 'nothing'])
      answers.push(
        refusal(await manage('PATCH', `/${kind}/${id}`, { body: { name: 'Mine' } })),
        refusal(await manage('DELETE', `/${kind}/${id}?force=true`)),
      );
    expect(answers[0]).toMatchObject({ status: 404, body: { success: false, error: 'not_found' } });
    expect(new Set(answers.map((answer) => Bun.inspect(answer))).size).toBe(1);
    expect(await tables(instance)).toEqual(rows);
  });

  test('an unused grant is deleted for good', async () => {
    const { manage, create, list, before } = await setUp();
    const id = await create({ slug: 'editor' });
    const answer = await manage('DELETE', `/${kind}/${id}`);
    expect([answer.status, answer.json.data]).toEqual([200, { id, withdrawnFrom: 0 }]);
    expect((await list()).map(({ slug }) => slug)).toEqual([...defaults]);
    expect((await manage('DELETE', `/${kind}/${id}`)).status).toBe(404);
    expect(before.kinds()).toEqual([`${family}.created`, `${family}.deleted`]);
    expect(before.events()).toEqual([]);
  });

  test('a grant in use is deleted only with force, which withdraws it from everyone with an event each', async () => {
    const { instance, application, manage, create, hold } = await setUp();
    const id = await create({ slug: 'editor' });
    await create({ slug: 'other' });
    const [ada, bob] = await people(manage, 'ada@example.com', 'bob@example.com');
    await hold(ada!, 'editor', 'other');
    await hold(bob!, 'editor');
    const rows = await tables(instance);
    for (const query of ['', '?force=false']) {
      const refused = await manage('DELETE', `/${kind}/${id}${query}`);
      expect([refused.status, refused.json.error]).toEqual([409, 'conflict']);
      expect(refused.json.message).toContain('?force=true');
    }
    const unclear = await manage('DELETE', `/${kind}/${id}?force=perhaps`);
    expect([unclear.status, unclear.json.fields[0].path]).toEqual([400, 'force']);
    expect(await tables(instance)).toEqual(rows);

    const before = watch(instance, application);
    const answer = await manage('DELETE', `/${kind}/${id}?force=true`);
    expect([answer.status, answer.json.data]).toEqual([200, { id, withdrawnFrom: 2 }]);
    expect(before.kinds()).toEqual([`${family}.deleted`]);
    const emitted = before.events();
    expect(emitted).toHaveLength(2);
    expect(emitted).toEqual(
      expect.arrayContaining([
        ...changeEvents(kind, ada!, 'removed', 'editor', ['other']),
        ...changeEvents(kind, bob!, 'removed', 'editor', []),
      ]),
    );
    expect((await manage('GET', `/users/${ada}`)).json.data[kind]).toEqual(['other']);
    expect((await manage('GET', `/users/${bob}`)).json.data[kind]).toEqual([]);
  });

  /** Creates many people who hold one default grant. */
  async function setUpMany(count = 250) {
    const scene = await setUp();
    const { manage, create } = scene;
    const id = await create({ slug: 'editor', isDefault: true });
    const ids = await people(manage, ...Array.from({ length: count }, (_, index) => `person${index}@example.com`));
    return { ...scene, id, last: ids.at(-1)! };
  }

  test('a grant of many people is withdrawn in batches that do not block requests, with one event each', async () => {
    const { instance, application, manage, id, last, before } = await setUpMany();
    const { token } = await instance.createKey(application.id);
    const { events } = watch(instance, application);
    const answer = await manage('DELETE', `/${kind}/${id}?force=true`);
    expect(answer.json.data).toEqual({ id, withdrawnFrom: 250 });
    expect(events().length).toBeLessThan(250);
    const between = await manage('GET', `/users/${last}`, { token });
    expect(between.json.data[kind]).not.toContain('editor');
    expect(JSON.parse(lastAudit(instance, `${family}.deleted`)['detail'] as string)).toEqual({
      slug: 'editor',
      name: 'editor',
      withdrawnFrom: 250,
    });
    await instance.services.tasks.runOnce();
    const emitted = events().map(({ data }) => (data as { userId: string }).userId);
    expect([emitted.length, new Set(emitted).size]).toEqual([250, 250]);
    expect(before.kinds().filter((name) => name === `${family}.deleted`)).toHaveLength(1);
  });

  test('a grant removed from many people is deleted at once and its slug free, before the events are emitted', async () => {
    const { instance, application, manage, create, list, hold, id, last } = await setUpMany();
    const slug = 'editor';
    const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const shown = async () => (await instance.call('POST', '/api/v1/session', { token })).json[kind] as string[];
    expect(await shown()).toContain(slug);
    // Without background tasks, no event is emitted while the test looks.
    await instance.services.tasks.stop();
    await manage('DELETE', `/${kind}/${id}?force=true`);
    expect(await shown()).toEqual(kind === 'roles' ? ['user'] : []);
    const { json } = await instance.call('GET', `/api/applications/${application.id}`, {
      token: instance.workspaceKey,
    });
    expect(json.data.pendingWork).toEqual({ kind: 'withdraw_grant', done: FIRST_BATCH, total: null });
    expect((await list()).map((grant) => grant.slug)).toEqual([...defaults]);
    for (const query of ['', '?force=true'])
      expect((await manage('DELETE', `/${kind}/${id}${query}`)).status).toBe(404);
    expect((await manage('PATCH', `/${kind}/${id}`, { body: { name: 'X' } })).status).toBe(404);
    expect((await hold(last, slug)).status).toBe(400);
    const late = await instance.signIn(application.clientId, 'late@example.com');
    expect((await manage('GET', `/users/${late.userId}`)).json.data[kind]).toEqual(kind === 'roles' ? ['user'] : []);
    const again = await create({ slug });
    await hold(userId, slug);

    const restarted = await instance.restart();
    await restarted.services.tasks.runOnce();
    expect(await shown()).toEqual([slug]);
    expect((await list()).find((grant) => grant.slug === slug)?.id).toBe(again);
    const table = { roles: 'roles', scopes: 'scopes', memberships: 'membership_groups' }[kind];
    expect(instance.sqlite.query(`SELECT id FROM ${table} WHERE removed_at IS NOT NULL`).all()).toEqual([]);
    const emitted = instance.events(application.id).filter(({ data }) => (data as { userId: string }).userId === last);
    expect(emitted).toEqual(changeEvents(kind, last, 'removed', slug, kind === 'roles' ? ['user'] : []));
  });

  test('a new slug of a grant applies to all its holders at once, and emits events for each once', async () => {
    const { instance, application, manage, id, last } = await setUpMany();
    const { events } = watch(instance, application);
    const renamed = await manage('PATCH', `/${kind}/${id}?force=true`, { body: { slug: 'author' } });
    expect([renamed.status, renamed.json.data.slug]).toEqual([200, 'author']);
    expect((await manage('GET', `/users/${last}`)).json.data[kind]).toContain('author');
    await instance.services.tasks.runOnce();
    const current = kind === 'roles' ? ['author', 'user'] : ['author'];
    const change = { userId: last, memberships: current, added: ['author'], removed: ['editor'] };
    expect(events().filter(({ data }) => (data as { userId: string }).userId === last)).toEqual(
      kind === 'memberships'
        ? [{ type: 'user.membership_changed', data: change }]
        : [
            ...changeEvents(kind, last, 'added', 'author', current),
            ...changeEvents(kind, last, 'removed', 'editor', current),
          ],
    );
    const emitted = events().map(({ type, data }) => `${type} ${(data as { userId: string }).userId}`);
    expect([emitted.length, new Set(emitted).size]).toEqual(kind === 'memberships' ? [250, 250] : [500, 500]);
  });

  test('a grant renamed twice emits its final slug to the remaining holders, and a removed one its loss', async () => {
    const { instance, application, manage, id, last } = await setUpMany();
    await instance.services.tasks.stop();
    const { events } = watch(instance, application);
    await manage('PATCH', `/${kind}/${id}?force=true`, { body: { slug: 'author' } });
    await manage('PATCH', `/${kind}/${id}?force=true`, { body: { slug: 'editor' } });
    const second = await instance.restart();
    await second.services.tasks.runOnce();
    const current = kind === 'roles' ? ['editor', 'user'] : ['editor'];
    const ofLast = events().filter(({ data }) => (data as { userId: string }).userId === last);
    expect(ofLast.length).toBeGreaterThan(0);
    for (const { data } of ofLast)
      expect(data).toMatchObject(kind === 'memberships' ? { memberships: current } : { current });
    await manage('PATCH', `/${kind}/${id}?force=true`, { body: { slug: 'writer' } });
    await manage('DELETE', `/${kind}/${id}?force=true`);
    const third = await second.restart();
    await third.services.tasks.runOnce();
    const without = kind === 'roles' ? ['user'] : [];
    const [emitted] = events()
      .filter(({ data }) => (data as { userId: string }).userId === last)
      .slice(-1);
    expect(emitted!.data).toMatchObject(kind === 'memberships' ? { memberships: without } : { current: without });
    expect(instance.sqlite.query('SELECT * FROM long_works').all()).toEqual([]);
  });

  test('the slug of a grant in use changes only with force, its other fields always', async () => {
    const { instance, application, manage, create, hold } = await setUp();
    const id = await create({ slug: 'editor' });
    const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
    await hold(userId, 'editor');
    const rows = await tables(instance);
    const refused = await manage('PATCH', `/${kind}/${id}`, { body: { slug: 'author', name: 'Author' } });
    expect([refused.status, refused.json.error]).toEqual([409, 'conflict']);
    expect(await tables(instance)).toEqual(rows);
    expect((await manage('PATCH', `/${kind}/${id}`, { body: { slug: 'editor', name: 'Author' } })).status).toBe(200);
    const forced = await manage('PATCH', `/${kind}/${id}?force=true`, { body: { slug: 'author' } });
    expect([forced.status, forced.json.data.slug]).toEqual([200, 'author']);
    expect((await instance.call('POST', '/api/v1/session', { token })).json[kind]).toEqual(['author']);
    expect((await instance.call('GET', `/api/me/${kind}`, { token })).json.data).toEqual({ [kind]: ['author'] });
  });

  test('a default grant is given to new members without an event, and not to existing ones', async () => {
    const { instance, application, manage, create } = await setUp();
    const early = await instance.signIn(application.clientId, 'early@example.com');
    const id = await create({ slug: 'welcome', isDefault: true });
    await create({ slug: 'special' });
    const before = watch(instance, application);
    const late = await instance.signIn(application.clientId, 'late@example.com');
    const holds = async (token: string) => (await instance.call('POST', '/api/v1/session', { token })).json[kind];
    expect(await holds(late.token)).toContain('welcome');
    expect(await holds(late.token)).not.toContain('special');
    expect(await holds(early.token)).not.toContain('welcome');
    expect(before.events().map(({ type }) => type)).toEqual(['user.signed_in']);
    await manage('PATCH', `/${kind}/${id}`, { body: { isDefault: false } });
    const last = await instance.signIn(application.clientId, 'last@example.com');
    expect(await holds(last.token)).not.toContain('welcome');
    expect(await holds(late.token)).toContain('welcome');
  });

  test('a change of a person’s grants shows in the next verification of their session', async () => {
    const { instance, application, manage, create, hold } = await setUp();
    const id = await create({ slug: 'editor' });
    const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const key = await instance.createKey(application.id, { access: 'read' });
    const everywhere = async () => {
      const session = await instance.call('POST', '/api/v1/session', { token });
      const verified = await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token } });
      const me = await instance.call('GET', `/api/me/${kind}`, { token });
      return [session.json[kind], verified.json.data[kind], me.json.data[kind]];
    };
    await hold(userId, 'editor');
    expect(await everywhere()).toEqual([['editor'], ['editor'], ['editor']]);
    await hold(userId);
    expect(await everywhere()).toEqual([[], [], []]);
    await hold(userId, 'editor');
    await manage('DELETE', `/${kind}/${id}?force=true`);
    expect(await everywhere()).toEqual([[], [], []]);
  });
});
