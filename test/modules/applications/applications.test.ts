import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { MINUTE } from '@/core/clock.ts';
import { deleteSeatsOf } from '@/store/workspace-members.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';

const RECORD = [
  'id',
  'workspaceId',
  'clientId',
  'slug',
  'name',
  'stage',
  'signinGate',
  'betaRequestPolicy',
  'signinMethods',
  'defaultRoles',
  'sessionTtlSeconds',
  'returnUrls',
  'legalUrls',
  'branding',
  'clientSecretPrefix',
  'pendingWork',
  'archivedAt',
  'deletedAt',
  'purgeAfter',
  'createdAt',
  'updatedAt',
];

const as = (instance: Instance, token: string | undefined = instance.workspaceKey) => ({
  create: (body?: unknown) => instance.call('POST', '/api/applications', { token, body }),
  list: (query = '') => instance.call('GET', `/api/applications${query}`, { token }),
  get: (id: string) => instance.call('GET', `/api/applications/${id}`, { token }),
  patch: (id: string, body: unknown) => instance.call('PATCH', `/api/applications/${id}`, { token, body }),
  publish: (id: string, body?: unknown) => instance.call('POST', `/api/applications/${id}/publish`, { token, body }),
  goLive: (id: string, body?: unknown) => instance.call('POST', `/api/applications/${id}/go-live`, { token, body }),
});

const draft = async (instance: Instance, body: unknown = {}) => (await as(instance).create(body)).json.data;

describe('creating an application', () => {
  test.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['an empty object', {}],
  ])('takes %s', async (_, body) => {
    const instance = await createInstance();
    const { status, json } = await as(instance).create(body);
    expect(status).toBe(200);
    expect(Object.keys(json.data)).toEqual(RECORD);
    expect(json).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^app_[0-9a-z]{26}$/),
        workspaceId: instance.workspaceId,
        clientId: expect.stringMatching(/^cli_[0-9a-z]{26}$/),
        slug: 'untitled-application',
        name: 'Untitled application',
        stage: 'draft',
        signinGate: 'public',
        betaRequestPolicy: 'manual',
        signinMethods: ['otp', 'passkey', 'provider'],
        defaultRoles: ['user'],
        sessionTtlSeconds: 2_592_000,
        returnUrls: [],
        legalUrls: { terms: null, privacy: null, imprint: null },
        branding: { logoUrl: null, accentColor: null },
        clientSecretPrefix: null,
        pendingWork: null,
        archivedAt: null,
        deletedAt: null,
        purgeAfter: null,
        createdAt: new Date(START).toISOString(),
        updatedAt: new Date(START).toISOString(),
      },
    });
  });

  test('gives it the default roles, an audit record under the caller, and no event', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance, { name: 'Shop' });
    const { sqlite } = instance;
    expect(sqlite.query('SELECT slug, is_default FROM roles WHERE application_id = ? ORDER BY slug').all(id)).toEqual([
      { slug: 'developer', is_default: 0 },
      { slug: 'user', is_default: 1 },
    ]);
    expect(instance.events(id)).toEqual([]);
    expect(instance.auditKinds(id)).toEqual(['application.created']);
    expect(
      sqlite
        .query('SELECT actor_type, actor_api_key_id, workspace_id, target_id FROM audit_records WHERE target_id = ?')
        .get(id),
    ).toEqual({
      actor_type: 'key',
      actor_api_key_id: expect.stringMatching(/^key_/),
      workspace_id: instance.workspaceId,
      target_id: id,
    });
  });

  test('takes everything at once', async () => {
    const instance = await createInstance();
    const input = {
      name: '  Shop  ',
      slug: 'shop',
      returnUrls: ['https://shop.example.com/cb', 'https://shop.example.com/other?x=1'],
      legalUrls: { terms: 'https://shop.example.com/terms', privacy: null },
      branding: { logoUrl: 'https://shop.example.com/logo.svg', accentColor: '#3b5bDB' },
      sessionTtlSeconds: 300,
    };
    expect(await draft(instance, input)).toMatchObject({
      ...input,
      name: 'Shop',
      legalUrls: { terms: 'https://shop.example.com/terms', privacy: null, imprint: null },
    });
  });

  test.each([
    ['Shop', 'shop'],
    ['  Café & Söhne!  ', 'cafe-so-hne'],
    ['日本語', 'application'],
    ['---', 'application'],
    [`${'a'.repeat(49)} b`, 'a'.repeat(49)],
  ])('makes a slug of the name %j', async (name, slug) => {
    const made = (await draft(await createInstance(), { name })).slug as string;
    expect(made).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
    if (slug !== 'cafe-so-hne') expect(made).toBe(slug);
  });

  test('numbers a slug that nobody chose until it is free', async () => {
    const instance = await createInstance();
    const slugs = [];
    for (let number = 0; number < 3; number += 1) slugs.push((await draft(instance, { name: 'Shop' })).slug);
    expect(slugs).toEqual(['shop', 'shop-2', 'shop-3']);
  });

  test('with a chosen slug that is taken is a conflict and leaves nothing behind', async () => {
    const instance = await createInstance();
    await draft(instance, { slug: 'shop' });
    const tenant = await given.tenant(instance);
    const before = dumpTables(instance);
    for (const slug of ['shop', tenant.application.slug, 'gatehouse-console']) {
      const { status, json } = await as(instance).create({ slug });
      expect([status, json.error]).toEqual([409, 'conflict']);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test('is for full workspace keys, owners and admins', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const applicationKey = await instance.createKey(id);
    const reader = await given.workspaceKey(instance, { access: 'read' });
    const before = dumpTables(instance);
    const refusal = async (token: string) => {
      const { status, json } = await as(instance, token).create({ name: 'Nope' });
      return [status, json.error];
    };
    expect(await refusal(applicationKey.token)).toEqual([403, 'forbidden']);
    expect(await refusal(reader.token)).toEqual([403, 'admin_scope_required']);
    expect(dumpTables(instance)).toEqual(before);
    expect(await refusal((await given.consoleMember(instance, 'member@example.com', 'member')).token)).toEqual([
      403,
      'admin_scope_required',
    ]);
    instance.clock.advance(MINUTE);
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    expect((await as(instance, admin.token).create({})).status).toBe(200);
  });
});

