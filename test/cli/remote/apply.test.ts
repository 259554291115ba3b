/** `gatehouse apply` and `gatehouse export`: the output, refusals with their position, and round trips. */
import { describe, expect, test } from 'bun:test';
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonErrorPosition } from '@/cli/json-error-position.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { seedSchema } from '@/modules/seed/json-schema.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { oneServer, type Person, personAt, URL_A } from './scene.ts';

const newKey = () => mintSecret('apiKey', systemRandom);

/** Writes a file into the person's home. */
function fileOf(person: Person, content: unknown, name = 'seed.json'): string {
  const file = join(person.home, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const SHOP = {
  slug: 'shop',
  name: 'Shop',
  stage: 'live',
  roles: [
    { slug: 'buyer', isDefault: true },
    { slug: 'editor', name: 'a' },
  ],
  users: [{ email: 'ada@example.com', roles: ['editor'] }],
};

const applicationsOf = ({ sqlite }: Instance) =>
  (sqlite.query('SELECT count(*) AS n FROM applications WHERE workspace_id IS NOT NULL').get() as { n: number }).n;

const people = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ email: `person-${from + at}@example.com`, roles: ['editor'] }));

describe('apply', () => {
  test('lists the changes in a dry run, makes them, and then reports none', async () => {
    const { instance, person } = await oneServer();
    const file = fileOf(person, { applications: [SHOP] });
    const tried = await person.manage(['apply', file, '--dry-run']);
    const made = ['+ application shop', '+ role buyer', '+ role editor', '+ user ada@example.com'];
    expect(tried).toMatchObject({ exitCode: 0, err: '' });
    expect(tried.out.trim().split('\n')).toEqual([...made, 'Nothing was changed: 4 would be.']);
    expect(applicationsOf(instance)).toBe(0);
    expect((await person.manage(['apply', file])).out.trim().split('\n')).toEqual(made);
    const again = await person.manage(['apply', file]);
    expect(again).toMatchObject({ exitCode: 0, out: '= 4 unchanged\nThe server already matches the file.\n' });
  });

  test('lists changes field by field', async () => {
    const { person } = await oneServer();
    await person.manage(['apply', fileOf(person, { applications: [SHOP] })]);
    const changed = { ...SHOP, stage: 'draft', roles: [{ slug: 'editor', name: 'b' }], users: [] };
    const { out, err } = await person.manage(['apply', fileOf(person, { applications: [changed] })]);
    expect(out).toBe('~ role editor: name "a" → "b"\n= 1 unchanged\n');
    expect(err).toBe('! applications.0.stage: It stays live: a stage only moves forward.\n');
  });

  test('the output with --json is the API’s answer', async () => {
    const { person } = await oneServer();
    const { json } = await person.manage(['apply', fileOf(person, { applications: [SHOP] }), '--json']);
    expect(json()).toMatchObject({ dryRun: false, unchanged: 0, skipped: [], signingSecrets: [] });
    expect(json().changes[0]).toEqual({
      action: 'create',
      kind: 'application',
      application: null,
      name: 'shop',
      fields: [],
    });
  });

  test('prints a new signing secret once, and never those from the environment', async () => {
    const { person } = await oneServer();
    const given = `whsec_${'x'.repeat(40)}`;
    const [url, other] = ['https://shop.example.com/hook', 'https://shop.example.com/other'];
    const webhooks = [
      { url, events: ['*'] },
      { url: other, events: ['*'], secret: { env: 'HOOK' } },
    ];
    const file = fileOf(person, { applications: [{ slug: 'shop', webhooks }] });
    const { out } = await person.manage(['apply', file], { env: { HOOK: given } });
    expect(out).toMatch(/Signing secret of https:\/\/shop\.example\.com\/hook, shown this once: whsec_\w+\n/);
    expect(out.match(/whsec_/g)).toHaveLength(1);
    expect((await person.manage(['apply', file], { env: { HOOK: given } })).out).not.toContain('whsec_');
  });

  test('sends many people in batches, counts them, and names a problem by its row in the file', async () => {
    const { instance, person } = await oneServer();
    const users = people(1200);
    const big = (changes: object = {}) => ({ applications: [{ slug: 'small' }, { ...SHOP, users, ...changes }] });
    const wrong = users.map((user, at) => (at === 1100 ? { ...user, roles: ['none'] } : user));
    const refused = await person.manage(['apply', fileOf(person, big({ users: wrong }))]);
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.err).toContain('applications.1.users.1100.roles.0: This role does not exist');
    expect(applicationsOf(instance)).toBe(0);
    const file = fileOf(person, big());
    const tried = await person.manage(['apply', file, '--dry-run']);
    expect(tried.out).toContain('+ 1200 users (shop)');
    const told: (string | null)[] = [];
    const done = await person.manage(['apply', file], { progress: (line) => void told.push(line) });
    expect(done.out).toBe(tried.out.replace(/Nothing was changed.*\n/, ''));
    expect(told).toContain('applied: 1000 of 1200 people');
    expect(told.at(-1)).toBeNull();
    const again = await person.manage(['apply', file]);
    expect(again.out).toBe('= 1204 unchanged\nThe server already matches the file.\n');
    const more = await person.manage(['apply', fileOf(person, big({ users: [...users, ...people(1, 1200)] }))]);
    expect(more.out).toBe('+ user person-1200@example.com\n= 1204 unchanged\n');
  });

  test('a key of one application changes that one, and names what it cannot reach', async () => {
    const { instance, person } = await oneServer();
    await person.manage(['apply', fileOf(person, { applications: [SHOP] })]);
    const { id } = instance.sqlite.query("SELECT id FROM applications WHERE slug = 'shop'").get() as { id: string };
    const { token } = await instance.createKey(id);
    const apply = (document: object) =>
      person.manage(['apply', fileOf(person, document)], { env: { GATEHOUSE_KEY: token, OPS: newKey() } });
    const roles = [{ slug: 'editor', name: 'c' }, { slug: 'x' }];
    expect((await apply({ applications: [{ slug: 'shop', roles }] })).out).toContain('~ role editor: name "a" → "c"');
    expect((await apply({ applications: [{ slug: 'other' }] })).err).toContain('no application "other" within reach');
    const ops = { apiKeys: [{ name: 'ops', access: 'read', token: { env: 'OPS' } }] };
    expect((await apply(ops)).err).toContain('need a key of the whole workspace');
    const wrong = await apply({ applications: [{ slug: 'shop', returnUrls: ['http://shop.example.com'] }] });
    expect(wrong.err).toContain('applications.0.returnUrls.0: Give an absolute https address');
  });

  test('creates workspace keys for applications of the same file', async () => {
    const { person } = await oneServer();
    const key = newKey();
    const document = {
      applications: [{ slug: 'shop' }, { slug: 'blog' }],
      apiKeys: [{ name: 'ops', access: 'read', applications: ['blog'], token: { env: 'OPS' } }],
    };
    const at = { env: { OPS: key } };
    const { out } = await person.manage(['apply', fileOf(person, document)], at);
    expect(out.trim().split('\n')).toEqual(['+ application shop', '+ application blog', '+ key ops']);
    expect((await person.manage(['apply', fileOf(person, document)], at)).out).toContain('= 3 unchanged');
    const { json } = await person.manage(['apps', 'list', '--json'], { env: { GATEHOUSE_KEY: key } });
    expect(json().items.map(({ slug }: { slug: string }) => slug)).toEqual(['blog']);
  });

  test('exits with 1 if a person could not be added', async () => {
    const { person } = await oneServer();
    const named = (email: string) => ({ email, username: 'ada' });
    await person.manage([
      'apply',
      fileOf(person, { applications: [{ slug: 'shop', users: [named('ada@example.com')] }] }),
    ]);
    const users = [named('other@example.com'), { email: 'fine@example.com' }];
    const ran = await person.manage(['apply', fileOf(person, { applications: [{ slug: 'shop', users }] })]);
    expect(ran).toMatchObject({ exitCode: 1, out: '+ user fine@example.com\n= 1 unchanged\n' });
    expect(ran.err).toBe('! user other@example.com: not added, username_taken:ada\n');
  });
});

