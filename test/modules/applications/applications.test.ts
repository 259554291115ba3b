/** Creating and changing applications, and the values that are refused. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';
import { as, draft, NO_BRANDING, RECORD, WHOLE_ACCOUNT } from './calls.ts';

describe('creating an application', () => {
  test.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['an empty object', {}],
  ])('accepts %s', async (_, body) => {
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
        branding: NO_BRANDING,
        account: WHOLE_ACCOUNT,
        clientSecretPrefix: null,
        pendingWork: null,
        archivedAt: null,
        deletedAt: null,
        purgeAfter: null,
        isHidden: false,
        firstVerifiedAt: null,
        verificationRefusal: null,
        createdAt: new Date(START).toISOString(),
        updatedAt: new Date(START).toISOString(),
      },
    });
  });

  test('creates the default roles and an audit record of the caller, and emits no event', async () => {
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

  test('accepts all fields at once', async () => {
    const instance = await createInstance();
    const input = {
      name: '  Shop  ',
      slug: 'shop',
      returnUrls: ['https://shop.example.com/cb', 'https://shop.example.com/other?x=1'],
      legalUrls: { terms: 'https://shop.example.com/terms', privacy: null },
      branding: {
        logoUrl: 'https://shop.example.com/logo.svg',
        accentColor: '#3b5bDB',
        homeUrl: 'https://shop.example.com/start?from=sign-in',
        supportUrl: 'https://shop.example.com/help',
        supportEmail: 'help@shop.example.com',
      },
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
  ])('derives the slug from the name %j', async (name, slug) => {
    const made = (await draft(await createInstance(), { name })).slug as string;
    expect(made).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
    if (slug !== 'cafe-so-hne') expect(made).toBe(slug);
  });

  test('numbers a derived slug until it is free', async () => {
    const instance = await createInstance();
    const slugs = [];
    for (let number = 0; number < 3; number += 1) slugs.push((await draft(instance, { name: 'Shop' })).slug);
    expect(slugs).toEqual(['shop', 'shop-2', 'shop-3']);
  });

  test('with a taken slug is a conflict and leaves nothing behind', async () => {
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

  test('needs a full workspace key, an owner or an admin', async () => {
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

/** Invalid values, with the path of the field that the error names. */
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
  ['branding.homeUrl', { branding: { homeUrl: 'javascript:alert(1)' } }],
  ['branding.homeUrl', { branding: { homeUrl: '/start' } }],
  ['branding.supportUrl', { branding: { supportUrl: 'mailto:help@shop.example.com' } }],
  ['branding.supportEmail', { branding: { supportEmail: 'help' } }],
  ['branding.supportEmail', { branding: { supportEmail: 'help@shop.example.com, all@shop.example.com' } }],
  ['branding.supportEmail', { branding: { supportEmail: 'help@shop.example.com\r\nBcc: all@a.example' } }],
  ['account.parts.0', { account: { parts: ['sign-in'] } }],
  ['account.parts', { account: { parts: ['profile', 'profile'] } }],
  ['account.fields.0', { account: { fields: ['email'] } }],
  ['sessionTtlSeconds', { sessionTtlSeconds: 299 }],
  ['sessionTtlSeconds', { sessionTtlSeconds: 31_536_001 }],
  ['sessionTtlSeconds', { sessionTtlSeconds: 300.5 }],
  ['sessionTtlSeconds', { sessionTtlSeconds: '300' }],
  ['stage', { stage: 'live' }],
  ['workspaceId', { workspaceId: 'wsp_x' }],
  ['clientId', { clientId: 'console' }],
  ['id', { id: 'app_x' }],
];

describe('an invalid value', () => {
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

  test('is named together with all others', async () => {
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
      { branding: { ...NO_BRANDING, logoUrl: 'https://a.example/l', accentColor: '#000000' } },
    ],
    [{ branding: { logoUrl: null, accentColor: null } }, { branding: NO_BRANDING }],
    [
      { branding: { supportEmail: ' Help@Bücher.example ' } },
      {
        branding: {
          ...NO_BRANDING,
          logoUrl: 'https://a.example/l',
          accentColor: '#ffffff',
          supportEmail: 'help@xn--bcher-kva.example',
        },
      },
    ],
    [{ sessionTtlSeconds: 31_536_000 }, { sessionTtlSeconds: 31_536_000 }],
    [{ account: { parts: ['addresses'] } }, { account: { ...WHOLE_ACCOUNT, parts: ['addresses'] } }],
    [{ account: { parts: [], fields: ['names', 'avatar'] } }, { account: { parts: [], fields: ['avatar', 'names'] } }],
    [{ legalUrls: {}, branding: {}, account: {} }, {}],
    [{}, {}],
  ];

  test.each(PATCHES)('with %j changes these fields and nothing else', async (input, expected) => {
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

  test('writes the names of the fields to the audit record, not their values', async () => {
    const instance = await createInstance();
    const { id } = await draft(instance);
    await as(instance).patch(id, { name: 'Hidden value', sessionTtlSeconds: 300 });
    const { detail } = instance.sqlite
      .query("SELECT detail FROM audit_records WHERE kind = 'application.updated'")
      .get() as { detail: string };
    expect(JSON.parse(detail)).toEqual({ fields: ['name', 'sessionTtlSeconds'] });
  });

  test('to a taken slug is a conflict, and to its own slug succeeds', async () => {
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
    const { id } = await draft(normal);
    for (const refused of [await as(normal).patch(id, { returnUrls }), await as(normal).create({ returnUrls })])
      expect([refused.status, refused.json.fields]).toEqual([
        400,
        [
          {
            path: 'returnUrls.0',
            message: 'Give an https address; http is taken for localhost only with `serve --dev`.',
          },
        ],
      ]);
    const elsewhere = await as(normal).patch(id, { returnUrls: ['http://shop.example.com/cb'] });
    expect(elsewhere.json.fields[0].message).toBe('Give an absolute https address without user name or fragment.');
  });
});