/** What each field refuses, and the place that is named. */
const BAD: [path: string, input: Record<string, unknown>][] = [
  ['name', { name: '' }],
  ['name', { name: '   ' }],
  ['name', { name: 'x'.repeat(101) }],
  ['name', { name: 5 }],
  ['name', { name: null }],
  ['slug', { slug: '' }],
  ['slug', { slug: 'Shop' }],
  ['slug', { slug: '-shop' }],
  ['slug', { slug: 'shop-' }],
  ['slug', { slug: 'a b' }],
  ['slug', { slug: '../etc' }],
  ['slug', { slug: 'x'.repeat(64) }],
  ['slug', { slug: 'shop\n' }],
  ['slug', { slug: null }],
  ['returnUrls', { returnUrls: 'https://a.example' }],
  ['returnUrls', { returnUrls: Array(21).fill('https://a.example') }],
  ['returnUrls.1', { returnUrls: ['https://a.example', 'http://a.example'] }],
  ['returnUrls.0', { returnUrls: ['javascript:alert(1)'] }],
  ['returnUrls.0', { returnUrls: ['https://user@a.example/'] }],
  ['returnUrls.0', { returnUrls: ['https://a.example/#x'] }],
  ['returnUrls.0', { returnUrls: ['//a.example'] }],
  ['returnUrls.0', { returnUrls: ['http://localhost:3000'] }],
  ['returnUrls.0', { returnUrls: [''] }],
  ['returnUrls.0', { returnUrls: [null] }],
  ['legalUrls', { legalUrls: null }],
  ['legalUrls.terms', { legalUrls: { terms: 'javascript:alert(1)' } }],
  ['legalUrls.privacy', { legalUrls: { privacy: 'shop.example.com' } }],
  ['legalUrls.imprint', { legalUrls: { imprint: 5 } }],
  ['legalUrls.cookies', { legalUrls: { cookies: 'https://a.example' } }],
  ['branding.logoUrl', { branding: { logoUrl: 'data:image/svg+xml,x' } }],
  ['branding.accentColor', { branding: { accentColor: 'red;background:url(x)' } }],
  ['branding.accentColor', { branding: { accentColor: '#fff' } }],
  ['sessionTtlSeconds', { sessionTtlSeconds: 299 }],
  ['sessionTtlSeconds', { sessionTtlSeconds: 31_536_001 }],
  ['sessionTtlSeconds', { sessionTtlSeconds: 300.5 }],
  ['sessionTtlSeconds', { sessionTtlSeconds: '300' }],
  ['stage', { stage: 'live' }],
  ['workspaceId', { workspaceId: 'wsp_x' }],
  ['clientId', { clientId: 'console' }],
  ['id', { id: 'app_x' }],
];

