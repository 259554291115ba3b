/** Applying a seed file by the API: what it makes and changes, what it refuses before anything is changed, and for whom. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import * as given from '../../support/given.ts';

const KEY = mintSecret('apiKey', systemRandom);
const OPS_KEY = mintSecret('apiKey', systemRandom);
const HOOK_SECRET = `whsec_${'a'.repeat(40)}`;
const SECRETS = { SHOP_KEY: KEY, OPS_KEY, HOOK_SECRET, GOOGLE_SECRET: 'from-google' };

const SHOP = {
  slug: 'shop',
  name: 'Shop',
  stage: 'live',
  signinGate: 'private_beta',
  betaRequestPolicy: 'auto_accept',
  returnUrls: ['https://shop.example.com/in'],
  legalUrls: { terms: 'https://shop.example.com/terms' },
  branding: { accentColor: '#3b5bdb' },
  signinMethods: ['otp'],
  sessionTtlSeconds: 3600,
  identityProvider: { clientId: 'shop-client', clientSecret: { env: 'GOOGLE_SECRET' } },
  roles: [{ slug: 'buyer', name: 'Buyer', isDefault: true }, { slug: 'editor' }],
  scopes: [{ slug: 'orders:read' }],
  groups: [{ slug: 'pro', description: 'Paying' }],
  webhooks: [
    { url: 'https://shop.example.com/hook', events: ['*'], secret: { env: 'HOOK_SECRET' } },
    { url: 'https://shop.example.com/other', events: ['user.banned'], description: 'Bans' },
  ],
  apiKeys: [{ name: 'backend', access: 'read', roles: ['editor'], token: { env: 'SHOP_KEY' } }],
  allowlist: ['Grace@Example.com'],
  users: [
    { email: 'ada@example.com', username: 'ada', givenName: 'Ada', roles: ['editor'], groups: ['pro'] },
    { email: 'alan@example.com', languages: [{ code: 'en', level: 'NATIVE' }] },
  ],
};
const DOCUMENT = {
  $schema: 'gatehouse.schema.json',
  applications: [SHOP],
  apiKeys: [{ name: 'ops', access: 'full', applications: ['shop'], token: { env: 'OPS_KEY' } }],
};

interface Options {
  readonly token?: string;
  readonly dryRun?: boolean;
  readonly secrets?: Record<string, string>;
}

function apply(instance: Instance, document: unknown, { token, dryRun, secrets = SECRETS }: Options = {}) {
  return instance.call('POST', '/api/workspace/apply', {
    token: token ?? instance.workspaceKey,
    body: { document, secrets, ...(dryRun !== undefined && { dryRun }) },
  });
}

/** The problems of a refusal, by their place. */
async function refused(instance: Instance, document: unknown, options?: Options) {
  const before = tables(instance);
  const { status, json } = await apply(instance, document, options);
  expect([status, json.error]).toEqual([400, 'invalid_request']);
  expect(tables(instance)).toEqual(before);
  return Object.fromEntries(
    json.fields.map(({ path, message }: { path: string; message: string }) => [path, message]),
  ) as Record<string, string>;
}

const COUNTED = [
  'applications',
  'roles',
  'users',
  'application_users',
  'webhooks',
  'api_keys',
  'events',
  'audit_records',
];
const tables = ({ sqlite }: Instance) =>
  COUNTED.map((name) => sqlite.query(`SELECT count(*) AS rows FROM ${name}`).get());

const lines = (changes: { action: string; kind: string; name: string; fields: { field: string }[] }[]) =>
  changes.map(
    ({ action, kind, name, fields }) =>
      `${action === 'create' ? '+' : '~'} ${kind} ${name}${fields.map(({ field }) => ` ${field}`).join('')}`,
  );

const shop = (changes: object) => ({ applications: [{ ...SHOP, ...changes }] });

let instance: Instance;
let applied: { changes: Parameters<typeof lines>[0]; [field: string]: unknown };
let id: string;
const read = async (path: string, token = instance.workspaceKey) =>
  (await instance.call('GET', `/api/applications/${id}${path}`, { token })).json.data;

