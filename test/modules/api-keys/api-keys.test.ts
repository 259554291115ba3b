import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';
import { isSecret } from '@/core/secret.ts';
import { findConsole } from '@/store/applications.ts';
import { appOver } from '../../http/app-over.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { dumpTables, storedText } from '../../support/stored.ts';

const RECORD = [
  'id',
  'name',
  'prefix',
  'access',
  'applicationId',
  'applicationIds',
  'userId',
  'source',
  'createdBy',
  'deviceKeyId',
  'roles',
  'scopes',
  'memberships',
  'rateLimits',
  'usage',
  'expiresAt',
  'revokedAt',
  'rotatedToId',
  'gracePeriodEndsAt',
  'lastUsedAt',
  'createdAt',
  'updatedAt',
];

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const path = `/api/applications/${application.id}/api-keys`;
  const create = (body: unknown, token = instance.workspaceKey) => instance.call('POST', path, { token, body });
  const list = (query = '', token = instance.workspaceKey) => instance.call('GET', `${path}${query}`, { token });
  return { instance, application, create, list };
}

const WORKSPACE_KEYS = '/api/workspace/api-keys';
const queryRow = ({ sqlite }: Instance, sql: string, ...values: string[]) => sqlite.query(sql).get(...values);

describe('creating an application key', () => {
  test('returns the record and, only this once, the token', async () => {
    const { instance, application, create } = await setUp();
    const { status, json } = await create({ name: ' backend ', access: 'read' });
    expect(status).toBe(200);
    expect(Object.keys(json.data)).toEqual([...RECORD, 'token']);
    expect(json.data).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      name: 'backend',
      prefix: json.data.token.slice(0, 12),
      access: 'read',
      applicationId: application.id,
      applicationIds: null,
      userId: expect.stringMatching(/^usr_/),
      source: 'api',
      createdBy: {
        userId: expect.stringMatching(/^usr_/),
        email: null,
        key: { id: expect.stringMatching(/^key_/), name: 'GATEHOUSE_WORKSPACE_KEY' },
      },
      deviceKeyId: null,
      roles: [],
      scopes: [],
      memberships: [],
      rateLimits: { perMinute: 60, perDay: 10_000 },
      usage: { minute: 0, day: 0 },
      expiresAt: null,
      revokedAt: null,
      rotatedToId: null,
      gracePeriodEndsAt: null,
      lastUsedAt: null,
      createdAt: new Date(START).toISOString(),
      updatedAt: new Date(START).toISOString(),
      token: expect.any(String),
    });
    expect(isSecret('apiKey', json.data.token)).toBe(true);
    expect((await instance.call('GET', '/api/applications', { token: json.data.token })).status).toBe(200);
  });

  test('keeps the token out of the database, the list and the log', async () => {
    const { instance, application, list } = await setUp();
    const { app, log } = appOver(instance);
    const response = await app.fetch(
      new Request(`http://localhost/api/applications/${application.id}/api-keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${instance.workspaceKey}`, 'content-type': 'application/json' },
        body: '{"name":"backend","access":"full"}',
      }),
    );
    const { token } = ((await response.json()) as { data: { token: string } }).data;
    await app.fetch(
      new Request('http://localhost/api/applications', { headers: { authorization: `Bearer ${token}` } }),
    );
    await instance.services.flushCounters();
    const rest = token.slice(12);
    for (const text of [storedText(instance), (await list()).text, JSON.stringify(log), instance.logLines.join('')]) {
      expect(text).not.toContain(rest);
      expect(text).not.toContain(Buffer.from(token).toString('hex'));
    }
    expect((await list()).json.data.items[0]).not.toHaveProperty('token');
    expect(queryRow(instance, 'SELECT length(token_hash) AS n, prefix FROM api_keys ORDER BY rowid DESC')).toEqual({
      n: 32,
      prefix: token.slice(0, 12),
    });
  });

  test('writes one audit record that names the creator, and emits no event', async () => {
    const { instance, application, create } = await setUp();
    const { json } = await create({ name: 'backend', access: 'full' });
    expect(instance.events(application.id)).toEqual([]);
    expect(instance.auditKinds(application.id).slice(-1)).toEqual(['apikey.created']);
    const record = queryRow(instance, "SELECT * FROM audit_records WHERE kind = 'apikey.created' ORDER BY rowid DESC");
    expect(record).toMatchObject({
      application_id: application.id,
      workspace_id: instance.workspaceId,
      target_id: json.data.id,
      actor_type: 'key',
      ok: 1,
      detail: '{"name":"backend","access":"full"}',
    });
  });

  test('in the console records the person as creator', async () => {
    const { instance, application, create } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const { json } = await create({ name: 'backend', access: 'full' }, owner.token);
    expect(json.data.source).toBe('console');
    expect(
      queryRow(instance, 'SELECT actor_type, actor_user_id FROM audit_records WHERE target_id = ?', json.data.id),
    ).toEqual({ actor_type: 'user', actor_user_id: owner.userId });
    expect(queryRow(instance, 'SELECT created_by_user_id AS by FROM api_keys WHERE id = ?', json.data.id)).toEqual({
      by: owner.userId,
    });
    expect(instance.events(application.id)).toEqual([]);
  });

  test('assigns roles, scopes and groups, which its verification returns', async () => {
    const { instance, application, create, list } = await setUp();
    await given.grant(instance, 'scopes', application.id, 'orders:read');
    await given.grant(instance, 'memberships', application.id, 'partners');
    const grants = { roles: ['user', 'developer', 'user'], scopes: ['orders:read'], memberships: ['partners'] };
    const { json } = await create({ name: 'backend', access: 'read', ...grants });
    const held = { roles: ['developer', 'user'], scopes: ['orders:read'], memberships: ['partners'] };
    expect(json.data).toMatchObject(held);
    expect((await list()).json.data.items[0]).toMatchObject(held);
    const { token } = json.data;
    expect((await instance.call('POST', '/api/v1/verify', { token, body: { token } })).json.data).toMatchObject(held);
  });

  test('with unknown slugs names the position of each and writes nothing', async () => {
    const { instance, application, create } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    await given.grant(instance, 'scopes', other.id, 'elsewhere');
    await given.grant(instance, 'roles', application.id, 'admin');
    const before = dumpTables(instance);
    for (const [grants, paths] of [
      [{ roles: ['user', 'ghost', 'admin', 'phantom'] }, ['roles.1', 'roles.3']],
      [{ scopes: ['elsewhere'] }, ['scopes.0']],
      [{ memberships: ['nobody'] }, ['memberships.0']],
      [{ roles: ['user'], memberships: ['', "' OR 1=1"] }, ['memberships.0', 'memberships.1']],
    ] as const) {
      const { status, json, text } = await create({ name: 'backend', access: 'read', ...grants });
      expect([status, json.error]).toEqual([400, 'invalid_request']);
      expect(json.fields.map(({ path }: { path: string }) => path)).toEqual([...paths]);
      expect(text).not.toMatch(/ghost|phantom|elsewhere|nobody|eak_/);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: undefined }],
    ['access', { access: 'admin' }],
    ['access', { access: 'Read' }],
    ['rateLimits', { rateLimits: null }],
    ['rateLimits.perDay', { rateLimits: { perMinute: 1 } }],
    ['rateLimits.perMinute', { rateLimits: { perMinute: 0, perDay: 1 } }],
    ['rateLimits.perMinute', { rateLimits: { perMinute: 1_000_001, perDay: 1 } }],
    ['rateLimits.perMinute', { rateLimits: { perMinute: 1.5, perDay: 1 } }],
    ['rateLimits.perMinute', { rateLimits: { perMinute: '60', perDay: 1 } }],
    ['rateLimits.perDay', { rateLimits: { perMinute: 1, perDay: 0 } }],
    ['rateLimits.perDay', { rateLimits: { perMinute: 1, perDay: 1_000_000_001 } }],
    ['rateLimits.perHour', { rateLimits: { perMinute: 1, perDay: 1, perHour: 1 } }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
    ['expiresAt', { expiresAt: 1_900_000_000_000 }],
    ['expiresAt', { expiresAt: '2027-01-31' }],
    ['expiresAt', { expiresAt: '2027-01-31T00:00:00' }],
    ['expiresAt', { expiresAt: '2027-13-45T00:00:00Z' }],
    ['expiresAt', { expiresAt: new Date(START).toISOString() }],
    ['expiresAt', { expiresAt: '1999-01-01T00:00:00Z' }],
    ['roles', { roles: 'user' }],
    ['roles.0', { roles: [5] }],
    ['scopes', { scopes: Array(101).fill('x') }],
    ['applicationIds', { applicationIds: [] }],
    ['source', { source: 'device' }],
    ['token', { token: 'eak_chosen' }],
  ] as [string, Record<string, unknown>][])('names an invalid %s and writes nothing: %.80j', async (path, input) => {
    const { instance, create } = await setUp();
    const before = dumpTables(instance);
    const { status, json } = await create({ name: 'backend', access: 'read', ...input });
    expect([status, json.error]).toEqual([400, 'invalid_request']);
    expect(json.fields).toEqual([{ path, message: expect.stringMatching(/^[A-Z].*\.$/) }]);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('accepts the largest limits and an expiry in any time zone', async () => {
    const { create } = await setUp();
    const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
    const { json } = await create({ name: 'k', access: 'read', rateLimits, expiresAt: '2027-01-31T01:00:00+01:00' });
    expect(json.data).toMatchObject({ rateLimits, expiresAt: '2027-01-31T00:00:00.000Z' });
    expect((await create({ name: 'k', access: 'read', expiresAt: null })).json.data.expiresAt).toBeNull();
  });

  test('needs full access to the application', async () => {
    const { instance, application, create, list } = await setUp();
    const reader = await instance.createKey(application.id, { access: 'read' });
    const foreign = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    const body = { name: 'k', access: 'full' };
    for (const answer of [await create(body, reader.token), await list('', reader.token)])
      expect([answer.status, answer.json.error]).toEqual([403, 'admin_scope_required']);
    for (const answer of [
      await create(body, foreign.token),
      await list('', (await given.tenant(instance)).workspaceKey),
    ])
      expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
    const writer = await instance.createKey(application.id);
    expect((await create(body, writer.token)).status).toBe(200);
  });
});