describe('a file that cannot be applied', () => {
  const nowhere: Person = personAt({
    [URL_A]: { clock: { now: () => 0 }, workspaceKey: newKey() } as unknown as Instance,
  });
  const said = async (content: unknown, env: Record<string, string> = {}) => {
    const noServer = async (): Promise<Response> => {
      throw new Error('a server was asked');
    };
    const ran = await nowhere.manage(['apply', fileOf(nowhere, content)], { env, fetch: noServer });
    expect([ran.exitCode, ran.out]).toEqual([1, '']);
    return ran.err;
  };

  test('is refused without a request if it does not exist or is no JSON, with the position', async () => {
    expect((await nowhere.manage(['apply', join(nowhere.home, 'none.json')])).err).toContain('There is no file');
    expect(await said('{\n  "applications": [\n    { "slug" "shop" }\n  ]\n}')).toContain(
      'no JSON: see line 3, column 14',
    );
    expect(await said('{\n  // mine\n}')).toContain('line 2, column 3. Comments are not allowed');
  });

  test('is refused without a request for unknown fields and wrong values, each with its position', async () => {
    const err = await said({ applications: [{ ...SHOP, rolez: [] }], apiKey: [] });
    expect(err).toContain('  - applications.0.rolez: This field is not known here; did you mean "roles"?\n');
    expect(err).toContain('  - apiKey: This field is not known here; did you mean "apiKeys"?\n');
  });

  test('is refused without a request for secrets that are unset or invalid', async () => {
    const apiKeys = [
      { name: 'a', access: 'read', token: { env: 'ONE' } },
      { name: 'b', access: 'read', token: { env: 'TWO' } },
    ];
    const err = await said({ applications: [{ slug: 'shop', apiKeys }] }, { TWO: 'secret-in-the-wrong-form' });
    expect(err).toContain('apiKeys.0.token.env: ONE is not set');
    expect(err).toContain('apiKeys.1.token.env: TWO holds no API key; make one with "gatehouse key".');
    expect(err).not.toContain('secret-in-the-wrong-form');
  });
});