beforeAll(async () => {
  instance = await createInstance();
  const { status, json } = await apply(instance, DOCUMENT);
  expect([status, json.fields]).toEqual([200, undefined]);
  applied = json.data;
  const list = await instance.call('GET', '/api/applications', { token: instance.workspaceKey });
  id = list.json.data.items[0].id;
});

describe('a document on an empty instance', () => {
  test('says what it made, in order, and shows only secrets that nobody knows yet', () => {
    expect(lines(applied.changes)).toEqual([
      '+ application shop',
      '+ role buyer',
      '+ role editor',
      '+ scope orders:read',
      '+ group pro',
      '+ provider https://accounts.google.com',
      '+ webhook https://shop.example.com/hook',
      '+ webhook https://shop.example.com/other',
      '+ key backend',
      '+ allowlist grace@example.com',
      '+ user ada@example.com',
      '+ user alan@example.com',
      '+ key ops',
    ]);
    expect(applied).toMatchObject({ unchanged: 0, notes: [], skipped: [] });
    expect(applied['signingSecrets']).toEqual([
      {
        application: 'shop',
        url: 'https://shop.example.com/other',
        signingSecret: expect.stringMatching(/^whsec_/),
      },
    ]);
    for (const secret of Object.values(SECRETS)) expect(JSON.stringify(applied)).not.toContain(secret);
  });

  test('makes the application as it says, and no role but its own', async () => {
    expect(await read('')).toMatchObject({
      slug: 'shop',
      stage: 'live',
      signinGate: 'private_beta',
      betaRequestPolicy: 'auto_accept',
      signinMethods: ['otp'],
      sessionTtlSeconds: 3600,
      returnUrls: ['https://shop.example.com/in'],
      legalUrls: { terms: 'https://shop.example.com/terms', privacy: null },
      branding: { accentColor: '#3b5bdb' },
      defaultRoles: ['buyer'],
    });
    expect((await read('/roles')).items.map(({ slug }: { slug: string }) => slug)).toEqual(['buyer', 'editor']);
    expect(await read('/identity-provider')).toMatchObject({ source: 'application', clientId: 'shop-client' });
  });

  test('makes keys of the given tokens, with their reach', async () => {
    expect((await read('/roles', KEY)).items).toHaveLength(2);
    const [key] = (await read('/api-keys')).items;
    expect(key).toMatchObject({ name: 'backend', access: 'read', roles: expect.arrayContaining(['editor']) });
    const ops = await instance.call('GET', '/api/applications', { token: OPS_KEY });
    expect(ops.json.data.items.map(({ slug }: { slug: string }) => slug)).toEqual(['shop']);
  });

  test('adds people as an import does, and mails nobody', async () => {
    const { items } = await read('/users?include=profile');
    const ada = items.find(({ email }: { email: string }) => email === 'ada@example.com');
    expect(ada).toMatchObject({ username: 'ada', roles: ['buyer', 'editor'], memberships: ['pro'] });
    expect(ada.profile).toMatchObject({ givenName: 'Ada' });
    expect((await read('/beta-interests?status=approved')).items).toMatchObject([{ email: 'grace@example.com' }]);
    expect(instance.sqlite.query('SELECT count(*) AS mails FROM mails').get()).toEqual({ mails: 0 });
  });

  test('again changes nothing, writes nothing, and counts what is as it says', async () => {
    const before = tables(instance);
    const { json } = await apply(instance, DOCUMENT);
    expect(json.data).toEqual({ changes: [], unchanged: 13, notes: [], skipped: [], signingSecrets: [] });
    expect(tables(instance)).toEqual(before);
  });

  test('tried, says the same and makes nothing', async () => {
    const empty = await createInstance();
    const before = tables(empty);
    const { json } = await apply(empty, DOCUMENT, { dryRun: true });
    expect(json.data).toMatchObject({ changes: applied.changes, signingSecrets: [] });
    expect(tables(empty)).toEqual(before);
  });
});