describe('a bad value', () => {
  test.each(BAD)('of %s is named and changes nothing: %j', async (path, input) => {
    const instance = await createInstance();
    const { id } = await draft(instance, { name: 'Shop' });
    const before = dumpTables(instance);
    for (const answer of [await as(instance).create(input), await as(instance).patch(id, input)]) {
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
      expect(answer.json.fields).toEqual([{ path, message: expect.stringMatching(/^[A-Z].*\.$/) }]);
      expect(answer.json).not.toHaveProperty('data');
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test('is named with all the others', async () => {
    const instance = await createInstance();
    const { json } = await as(instance).create({ name: '', slug: 'A', sessionTtlSeconds: 1, colour: 'red' });
    expect(json.fields.map(({ path }: { path: string }) => path).sort()).toEqual([
      'colour',
      'name',
      'sessionTtlSeconds',
      'slug',
    ]);
  });
});

describe('changing an application', () => {
  const PATCHES: [input: Record<string, unknown>, expected: Record<string, unknown>][] = [
    [{ name: ' New ' }, { name: 'New' }],
    [{ slug: 'new-slug' }, { slug: 'new-slug' }],
    [{ returnUrls: ['https://a.example/x'] }, { returnUrls: ['https://a.example/x'] }],
    [{ returnUrls: [] }, { returnUrls: [] }],
    [
      { legalUrls: { terms: 'https://b.example/t' } },
      { legalUrls: { terms: 'https://b.example/t', privacy: 'https://a.example/p', imprint: 'https://a.example/i' } },
    ],
    [
      { legalUrls: { terms: null, imprint: null } },
      { legalUrls: { terms: null, privacy: 'https://a.example/p', imprint: null } },
    ],
    [
      { branding: { accentColor: '#000000' } },
      { branding: { logoUrl: 'https://a.example/l', accentColor: '#000000' } },
    ],
    [{ branding: { logoUrl: null, accentColor: null } }, { branding: { logoUrl: null, accentColor: null } }],
    [{ sessionTtlSeconds: 31_536_000 }, { sessionTtlSeconds: 31_536_000 }],
    [{ legalUrls: {}, branding: {} }, {}],
    [{}, {}],
  ];

  test.each(PATCHES)('with %j changes that and nothing else', async (input, expected) => {
    const instance = await createInstance();
    const before = await draft(instance, {
      name: 'Shop',
      returnUrls: ['https://a.example/cb'],
      legalUrls: { terms: 'https://a.example/t', privacy: 'https://a.example/p', imprint: 'https://a.example/i' },
      branding: { logoUrl: 'https://a.example/l', accentColor: '#ffffff' },
    });
    instance.clock.advance(MINUTE);
    const { status, json } = await as(instance).patch(before.id, input);
    const after = { ...before, ...expected, updatedAt: new Date(START + MINUTE).toISOString() };
    expect([status, json]).toEqual([200, { success: true, data: after }]);
    expect((await as(instance).get(before.id)).json.data).toEqual(after);
    expect(instance.events(before.id)).toEqual([]);
    expect(instance.auditKinds(before.id)).toEqual(['application.created', 'application.updated']);
  });

  test('writes the names of the fields into the audit record, not their values', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    await as(instance).patch(id, { name: 'Hidden value', sessionTtlSeconds: 300 });
    const { detail } = instance.sqlite
      .query("SELECT detail FROM audit_records WHERE kind = 'application.updated'")
      .get() as { detail: string };
    expect(JSON.parse(detail)).toEqual({ fields: ['name', 'sessionTtlSeconds'] });
  });

  test('to a slug that is taken is a conflict; to its own it is none', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance, { slug: 'shop' });
    await draft(instance, { slug: 'taken' });
    const { status, json } = await as(instance).patch(id, { slug: 'taken', name: 'Changed' });
    expect([status, json.error]).toEqual([409, 'conflict']);
    expect((await as(instance).get(id)).json.data).toMatchObject({ slug: 'shop', name: 'Untitled application' });
    expect((await as(instance).patch(id, { slug: 'shop' })).status).toBe(200);
  });

  test('needs a body', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    expect((await as(instance).patch(id, undefined)).json).toMatchObject({
      error: 'invalid_request',
      fields: [{ path: 'body' }],
    });
  });

  test('allows loopback return URLs in dev mode only', async () => {
    const returnUrls = ['http://localhost:3000/cb'];
    const dev = await createInstance({ mode: 'dev' });
    expect((await as(dev).patch((await draft(dev)).id, { returnUrls })).status).toBe(200);
    const normal = await createInstance();
    expect((await as(normal).patch((await draft(normal)).id, { returnUrls })).status).toBe(400);
  });
});