describe('export', () => {
  const KEYS = { SHOP_BACKEND_KEY: newKey(), OPS_KEY: newKey() };
  const SECRETS = {
    ...KEYS,
    SHOP_WEBHOOK_SECRET: `whsec_${'y'.repeat(40)}`,
    SHOP_PROVIDER_SECRET: 'from-the-provider',
  };
  const DOCUMENT = {
    applications: [
      {
        ...SHOP,
        signinGate: 'private_beta',
        account: { parts: ['profile'] },
        branding: {
          accentColor: '#3b5bdb',
          homeUrl: 'https://shop.example.com/',
          supportEmail: 'help@shop.example.com',
        },
        identityProvider: { clientId: 'shop', clientSecret: { env: 'SHOP_PROVIDER_SECRET' } },
        openid: {
          redirectUris: ['com.example.shop:/callback'],
          postLogoutRedirectUris: ['https://shop.example.com/'],
          clientType: 'public',
          backchannelLogoutUri: 'https://shop.example.com/logout',
        },
        scopes: [{ slug: 'orders:read', description: 'Reads' }],
        groups: [{ slug: 'pro' }],
        webhooks: [{ url: 'https://shop.example.com/hook', events: ['*'], secret: { env: 'SHOP_WEBHOOK_SECRET' } }],
        apiKeys: [{ name: 'backend', access: 'read', roles: ['editor'], token: { env: 'SHOP_BACKEND_KEY' } }],
        allowlist: ['grace@example.com', 'alan@example.com'],
        users: [
          { email: 'ada@example.com', username: 'ada', givenName: 'Ada', roles: ['editor'], groups: ['pro'] },
          ...people(250),
        ],
      },
      { slug: 'blog', roles: [], standardRoles: false },
    ],
    apiKeys: [{ name: 'ops', access: 'full', applications: ['blog'], token: { env: 'OPS_KEY' } }],
  };

  test('applied to an empty server gives the same export again, and contains no secret', async () => {
    const first = await oneServer();
    await first.person.manage(['apply', fileOf(first.person, DOCUMENT)], { env: SECRETS });
    const exported = await first.person.manage(['export', '--users']);
    expect(exported.exitCode).toBe(0);
    expect(exported.err).toStartWith('Set these variables when applying it: ');
    for (const name of Object.keys(SECRETS)) expect(exported.err).toContain(name);
    for (const secret of Object.values(SECRETS)) expect(exported.out).not.toContain(secret);
    const second = await oneServer();
    const file = fileOf(second.person, exported.out);
    const applied = await second.person.manage(['apply', file], { env: SECRETS });
    expect(applied).toMatchObject({ exitCode: 0, err: '' });
    expect((await second.person.manage(['export', '--users'])).out).toBe(exported.out);
    expect((await second.person.manage(['apply', file], { env: SECRETS })).out).toContain(
      'The server already matches the file.',
    );
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(seedSchema());
    expect(validate(JSON.parse(exported.out)) || validate.errors).toBe(true);
    expect(validate({ applications: [{ slug: 'shop', rolez: [] }] })).toBe(false);
  });

  test('contains people only on request, and no one who is banned, paused or deleted', async () => {
    const { instance, person } = await oneServer();
    await person.manage(['apply', fileOf(person, DOCUMENT)], { env: SECRETS });
    const { id, userId } = instance.sqlite
      .query(
        'SELECT a.id, m.user_id AS userId FROM applications a JOIN application_users m ON m.application_id = a.id WHERE m.username = ?',
      )
      .get('ada') as { id: string; userId: string };
    const ban = `/api/applications/${id}/users/${userId}/ban`;
    await instance.call('POST', ban, { token: instance.workspaceKey });
    expect((await person.manage(['export'])).out).not.toContain('@example.com');
    const { out, err } = await person.manage(['export', '--users']);
    expect(out).toContain('person-1@example.com');
    expect(out).not.toContain('ada@example.com');
    expect(err).toContain('shop: 1 banned, paused or deleted users were left out.\n');
  });

  test('writes a file that only its owner can read, completely or not at all', async () => {
    const { person } = await oneServer();
    await person.manage(['apply', fileOf(person, { applications: [SHOP] })]);
    const out = join(person.home, 'out.json');
    expect(await person.manage(['export', '--out', out])).toMatchObject({ exitCode: 0, out: '' });
    expect(JSON.parse(readFileSync(out, 'utf8')).applications[0].slug).toBe('shop');
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const elsewhere = join(person.home, 'none', 'out.json');
    expect((await person.manage(['export', '--out', elsewhere])).err).toContain('cannot be written (ENOENT)');
    const reader = await createInstance();
    const failing = personAt({ [URL_A]: reader });
    const half = join(person.home, 'half.json');
    await failing.manage(['export', '--out', half], { env: { GATEHOUSE_KEY: newKey() } });
    expect([existsSync(half), existsSync(`${half}.partial`)]).toEqual([false, false]);
  });

  test('replaces a symbolic link instead of following it', async () => {
    const { person } = await oneServer();
    const [out, victim] = [join(person.home, 'shared.json'), join(person.home, 'victim')];
    writeFileSync(victim, 'kept');
    symlinkSync(victim, `${out}.partial`);
    expect((await person.manage(['export', '--out', out])).exitCode).toBe(0);
    expect([readFileSync(victim, 'utf8'), lstatSync(out).isFile()]).toEqual(['kept', true]);
  });

  test('an export of an empty server is a file that can be applied', async () => {
    const { person } = await oneServer();
    const { out } = await person.manage(['export']);
    expect(JSON.parse(out)).toEqual({ $schema: 'gatehouse.schema.json', applications: [] });
    expect((await person.manage(['apply', fileOf(person, out)])).exitCode).toBe(0);
  });
});

describe('the position of a JSON error', () => {
  test.each([
    ['{"a":1}', null],
    [' [1, {"b": [true, null, "\\u00e9"]}, -1.5e3] ', null],
    ['{"a":1,}', 'line 1, column 8'],
    ['[1 2]', 'line 1, column 4'],
    ['{"a":\n"b\nc"}', 'line 2, column 1'],
    ['{"a":1} x', 'line 1, column 9'],
    ['', 'line 1, column 1'],
    ['[', 'line 1, column 2'],
  ])('an error in %p is located at %p', (text, place) => expect(jsonErrorPosition(text)).toBe(place));
});