describe('the principal of an API key', () => {
  test('is a user of kind api_key with an active membership and an address that receives no mail', async () => {
    const { instance, application, create } = await setUp();
    const { json } = await create({ name: 'backend', access: 'read' });
    expect(
      queryRow(
        instance,
        `SELECT u.kind, u.email, u.name, u.email_verified_at AS verified, m.status, m.application_id AS applicationId
         FROM users u JOIN application_users m ON m.user_id = u.id WHERE u.id = ?`,
        json.data.userId,
      ),
    ).toEqual({
      kind: 'api_key',
      email: `${json.data.id}@api-key.invalid`,
      name: 'backend',
      verified: null,
      status: 'active',
      applicationId: application.id,
    });
  });

  test('is a different user for each key, and never a person', async () => {
    const { instance, application, create } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const ids = [];
    for (let number = 0; number < 5; number += 1)
      ids.push((await create({ name: 'same name', access: 'read' })).json.data.userId);
    expect(new Set([userId, ...ids]).size).toBe(6);
  });

  test('cannot sign in, even with a code mailed to its address', async () => {
    const { instance, application, create } = await setUp();
    const { json } = await create({ name: 'backend', access: 'read' });
    const email = `${json.data.id}@api-key.invalid`;
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email, clientId: application.clientId },
    });
    if (sent.status === 200) {
      const answer = await instance.call('POST', '/api/v1/auth/otp/verify', {
        body: { challengeId: sent.json.data.challengeId, code: instance.codeFor(email) },
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    expect(instance.sqlite.query('SELECT count(*) AS n FROM sessions').get()).toEqual({ n: 0 });
  });

  test('of a workspace key is a member of the console application and of no workspace', async () => {
    const { instance } = await setUp();
    const key = await given.workspaceKey(instance);
    expect(
      queryRow(instance, 'SELECT application_id AS home FROM application_users WHERE user_id = ?', key.userId),
    ).toEqual({ home: (await findConsole(instance.db.reader))!.id });
    expect(queryRow(instance, 'SELECT count(*) AS n FROM workspace_members WHERE user_id = ?', key.userId)).toEqual({
      n: 0,
    });
  });
});