describe('the list of applications', () => {
  const namesOf = (json: { data: { items: { name: string }[] } }) => json.data.items.map(({ name }) => name);

  test('pages from the oldest on, without skipping or repeating while more are made', async () => {
    const instance = await createInstance();
    for (const name of ['A', 'B', 'C', 'D', 'E']) await draft(instance, { name });
    const first = await as(instance).list('?limit=2');
    expect(namesOf(first.json)).toEqual(['A', 'B']);
    await draft(instance, { name: 'F' });
    const second = await as(instance).list(`?limit=2&cursor=${first.json.data.nextCursor}`);
    const third = await as(instance).list(`?limit=2&cursor=${second.json.data.nextCursor}`);
    expect([namesOf(second.json), namesOf(third.json)]).toEqual([
      ['C', 'D'],
      ['E', 'F'],
    ]);
    expect(third.json.data.nextCursor).toBeNull();
    expect(Object.keys(first.json.data.items[0])).toEqual(RECORD);
  });

  test('has fifty a page unless asked, and two hundred at most', async () => {
    const instance = await createInstance();
    for (let number = 0; number < 51; number += 1) await draft(instance);
    const page = await as(instance).list();
    expect([page.json.data.items.length, typeof page.json.data.nextCursor]).toEqual([50, 'string']);
    expect((await as(instance).list('?limit=200')).json.data.items).toHaveLength(51);
  });

  test.each(['0', '201', '-1', 'ten', '', '1e9', '1.5', 'NaN'])('refuses limit=%s and names it', async (limit) => {
    const { status, json } = await as(await createInstance()).list(`?limit=${limit}`);
    expect([status, json.error, json.fields?.[0].path]).toEqual([400, 'invalid_request', 'limit']);
  });

  test.each(['x', '', 'bnVsbA', 'WzFd', 'W10', '%00', 'WyJhIiwiYiJd'])('refuses the cursor %j', async (cursor) => {
    const { status, json } = await as(await createInstance()).list(`?cursor=${cursor}`);
    expect([status, json.error]).toEqual([400, 'invalid_cursor']);
  });

  test('holds what the caller can reach, and never the console', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const [shop, blog] = [
      await instance.createApplication({ name: 'Shop' }),
      await instance.createApplication({ name: 'Blog' }),
    ];
    const applicationKey = await instance.createKey(shop.id, { access: 'read' });
    const subset = await given.workspaceKey(instance, { applicationIds: [blog.id] });
    const names = async (token: string) => namesOf((await as(instance, token).list()).json);
    expect(await names(instance.workspaceKey)).toEqual(['Shop', 'Blog']);
    expect(await names(applicationKey.token)).toEqual(['Shop']);
    expect(await names(subset.token)).toEqual(['Blog']);
    expect(await names(tenant.workspaceKey)).toEqual(['Other']);
    const member = await given.consoleMember(instance, 'member@example.com', 'member');
    expect(await names(member.token)).toEqual(['Shop', 'Blog']);
  });

  test('is empty for a console session that lost its membership', async () => {
    const instance = await createInstance();
    await instance.createApplication();
    const { token, userId } = await instance.signIn('console', 'owner@example.com');
    await instance.db.write(SYSTEM_ACTOR, (unit) => deleteSeatsOf(unit, userId));
    expect((await as(instance, token).list()).json.data).toEqual({ items: [], nextCursor: null });
  });
});

