/** The refusals of a seed file before any change: by position in the document, and by caller. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import * as given from '../../support/given.ts';
import { DOCUMENT, KEY, SECRETS, SHOP, applied, apply, lines, refused, shop } from './scene.ts';

let instance: Instance;
let id: string;

beforeAll(async () => ({ instance, id } = await applied()));

describe('a document', () => {
  test('is refused for unknown fields, with the position and the probable name', async () => {
    const { roles: rolez, ...others } = SHOP;
    expect(await refused(instance, { applications: [{ ...others, rolez, xyz: 1 }] })).toMatchObject({
      'document.applications.0.rolez': 'This field is not known here; did you mean "roles"?',
      'document.applications.0.xyz': 'This field is not known here; remove it.',
    });
  });

  test('is refused for malformed values, with the position and advice', async () => {
    const problems = await refused(instance, shop({ stage: 'alive', sessionTtlSeconds: 1, apiKeys: [{ token: KEY }] }));
    expect(problems).toMatchObject({
      'document.applications.0.stage': 'Give one of: draft, test, live.',
      'document.applications.0.sessionTtlSeconds': expect.stringContaining('from 300'),
      'document.applications.0.apiKeys.0.token': expect.stringContaining('{"env": "NAME"}'),
    });
    expect(JSON.stringify(problems)).not.toContain(KEY);
  });

  test('is refused for a support address that is none, before anything is created', async () => {
    const branding = { supportEmail: 'help at shop' };
    for (const slug of ['new', 'shop'])
      expect(await refused(instance, { applications: [{ slug, branding }] })).toEqual({
        'document.applications.0.branding.supportEmail': 'Give an e-mail address, or null.',
      });
  });

  test('is refused for duplicates, with their positions', async () => {
    const problems = await refused(instance, {
      applications: [
        {
          ...SHOP,
          scopes: [{ slug: 'a' }, { slug: 'a' }],
          allowlist: ['a@example.com', 'A@example.com'],
          users: [{ email: 'b@example.com' }, { email: 'B@example.com' }],
        },
        { slug: 'shop' },
      ],
      apiKeys: [{ ...DOCUMENT.apiKeys[0], token: { env: 'SHOP_KEY' } }],
    });
    expect(Object.keys(problems).sort()).toEqual([
      'document.applications.0.allowlist.1',
      'document.applications.0.apiKeys.0.token.env',
      'document.applications.0.scopes.1.slug',
      'document.applications.0.users.1.email',
      'document.applications.1.slug',
    ]);
  });

  test('is refused for references to nothing, with their positions', async () => {
    const problems = await refused(
      instance,
      {
        applications: [
          {
            slug: 'new',
            apiKeys: [{ name: 'k', access: 'read', scopes: ['none'], token: { env: 'FRESH_KEY' } }],
            users: [{ email: 'ada@example.com', roles: ['user', 'editor'], groups: ['pro'] }],
          },
        ],
        apiKeys: [{ name: 'w', access: 'read', applications: ['new', 'gone'], token: { env: 'UNSET' } }],
      },
      { secrets: { FRESH_KEY: mintSecret('apiKey', systemRandom) } },
    );
    expect(problems).toEqual({ 'document.apiKeys.0.token.env': expect.stringContaining('UNSET is not set') });
    const further = await refused(instance, {
      applications: [
        { slug: 'new', users: [{ email: 'ada@example.com', roles: ['user', 'editor'], groups: ['pro'] }] },
      ],
      apiKeys: [{ ...DOCUMENT.apiKeys[0], applications: ['new', 'gone'] }],
    });
    expect(further).toEqual({
      'document.applications.0.users.0.roles.1': expect.stringContaining('This role does not exist'),
      'document.applications.0.users.0.groups.0': expect.stringContaining('This group does not exist'),
      'document.apiKeys.0.applications.1': expect.stringContaining('no such application'),
    });
  });

  test('is refused for values that the services would refuse later', async () => {
    const problems = await refused(
      instance,
      shop({
        returnUrls: ['http://shop.example.com'],
        webhooks: [{ url: 'https://127.0.0.1/', events: ['user.exploded'] }],
        identityProvider: { ...SHOP.identityProvider, issuer: 'http://idp.example.com' },
        users: [
          { email: 'nonsense' },
          { email: 'a@example.com', username: 'admin' },
          { email: 'b@example.com', timezone: 'Mars' },
        ],
      }),
    );
    expect(Object.keys(problems).sort()).toEqual([
      'document.applications.0.users.0.email',
      'document.applications.0.users.1.username',
      'document.applications.0.users.2.timezone',
      'document.applications.0.webhooks.0.events.0',
    ]);
    const later = await refused(
      instance,
      shop({
        returnUrls: ['http://shop.example.com'],
        webhooks: [{ url: 'https://127.0.0.1/', events: ['*'] }],
        identityProvider: { ...SHOP.identityProvider, issuer: 'http://idp.example.com' },
        openid: { redirectUris: ['http://shop.example.com/'], backchannelLogoutUri: 'https://127.0.0.1/' },
      }),
    );
    expect(Object.keys(later).sort()).toEqual([
      'document.applications.0.identityProvider.issuer',
      'document.applications.0.openid.backchannelLogoutUri',
      'document.applications.0.openid.redirectUris.0',
      'document.applications.0.returnUrls.0',
      'document.applications.0.webhooks.0.url',
    ]);
  });

  test('is refused for keys that are in use elsewhere, revoked, rotated, or of different access', async () => {
    const own = await createInstance();
    await apply(own, DOCUMENT);
    const at = 'document.applications.0.apiKeys.0';
    const key = SHOP.apiKeys[0]!;
    expect(await refused(own, shop({ apiKeys: [{ ...key, access: 'full' }] }))).toHaveProperty([`${at}.access`]);
    expect(await refused(own, shop({ apiKeys: [{ ...key, token: { env: 'OPS_KEY' } }] }))).toEqual({
      [`${at}.token.env`]: expect.stringContaining('in use elsewhere'),
    });
    const list = await own.call('GET', '/api/applications', { token: own.workspaceKey });
    const keys = `/api/applications/${list.json.data.items[0].id}/api-keys`;
    const [{ id: keyId }] = (await own.call('GET', keys, { token: own.workspaceKey })).json.data.items;
    await own.call('POST', `${keys}/${keyId}/rotate`, { token: own.workspaceKey });
    expect(await refused(own, DOCUMENT)).toEqual({ [`${at}.token.env`]: expect.stringContaining('rotated away') });
  });

  test('is refused for an archived application', async () => {
    const own = await createInstance();
    await apply(own, { applications: [{ slug: 'shop' }] });
    own.sqlite.exec("UPDATE applications SET archived_at = 1 WHERE slug = 'shop'");
    expect(await refused(own, { applications: [{ slug: 'shop' }] })).toEqual({
      'document.applications.0': expect.stringContaining('archived'),
    });
  });
});

describe('access to apply', () => {
  test('read keys and keys below the workspace are refused, even for a dry run', async () => {
    const { token: reader } = await given.workspaceKey(instance, { access: 'read' });
    const { token: subset } = await given.workspaceKey(instance, { applicationIds: [id] });
    for (const [token, code] of [
      [reader, 'admin_scope_required'],
      [subset, 'forbidden'],
    ] as const)
      expect((await apply(instance, DOCUMENT, { token, dryRun: true })).json.error).toBe(code);
    expect((await apply(instance, DOCUMENT, { token: mintSecret('apiKey', systemRandom) })).status).toBe(401);
  });

  test('an application’s key is limited to that application', async () => {
    const path = (application: string) => `/api/applications/${application}/apply`;
    const { token } = await instance.createKey(id);
    const send = (application: object, to = id) => instance.call('POST', path(to), { token, body: { application } });
    const { json } = await send({ slug: 'shop', groups: [{ slug: 'vip' }] });
    expect(lines(json.data.changes)).toEqual(['+ group vip']);
    const renamed = await send({ slug: 'boutique' });
    expect(renamed.json.fields).toEqual([{ path: 'application.slug', message: expect.stringContaining('the slug') }]);
    const other = await instance.createApplication();
    expect((await send({ slug: 'other' }, other.id)).status).toBe(404);
    // The client of an identity provider could sign in as anyone of the workspace.
    const provider = { ...SHOP.identityProvider, issuer: 'https://idp.example.com' };
    const body = { application: { slug: 'shop', identityProvider: provider }, secrets: SECRETS };
    expect((await instance.call('POST', path(id), { token, body })).status).toBe(403);
  });

  test('another tenant’s resources and slugs are refused as if they were unknown or taken', async () => {
    const own = await createInstance();
    await apply(own, DOCUMENT);
    const tenant = await given.tenant(own);
    const problems = await refused(own, DOCUMENT, { token: tenant.workspaceKey });
    expect(problems).toHaveProperty(
      ['document.applications.0.slug'],
      'This slug is taken, or was before; choose another.',
    );
    expect(await refused(own, { apiKeys: DOCUMENT.apiKeys }, { token: tenant.workspaceKey })).toMatchObject({
      'document.apiKeys.0.applications.0': expect.stringContaining('no such application'),
      'document.apiKeys.0.token.env': 'This key is in use elsewhere; make another with "gatehouse key".',
    });
    const mine = { applications: [{ slug: 'mine', users: [{ email: 'ada@example.com' }] }] };
    expect((await apply(own, mine, { token: tenant.workspaceKey })).status).toBe(200);
    const list = await own.call('GET', '/api/applications', { token: own.workspaceKey });
    expect(list.json.data.items.map(({ slug }: { slug: string }) => slug)).toEqual(['shop']);
  });

  test('a member of several workspaces must name the workspace’s id', async () => {
    const own = await createInstance();
    const { token } = await own.signIn('console', 'owner@example.com');
    const made = await own.call('POST', '/api/workspaces', { token, body: { name: 'Second' } });
    const { id: workspaceId } = made.json.data;
    const { status } = await own.call('POST', `/api/workspace/apply?workspaceId=${workspaceId}`, {
      token,
      body: { document: { applications: [{ slug: 'there' }] } },
    });
    expect(status).toBe(200);
    expect(own.sqlite.query("SELECT workspace_id AS id FROM applications WHERE slug = 'there'").get()).toEqual({
      id: workspaceId,
    });
  });
});
