/**
 * Applying a seed file by the API: what it creates and changes, repeatedly and concurrently. Refusals are in
 * refusals.test.ts.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { ENGINE } from '../../support/engine.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { DOCUMENT, KEY, OPS_KEY, SECRETS, SHOP, applied, apply, lines, shop, tables } from './scene.ts';

let instance: Instance;
let id: string;
let result: Awaited<ReturnType<typeof applied>>['result'];
const read = async (path: string, token = instance.workspaceKey) =>
  (await instance.call('GET', `/api/applications/${id}${path}`, { token })).json.data;

beforeAll(async () => ({ instance, id, result } = await applied()));

describe('a document on an empty instance', () => {
  test('lists its changes in order, and returns only secrets that nobody knows yet', () => {
    expect(lines(result.changes)).toEqual([
      '+ application shop',
      '+ role buyer',
      '+ role editor',
      '+ scope orders:read',
      '+ group pro',
      '+ provider https://accounts.google.com',
      '+ openid shop',
      '+ webhook https://shop.example.com/hook',
      '+ webhook https://shop.example.com/other',
      '+ key backend',
      '+ allowlist grace@example.com',
      '+ user ada@example.com',
      '+ user alan@example.com',
      '+ key ops',
    ]);
    expect(result).toMatchObject({ unchanged: 0, notes: [], skipped: [] });
    expect(result['signingSecrets']).toEqual([
      {
        application: 'shop',
        url: 'https://shop.example.com/other',
        signingSecret: expect.stringMatching(/^whsec_/),
      },
    ]);
    for (const secret of Object.values(SECRETS)) expect(JSON.stringify(result)).not.toContain(secret);
  });

  test('creates the application with its roles besides user and developer', async () => {
    expect(await read('')).toMatchObject({
      slug: 'shop',
      stage: 'live',
      signinGate: 'private_beta',
      betaRequestPolicy: 'auto_accept',
      signinMethods: ['otp'],
      sessionTtlSeconds: 3600,
      returnUrls: ['https://shop.example.com/in'],
      legalUrls: { terms: 'https://shop.example.com/terms', privacy: null },
      branding: { accentColor: '#3b5bdb', supportEmail: 'help@shop.example.com' },
      defaultRoles: ['buyer', 'user'],
    });
    expect((await read('/roles')).items.map(({ slug }: { slug: string }) => slug)).toEqual([
      'buyer',
      'developer',
      'editor',
      'user',
    ]);
    expect(await read('/identity-provider')).toMatchObject({ source: 'application', clientId: 'shop-client' });
  });

  test.each([
    ['lists none', {}, ['developer', 'user'], ['user']],
    ['lists others', { roles: [{ slug: 'editor' }] }, ['developer', 'editor', 'user'], ['user']],
    ['says something of one', { roles: [{ slug: 'user', name: 'Member' }] }, ['developer', 'user'], ['user']],
    ['gives none on joining', { roles: [{ slug: 'user', isDefault: false }] }, ['developer', 'user'], []],
    ['leaves them out', { roles: [{ slug: 'editor' }], standardRoles: false }, ['editor'], []],
  ])('gives an application user and developer if its document %s', async (_, part, slugs, defaultRoles) => {
    const fresh = await createInstance();
    const document = {
      applications: [{ slug: 'new', ...part, users: [{ email: 'a@example.com', roles: [slugs[0]] }] }],
    };
    expect((await apply(fresh, document)).status).toBe(200);
    const [made] = (await fresh.call('GET', '/api/applications', { token: fresh.workspaceKey })).json.data.items;
    expect(made.defaultRoles).toEqual(defaultRoles);
    const roles = await fresh.call('GET', `/api/applications/${made.id}/roles`, { token: fresh.workspaceKey });
    expect(roles.json.data.items.map(({ slug }: { slug: string }) => slug)).toEqual(slugs);
    expect((await apply(fresh, document)).json.data.changes).toEqual([]);
  });

  test('creates keys with the given tokens and their access', async () => {
    expect((await read('/roles', KEY)).items).toHaveLength(4);
    const [key] = (await read('/api-keys')).items;
    expect(key).toMatchObject({ name: 'backend', access: 'read', roles: expect.arrayContaining(['editor']) });
    const ops = await instance.call('GET', '/api/applications', { token: OPS_KEY });
    expect(ops.json.data.items.map(({ slug }: { slug: string }) => slug)).toEqual(['shop']);
  });

  test('adds people as an import does and sends no mail', async () => {
    const { items } = await read('/users?include=profile');
    const ada = items.find(({ email }: { email: string }) => email === 'ada@example.com');
    expect(ada).toMatchObject({ username: 'ada', roles: ['buyer', 'editor', 'user'], memberships: ['pro'] });
    expect(ada.profile).toMatchObject({ givenName: 'Ada' });
    expect((await read('/beta-interests?status=approved')).items).toMatchObject([{ email: 'grace@example.com' }]);
    expect(instance.sqlite.query('SELECT count(*) AS mails FROM mails').get()).toEqual({ mails: 0 });
  });

  test('applied again writes nothing and counts everything as unchanged', async () => {
    const before = tables(instance);
    const { json } = await apply(instance, DOCUMENT);
    expect(json.data).toEqual({ changes: [], unchanged: 14, notes: [], skipped: [], signingSecrets: [] });
    expect(tables(instance)).toEqual(before);
  });

  test('a dry run lists the same changes and writes nothing', async () => {
    const empty = await createInstance();
    const before = tables(empty);
    const { json } = await apply(empty, DOCUMENT, { dryRun: true });
    expect(json.data).toMatchObject({ changes: result.changes, signingSecrets: [] });
    expect(tables(empty)).toEqual(before);
  });
});

describe('a changed document', () => {
  test('changes differing fields, names them, and keeps the rest', async () => {
    const own = await createInstance();
    await apply(own, DOCUMENT);
    const changed = shop({
      name: 'Boutique',
      stage: 'test',
      signinGate: 'public',
      branding: { accentColor: '#000000', homeUrl: 'https://shop.example.com/' },
      account: { parts: ['applications', 'profile'] },
      roles: [{ slug: 'editor', name: 'Redaktion' }, { slug: 'writer' }],
      webhooks: [{ ...SHOP.webhooks[0], events: ['user.banned'], secret: { env: 'OTHER_SECRET' } }],
      apiKeys: [{ ...SHOP.apiKeys[0], name: 'api', rateLimits: { perMinute: 5, perDay: 10_000 } }],
      identityProvider: { ...SHOP.identityProvider, clientSecret: { env: 'OTHER_SECRET' } },
      openid: { ...SHOP.openid, idTokenAlg: 'RS256', postLogoutRedirectUris: ['https://shop.example.com/'] },
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
      '~ application shop name account.parts branding.accentColor branding.homeUrl',
      '~ role editor name',
      '+ role writer',
      '~ provider https://accounts.google.com clientSecret',
      '~ openid shop idTokenAlg postLogoutRedirectUris',
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

  test('skips people whom an import would skip, gives the reason, and adds the others', async () => {
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

describe('concurrency', () => {
  test('concurrent documents, to several instances where there can be, create each thing once', async () => {
    const own = await createInstance();
    const other = ENGINE === 'postgres' ? await own.restart({}, { leaseHolder: 'other' }) : own;
    const answers = await Promise.all([own, other, own, other].map((one) => apply(one, DOCUMENT)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const made = answers.map(({ json }) => json.data.changes.length).sort();
    expect(made).toEqual([0, 0, 0, 14]);
    // Two webhooks, and the address of logout tokens.
    expect(own.sqlite.query('SELECT count(*) AS endpoints FROM webhooks').get()).toEqual({ endpoints: 3 });
  });

  test('a new plan finds what another caller has created since', async () => {
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

test('the schema of the file is served to editors with an ETag', async () => {
  const { status, json, headers } = await instance.call('GET', '/gatehouse.schema.json');
  expect([status, json.title]).toEqual([200, 'Gatehouse seed file']);
  expect(json.$defs.SeedApplication).toMatchObject({ required: ['slug'], additionalProperties: false });
  const again = { 'if-none-match': headers.get('etag')! };
  expect((await instance.call('GET', '/gatehouse.schema.json', { headers: again })).status).toBe(304);
});