describe('a changed document', () => {
  test('changes what differs, names the fields, and leaves the rest', async () => {
    const own = await createInstance();
    await apply(own, DOCUMENT);
    const changed = shop({
      name: 'Boutique',
      stage: 'test',
      signinGate: 'public',
      branding: { accentColor: '#000000' },
      roles: [{ slug: 'editor', name: 'Redaktion' }, { slug: 'writer' }],
      webhooks: [{ ...SHOP.webhooks[0], events: ['user.banned'], secret: { env: 'OTHER_SECRET' } }],
      apiKeys: [{ ...SHOP.apiKeys[0], name: 'api', rateLimits: { perMinute: 5, perDay: 10_000 } }],
      identityProvider: { ...SHOP.identityProvider, clientSecret: { env: 'OTHER_SECRET' } },
      allowlist: [],
      users: [
        { email: 'ada@example.com', roles: ['writer'] },
        { email: 'alan@example.com', givenName: 'Alan' },
        { email: 'new@example.com' },
      ],
    });
    const secrets = { ...SECRETS, OTHER_SECRET: `whsec_${'b'.repeat(40)}` };
    const tried = await apply(own, changed, { secrets, dryRun: true });
    const { json } = await apply(own, changed, { secrets });
    expect(json.data.changes).toEqual(tried.json.data.changes);
    expect(lines(json.data.changes)).toEqual([
      '~ application shop name branding.accentColor',
      '~ role editor name',
      '+ role writer',
      '~ provider https://accounts.google.com clientSecret',
      '~ webhook https://shop.example.com/hook events secret',
      '~ key api name perMinute',
      '~ user ada@example.com',
      '~ user alan@example.com',
      '+ user new@example.com',
      '~ application shop signinGate',
    ]);
    expect(json.data.changes[0].fields[0]).toEqual({ field: 'name', from: '"Shop"', to: '"Boutique"' });
    expect(json.data.notes).toEqual([
      { path: 'document.applications.0.stage', message: 'It stays live: a stage only moves forward.' },
    ]);
    expect(JSON.stringify(json)).not.toContain(secrets.OTHER_SECRET);
    expect((await apply(own, changed, { secrets })).json.data.changes).toEqual([]);
  });

  test('skips whom an import would skip, says why, and adds the others', async () => {
    const own = await createInstance();
    await apply(own, DOCUMENT);
    const users = [{ email: 'other@example.com', username: 'ada' }, { email: 'fine@example.com' }];
    const { json } = await apply(own, { applications: [{ slug: 'shop', users }] });
    expect(lines(json.data.changes)).toEqual(['+ user fine@example.com']);
    expect(json.data.skipped).toEqual([
      { application: 'shop', email: 'other@example.com', error: 'username_taken:ada' },
    ]);
  });
});