describe('the list of API keys', () => {
  test('pages from the newest on and contains only the keys of its application', async () => {
    const { instance, create, list } = await setUp();
    await given.workspaceKey(instance);
    await instance.createKey((await instance.createApplication({ name: 'Other' })).id, { name: 'foreign' });
    for (const name of ['a', 'b', 'c']) {
      instance.clock.advance(MINUTE);
      await create({ name, access: 'read' });
    }
    const first = (await list('?limit=2')).json.data;
    const second = (await list(`?limit=2&cursor=${first.nextCursor}`)).json.data;
    const names = (page: { items: { name: string }[] }) => page.items.map(({ name }) => name);
    expect([names(first), names(second), second.nextCursor]).toEqual([['c', 'b'], ['a'], null]);
    expect(Object.keys(first.items[0])).toEqual(RECORD);
  });

  test('of the workspace contains only workspace keys', async () => {
    const { instance, application } = await setUp();
    await instance.createKey(application.id);
    await given.tenant(instance);
    await given.workspaceKey(instance, { name: 'ops' });
    const { json, text } = await instance.call('GET', WORKSPACE_KEYS, { token: instance.workspaceKey });
    expect(json.data.items.map(({ name }: { name: string }) => name)).toEqual(['ops', 'GATEHOUSE_WORKSPACE_KEY']);
    expect(text).not.toContain(instance.workspaceKey.slice(12));
  });

  test('refuses an invalid cursor and a limit out of range', async () => {
    const { list } = await setUp();
    expect((await list('?cursor=bnVsbA')).json.error).toBe('invalid_cursor');
    expect((await list('?limit=0')).json.fields[0].path).toBe('limit');
  });
});