describe('reading an application', () => {
  test('is the same 404 outside the caller’s reach as where nothing is', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const [shop, blog] = [
      await instance.createApplication({ name: 'Shop' }),
      await instance.createApplication({ name: 'Blog' }),
    ];
    const consoleId = instance.services.workspaces.consoleId();
    const shopKey = await instance.createKey(shop.id);
    const subset = await given.workspaceKey(instance, { applicationIds: [shop.id] });
    const missing = (await as(instance).get('app_01h455vb4pex5vsknk084sn02q')).json;
    const owner = (await instance.signIn('console', 'owner@example.com')).token;
    for (const [token, id] of [
      [shopKey.token, blog.id],
      [shopKey.token, tenant.application.id],
      [subset.token, blog.id],
      [instance.workspaceKey, tenant.application.id],
      [instance.workspaceKey, consoleId],
      [tenant.workspaceKey, shop.id],
      [owner, tenant.application.id],
      [owner, consoleId],
    ] as const) {
      const { status, json } = await as(instance, token).get(id);
      expect([status, { ...json, requestId: '' }]).toEqual([404, { ...missing, requestId: '' }]);
    }
    for (const token of [shopKey.token, subset.token, instance.workspaceKey, owner])
      expect((await as(instance, token).get(shop.id)).json.data.name).toBe('Shop');
  });

  test('hides it from a write as well, before the body is judged', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const { status, json } = await as(instance).patch(tenant.application.id, '{"broken');
    expect([status, json.error]).toEqual([404, 'not_found']);
  });
});

describe('publish and go-live', () => {
  test('bring an application from draft to test to live, each on record, without an event', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance, { name: 'Shop' });
    instance.clock.advance(MINUTE);
    const published = await as(instance).publish(id);
    expect([published.status, published.json.data.stage, published.json.data.updatedAt]).toEqual([
      200,
      'test',
      new Date(START + MINUTE).toISOString(),
    ]);
    expect(Object.keys(published.json.data)).toEqual([...RECORD, 'warnings']);
    expect((await as(instance).goLive(id, {})).json.data.stage).toBe('live');
    expect((await as(instance).get(id)).json.data.stage).toBe('live');
    expect(instance.auditKinds(id)).toEqual(['application.created', 'application.published', 'application.went_live']);
    expect(instance.events(id)).toEqual([]);
  });

  test('warn of what is missing and go ahead all the same', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const { warnings } = (await as(instance).publish(id)).json.data;
    expect(warnings.map(({ path }: { path: string }) => path)).toEqual([
      'legalUrls.terms',
      'legalUrls.privacy',
      'returnUrls',
    ]);
    for (const { message } of warnings) expect(message).toMatch(/^[A-Z].*\.$/);
    await as(instance).patch(id, {
      returnUrls: ['https://a.example/'],
      legalUrls: { terms: 'https://a.example/t', privacy: 'https://a.example/p' },
    });
    expect((await as(instance).goLive(id)).json.data.warnings).toEqual([]);
  });

  test.each([
    ['draft', 'goLive'],
    ['test', 'publish'],
    ['live', 'publish'],
    ['live', 'goLive'],
  ] as const)('from %s, %s is refused and changes nothing', async (stage, action) => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    await given.application(instance, id, { stage });
    const before = dumpTables(instance);
    const { status, json } = await as(instance)[action](id);
    expect([status, json.error]).toEqual([409, 'invalid_state']);
    expect(json.message).toContain(action === 'publish' ? '"draft"' : '"test"');
    expect(dumpTables(instance)).toEqual(before);
  });

  test.each([
    ['archived_at', { archivedAt: 1 }],
    ['deleted_at', { deletedAt: 1 }],
  ])('are refused where %s is set', async (_, columns) => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    await given.application(instance, id, columns);
    expect((await as(instance).publish(id)).json.error).toBe('invalid_state');
    await given.application(instance, id, { stage: 'test' });
    expect((await as(instance).goLive(id)).json.error).toBe('invalid_state');
  });

  test('happen once when asked for fifty times at once', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const answers = await Promise.all(Array.from({ length: 50 }, () => as(instance).publish(id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ json }) => json.error === 'invalid_state')).toHaveLength(49);
    expect(instance.auditKinds(id)).toEqual(['application.created', 'application.published']);
  });

  test('take no fields', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const { status, json } = await as(instance).publish(id, { force: true });
    expect([status, json.fields[0].path]).toEqual([400, 'force']);
    expect((await as(instance).get(id)).json.data.stage).toBe('draft');
  });

  test('are for full access', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    const reader = await instance.createKey(id, { access: 'read' });
    const member = await given.consoleMember(instance, 'member@example.com', 'member');
    for (const token of [reader.token, member.token]) {
      const { status, json } = await as(instance, token).publish(id);
      expect([status, json.error]).toEqual([403, 'admin_scope_required']);
    }
    const writer = await instance.createKey(id);
    expect((await as(instance, writer.token).publish(id)).status).toBe(200);
  });
});