describe('what is wrong is named by its place, before anything is changed', () => {
  test('unknown fields, with what was probably meant', async () => {
    const { roles: rolez, ...others } = SHOP;
    expect(await refused(instance, { applications: [{ ...others, rolez, xyz: 1 }] })).toMatchObject({
      'document.applications.0.rolez': 'This field is not known here; did you mean "roles"?',
      'document.applications.0.xyz': 'This field is not known here; remove it.',
    });
  });

  test('values of the wrong form, with their remedy', async () => {
    const problems = await refused(instance, shop({ stage: 'alive', sessionTtlSeconds: 1, apiKeys: [{ token: KEY }] }));
    expect(problems).toMatchObject({
      'document.applications.0.stage': 'Give one of: draft, test, live.',
      'document.applications.0.sessionTtlSeconds': expect.stringContaining('from 300'),
      'document.applications.0.apiKeys.0.token': expect.stringContaining('{"env": "NAME"}'),
    });
    expect(JSON.stringify(problems)).not.toContain(KEY);
  });

  test('what stands twice', async () => {
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

  test('references that lead nowhere', async () => {
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

  test('values that the services would refuse later', async () => {
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
      }),
    );
    expect(Object.keys(later).sort()).toEqual([
      'document.applications.0.identityProvider.issuer',
      'document.applications.0.returnUrls.0',
      'document.applications.0.webhooks.0.url',
    ]);
  });

  test('keys that are elsewhere, revoked, rotated away, or of another access', async () => {
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

  test('an archived application', async () => {
    const own = await createInstance();
    await apply(own, { applications: [{ slug: 'shop' }] });
    own.sqlite.exec("UPDATE applications SET archived_at = 1 WHERE slug = 'shop'");
    expect(await refused(own, { applications: [{ slug: 'shop' }] })).toEqual({
      'document.applications.0': expect.stringContaining('archived'),
    });
  });
});

describe('who may', () => {
  test('readers may not, nor keys that reach less than the workspace, not even to try', async () => {
    const { token: reader } = await given.workspaceKey(instance, { access: 'read' });
    const { token: subset } = await given.workspaceKey(instance, { applicationIds: [id] });
    for (const [token, code] of [
      [reader, 'admin_scope_required'],
      [subset, 'forbidden'],
    ] as const)
      expect((await apply(instance, DOCUMENT, { token, dryRun: true })).json.error).toBe(code);
    expect((await apply(instance, DOCUMENT, { token: mintSecret('apiKey', systemRandom) })).status).toBe(401);
  });

  test('a key of an application brings that one to what is said of it, and no other', async () => {
    const path = (application: string) => `/api/applications/${application}/apply`;
    const { token } = await instance.createKey(id);
    const send = (application: object, to = id) => instance.call('POST', path(to), { token, body: { application } });
    const { json } = await send({ slug: 'shop', groups: [{ slug: 'vip' }] });
    expect(lines(json.data.changes)).toEqual(['+ group vip']);
    const renamed = await send({ slug: 'boutique' });
    expect(renamed.json.fields).toEqual([{ path: 'application.slug', message: expect.stringContaining('the slug') }]);
    const other = await instance.createApplication();
    expect((await send({ slug: 'other' }, other.id)).status).toBe(404);
    // Whoever runs a client that vouches for people could come in as anyone of the workspace.
    const provider = { ...SHOP.identityProvider, issuer: 'https://idp.example.com' };
    const body = { application: { slug: 'shop', identityProvider: provider }, secrets: SECRETS };
    expect((await instance.call('POST', path(id), { token, body })).status).toBe(403);
  });

  test('another tenant is not seen, and its slugs are not taken over', async () => {
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

  test('a member of several workspaces says which', async () => {
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

describe('several at once', () => {
  test('two documents at the same time make each thing once, and nobody fails', async () => {
    const own = await createInstance();
    const answers = await Promise.all(Array.from({ length: 4 }, () => apply(own, DOCUMENT)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const made = answers.map(({ json }) => json.data.changes.length).sort();
    expect(made).toEqual([0, 0, 0, 13]);
    expect(own.sqlite.query('SELECT count(*) AS webhooks FROM webhooks').get()).toEqual({ webhooks: 2 });
  });

  test('what somebody else makes meanwhile is found by a new plan', async () => {
    const own = await createInstance();
    const token = own.workspaceKey;
    const racing = Promise.all(
      ['shop', 'b', 'c'].map((slug) => own.call('POST', '/api/applications', { token, body: { name: slug, slug } })),
    );
    const { status } = await apply(own, {
      applications: ['shop', 'b', 'c'].map((slug) => ({ slug, scopes: [{ slug: 's' }] })),
    });
    await racing;
    expect(status).toBe(200);
    expect(own.sqlite.query('SELECT count(*) AS scopes FROM scopes').get()).toEqual({ scopes: 3 });
  });
});

test('the schema of the file is served to editors, and not again to whoever has it', async () => {
  const { status, json, headers } = await instance.call('GET', '/gatehouse.schema.json');
  expect([status, json.title]).toEqual([200, 'Gatehouse seed file']);
  expect(json.$defs.SeedApplication).toMatchObject({ required: ['slug'], additionalProperties: false });
  const again = { 'if-none-match': headers.get('etag')! };
  expect((await instance.call('GET', '/gatehouse.schema.json', { headers: again })).status).toBe(304);
});