describe('a workspace key', () => {
  const create = (instance: Instance, body: unknown, token = instance.workspaceKey) =>
    instance.call('POST', WORKSPACE_KEYS, { token, body });

  test('reaches all applications, or only the listed ones', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const all = await create(instance, { name: 'all', access: 'full' });
    expect(all.json.data).toMatchObject({ applicationId: null, applicationIds: null, roles: [] });
    const some = await create(instance, { name: 'some', access: 'full', applicationIds: [other.id, other.id] });
    expect(some.json.data.applicationIds).toEqual([other.id]);
    const get = (token: string, id: string) => instance.call('GET', `/api/applications/${id}`, { token });
    expect((await get(all.json.data.token, application.id)).status).toBe(200);
    expect((await get(some.json.data.token, other.id)).status).toBe(200);
    expect((await get(some.json.data.token, application.id)).status).toBe(404);
  });

  test.each([
    ['an empty list', []],
    ['no list', 'app_x'],
    ['an id that does not exist', ['app_01h455vb4pex5vsknk084sn02q']],
    ['too many', Array(201).fill('app_x')],
  ])('for %s of applications is refused, and nothing is written', async (_, applicationIds) => {
    const { instance } = await setUp();
    const before = dumpTables(instance);
    const { status, json } = await create(instance, { name: 'k', access: 'read', applicationIds });
    expect([status, json.fields[0].path]).toEqual([400, expect.stringMatching(/^applicationIds(\.0)?$/)]);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('for an application of another workspace or the console is refused as for an unknown one', async () => {
    const { instance, application } = await setUp();
    const tenant = await given.tenant(instance);
    const before = dumpTables(instance);
    for (const id of [tenant.application.id, (await findConsole(instance.db.reader))!.id]) {
      const { status, json } = await create(instance, {
        name: 'k',
        access: 'read',
        applicationIds: [application.id, id],
      });
      expect([status, json.fields]).toEqual([
        400,
        [{ path: 'applicationIds.1', message: 'There is no such application in this workspace.' }],
      ]);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test('holds roles, scopes and groups in the only application it names, and verifies with them there', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const manage = (path: string, slug: string) =>
      instance.call('POST', `/api/applications/${application.id}/${path}`, {
        token: instance.workspaceKey,
        body: { slug },
      });
    await manage('scopes', 'orders:read');
    await manage('memberships', 'berlin');
    const held = { roles: ['developer'], scopes: ['orders:read'], memberships: ['berlin'] };
    const { json } = await create(instance, { name: 'k', ...held, applicationIds: [application.id, application.id] });
    expect(json.data).toMatchObject({ ...held, access: 'read', applicationId: null, applicationIds: [application.id] });
    const verify = async (token: string) =>
      (await instance.call('POST', '/api/v1/verify', { token, body: { token: json.data.token } })).json;
    const backend = await instance.createKey(application.id, { access: 'read' });
    expect(await verify(backend.token)).toMatchObject({
      success: true,
      data: { applicationId: application.id, userId: json.data.userId, ...held },
    });
    expect(await verify((await instance.createKey(other.id)).token)).toEqual({
      success: false,
      errorMessage: 'invalid_token',
    });
    const reach = async (id: string) =>
      (await instance.call('GET', `/api/applications/${id}`, { token: json.data.token })).status;
    expect([await reach(application.id), await reach(other.id)]).toEqual([200, 404]);
    const before = instance.events(application.id).length;
    await instance.call('DELETE', `${WORKSPACE_KEYS}/${json.data.id}`, { token: instance.workspaceKey });
    expect(instance.events(application.id).slice(before)).toEqual([
      { type: 'user.banned', data: { userId: json.data.userId } },
    ]);
    expect(await verify(backend.token)).toEqual({ success: false, errorMessage: 'membership_blocked' });
  });

  test('with roles or groups must name exactly one application', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const before = dumpTables(instance);
    for (const applicationIds of [undefined, null, [application.id, other.id]]) {
      const { status, json } = await create(instance, {
        name: 'k',
        applicationIds,
        roles: ['user'],
        memberships: ['x'],
      });
      const message = 'It is held in one application: name exactly one in applicationIds, or leave this out.';
      expect([status, json.fields]).toEqual([
        400,
        [
          { path: 'roles', message },
          { path: 'memberships', message },
        ],
      ]);
    }
    const unknown = await create(instance, { name: 'k', applicationIds: [application.id], roles: ['nothing'] });
    expect([unknown.status, unknown.json.fields[0].path]).toEqual([400, 'roles.0']);
    expect(dumpTables(instance)).toEqual(before);
    expect((await create(instance, { name: 'k', roles: [] })).status).toBe(200);
  });

  test('has read access by default, like an application key', async () => {
    const { instance, application } = await setUp();
    const own = await instance.call('POST', `/api/applications/${application.id}/api-keys`, {
      token: instance.workspaceKey,
      body: { name: 'k' },
    });
    const whole = await create(instance, { name: 'k' });
    expect([own.json.data.access, whole.json.data.access]).toEqual(['read', 'read']);
    const refused = await instance.call('POST', '/api/applications', { token: whole.json.data.token, body: {} });
    expect([refused.status, refused.json.error]).toEqual([403, 'admin_scope_required']);
  });

  test('cannot be created by an application key or a read key', async () => {
    const { instance, application } = await setUp();
    const applicationKey = await instance.createKey(application.id);
    const reader = await given.workspaceKey(instance, { access: 'read' });
    const before = dumpTables(instance);
    const refusal = async (token: string) => {
      const { status, json } = await create(instance, { name: 'k', access: 'full' }, token);
      return [status, json.error];
    };
    expect(await refusal(applicationKey.token)).toEqual([403, 'forbidden']);
    expect(await refusal(reader.token)).toEqual([403, 'admin_scope_required']);
    expect((await instance.call('GET', WORKSPACE_KEYS, { token: applicationKey.token })).status).toBe(403);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('limited to some applications can neither list nor create workspace keys', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const subset = await given.workspaceKey(instance, { applicationIds: [application.id] });
    const before = dumpTables(instance);
    for (const applicationIds of [undefined, null, [application.id], [other.id]]) {
      const { status, json } = await create(instance, { name: 'k', access: 'full', applicationIds }, subset.token);
      expect([status, json.error]).toEqual([403, 'forbidden']);
    }
    const list = await instance.call('GET', WORKSPACE_KEYS, { token: subset.token });
    expect([list.status, list.json.error]).toEqual([403, 'forbidden']);
    const elsewhere = await instance.call('POST', `/api/applications/${other.id}/api-keys`, {
      token: subset.token,
      body: { name: 'k', access: 'full' },
    });
    expect(elsewhere.status).toBe(404);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('from the environment is adopted once, across restarts', async () => {
    const instance = await createInstance();
    const again = await instance.restart();
    const { json } = await again.call('GET', WORKSPACE_KEYS, { token: instance.workspaceKey });
    expect(json.data.items).toHaveLength(1);
    expect(json.data.items[0]).toMatchObject({ source: 'environment', access: 'full', expiresAt: null });
  });

  test('from the environment has the default rate limits, and keeps changed ones across restarts', async () => {
    const instance = await createInstance({ isKeyAsMade: true });
    const token = instance.workspaceKey;
    const list = (from = instance) => from.call('GET', WORKSPACE_KEYS, { token });
    const { headers, json } = await list();
    expect(headers.get('ratelimit-limit')).toBe('60');
    const [{ id, rateLimits }] = json.data.items;
    expect(rateLimits).toEqual({ perMinute: 60, perDay: 10_000 });
    const wanted = { perMinute: 600, perDay: 100_000 };
    await instance.call('PATCH', `${WORKSPACE_KEYS}/${id}`, { token, body: { rateLimits: wanted } });
    expect((await list(await instance.restart())).json.data.items[0].rateLimits).toEqual(wanted);
  });

  test('is refused from its expiry on', async () => {
    const { instance } = await setUp();
    const key = await given.workspaceKey(instance, { expiresAt: new Date(START + DAY).toISOString() });
    const list = () => instance.call('GET', '/api/applications', { token: key.token });
    instance.clock.advance(DAY - 1);
    expect((await list()).status).toBe(200);
    instance.clock.advance(1);
    expect([(await list()).status, (await list()).json.error]).toEqual([401, 'unauthenticated']);
  });
});
