/** External ids and metadata of users: set by management and import, found, verified and deleted. */
import { describe, expect, test } from 'bun:test';
import { createInstance, type Instance } from '../../support/instance.ts';
import { lastAudit, managing, people, watch } from './management.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication({ name: 'Shop' });
  const manage = managing(instance, application);
  const patch = (userId: string, body: unknown) => manage('PATCH', `/users/${userId}`, { body });
  return { instance, application, manage, patch };
}

const verify = (instance: Instance, token: string, body: object) =>
  instance.call('POST', '/api/v1/verify', { token, body });

describe('PATCH /users/{userId}', () => {
  test('sets external id and metadata, which the record, the list and the search by external id answer', async () => {
    const { instance, application, manage, patch } = await setUp();
    const [ada = '', bob = ''] = await people(manage, 'ada@example.com', 'bob@example.com');
    const seen = watch(instance, application);
    const set = await patch(ada, { externalId: 'crm|4711', metadata: { plan: 'pro', seats: [1, null] } });
    expect(set.status).toBe(200);
    expect(set.json.data).toMatchObject({ externalId: 'crm|4711', metadata: { plan: 'pro', seats: [1, null] } });
    expect((await manage('GET', `/users/${bob}`)).json.data).toMatchObject({ externalId: null, metadata: {} });
    const list = await manage('GET', '/users?include=profile,metadata&sort=joined');
    expect(list.json.data.items).toMatchObject([
      { externalId: 'crm|4711', metadata: { plan: 'pro' } },
      { metadata: {} },
    ]);
    const found = await manage('GET', '/users?externalId=crm%7C4711');
    expect(found.json.data).toMatchObject({ items: [{ userId: ada, externalId: 'crm|4711' }], nextCursor: null });
    expect(found.json.data.items[0].metadata).toBeUndefined();
    expect((await manage('GET', '/users?externalId=CRM%7C4711')).json.data.items).toEqual([]);
    expect(seen.events().map(({ type, data }) => [type, data])).toEqual([
      [
        'user.profile_updated',
        { userId: ada, name: '', categories: ['external_id', 'metadata'], externalId: 'crm|4711' },
      ],
    ]);
    expect(JSON.parse(String(lastAudit(instance, 'user.updated')['detail']))).toEqual({
      fields: ['external_id', 'metadata'],
    });
  });

  test('merges metadata as a JSON Merge Patch, and writes nothing where nothing changes', async () => {
    const { instance, application, manage, patch } = await setUp();
    const [ada = ''] = await people(manage, 'ada@example.com');
    await patch(ada, { metadata: { plan: 'pro', crm: { owner: 'eve', region: 'eu' } } });
    const merged = await patch(ada, {
      metadata: { plan: null, crm: { owner: null, tier: 2 }, ['__proto__']: { a: 1 } },
    });
    expect(JSON.stringify(merged.json.data.metadata)).toBe('{"crm":{"region":"eu","tier":2},"__proto__":{"a":1}}');
    const seen = watch(instance, application);
    expect((await patch(ada, { metadata: { crm: { tier: 2 } } })).status).toBe(200);
    expect([...seen.events(), ...seen.kinds()]).toEqual([]);
    expect((await patch(ada, { metadata: null })).json.data.metadata).toEqual({});
  });

  test('refuses what is malformed, too large or taken, naming the field, and changes nothing', async () => {
    const { manage, patch } = await setUp();
    const [ada = '', bob = ''] = await people(manage, 'ada@example.com', 'bob@example.com');
    await patch(ada, { externalId: 'crm-1', username: 'ada', metadata: { text: 'x'.repeat(4000) } });
    for (const [body, path] of [
      [{ externalId: '' }, 'externalId'],
      [{ externalId: ' crm' }, 'externalId'],
      [{ externalId: 'crm\u202e1' }, 'externalId'],
      [{ externalId: 'x'.repeat(129) }, 'externalId'],
      [{ metadata: [] }, 'metadata'],
      [{ metadata: 'text' }, 'metadata'],
      [{ metadata: { more: 'ü'.repeat(100) } }, 'metadata'],
      [{ username: 'admin' }, 'username'],
      [{ profile: { locale: 'no language' } }, 'profile.locale'],
      [{ email: 'eve@example.com' }, 'email'],
    ] as const) {
      const { status, json } = await patch(ada, body);
      expect([body, status, json.fields?.[0]?.path]).toEqual([body, 400, path]);
    }
    for (const body of [{ externalId: 'crm-1' }, { username: 'ADA' }])
      expect(await patch(bob, body)).toMatchObject({ status: 409, json: { error: 'conflict' } });
    expect((await patch(bob, { externalId: 'crm-2', username: 'admin' })).status).toBe(400);
    expect((await manage('GET', `/users/${bob}`)).json.data).toMatchObject({ externalId: null, username: null });
    expect((await manage('GET', '/users?externalId=crm-1&status=active')).json.fields[0].path).toBe('externalId');
  });

  test('of two users who are given one external id at once, one gets it', async () => {
    const { manage, patch } = await setUp();
    const ids = await people(manage, 'ada@example.com', 'bob@example.com', 'eve@example.com');
    const answers = await Promise.all(ids.map((id) => patch(id, { externalId: 'crm-1' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('corrects the profile until the person signs in; from then on it is their own', async () => {
    const { instance, application, manage, patch } = await setUp();
    const [ada = ''] = await people(manage, 'ada@example.com');
    const corrected = await patch(ada, { profile: { fullName: ' Ada  King ', locale: 'de-at' } });
    expect(corrected.json.data.profile).toMatchObject({ fullName: 'Ada  King', locale: 'de-AT' });
    await patch(ada, { externalId: 'crm-1', metadata: { plan: 'pro' }, username: 'ada' });
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    expect(userId).toBe(ada);
    const refused = await patch(ada, { profile: { fullName: 'Somebody Else' } });
    expect(refused).toMatchObject({ status: 409, json: { error: 'invalid_state' } });
    expect((await manage('GET', `/users/${ada}`)).json.data).toMatchObject({
      ...{ externalId: 'crm-1', metadata: { plan: 'pro' }, username: 'ada', profile: { fullName: 'Ada  King' } },
    });
    const signedIn = instance.events(application.id).findLast(({ type }) => type === 'user.signed_in');
    expect(signedIn?.data).toMatchObject({ externalId: 'crm-1' });
    expect((await patch(ada, { username: 'countess' })).json.data.username).toBe('countess');
  });

  test('needs a Full key; a Read key sees external ids, and no metadata', async () => {
    const { instance, application, manage, patch } = await setUp();
    const [ada = ''] = await people(manage, 'ada@example.com');
    await patch(ada, { externalId: 'crm-1', metadata: { plan: 'pro' } });
    const { token } = await instance.createKey(application.id, { access: 'read' });
    const body = { metadata: {} };
    expect((await manage('PATCH', `/users/${ada}`, { token, body })).json.error).toBe('admin_scope_required');
    expect((await instance.call('PATCH', `/api/applications/${application.id}/users/${ada}`, { body })).status).toBe(
      401,
    );
    const shown = (await manage('GET', `/users/${ada}`, { token })).json.data;
    expect([shown.externalId, shown.metadata]).toEqual(['crm-1', undefined]);
    expect((await manage('GET', '/users?include=metadata', { token })).status).toBe(403);
  });

  test('the same external id may be used by other applications, which do not see this one', async () => {
    const { instance, manage, patch } = await setUp();
    const other = managing(instance, await instance.createApplication({ name: 'Other' }));
    const [ada = ''] = await people(manage, 'ada@example.com');
    const [same = ''] = await people(other, 'ada@example.com');
    expect(same).toBe(ada);
    await patch(ada, { externalId: 'crm-1', metadata: { plan: 'pro' } });
    expect((await other('GET', '/users?externalId=crm-1')).json.data.items).toEqual([]);
    expect((await other('GET', `/users/${ada}`)).json.data).toMatchObject({ externalId: null, metadata: {} });
    expect((await other('PATCH', `/users/${ada}`, { body: { externalId: 'crm-1' } })).status).toBe(200);
  });
});

describe('import', () => {
  test('fills a blank external id and missing metadata keys, and never overwrites', async () => {
    const { manage, patch } = await setUp();
    const load = async (...users: unknown[]) =>
      (await manage('POST', '/users/bulk', { body: { users } })).json.data.results;
    const [{ userId }] = await load({ email: 'ada@example.com', metadata: { plan: 'pro', gone: null } });
    await patch(userId, { metadata: { seats: 1 } });
    await load({ email: 'ada@example.com', externalId: 'crm-1', metadata: { plan: 'free', seats: 2, since: 2019 } });
    await load({ email: 'ada@example.com', externalId: 'crm-9' });
    expect((await manage('GET', `/users/${userId}`)).json.data).toMatchObject({
      externalId: 'crm-1',
      metadata: { plan: 'pro', seats: 1, since: 2019 },
    });
  });

  test('skips a row whose external id is taken, and one with unusable values; the others proceed', async () => {
    const { manage } = await setUp();
    const users = [
      { email: 'ada@example.com', externalId: 'crm-1' },
      { email: 'bob@example.com', externalId: 'crm-1' },
      { email: 'eve@example.com', externalId: '\u0000' },
      { email: 'eve@example.com', metadata: 'text' },
      { email: 'eve@example.com', metadata: { text: 'x'.repeat(4100) } },
      { email: 'eve@example.com', externalId: null, metadata: null },
    ];
    const { results } = (await manage('POST', '/users/bulk', { body: { users } })).json.data;
    expect(results.map(({ outcome, error }: { outcome: string; error?: string }) => error ?? outcome)).toEqual([
      'created',
      'external_id_taken:crm-1',
      'field_invalid:externalId',
      'field_invalid:metadata',
      'field_invalid:metadata',
      'created',
    ]);
  });
});

describe('POST /api/v1/verify', () => {
  test('answers what is included, as of now, and exactly the same as before without it', async () => {
    const { instance, application, patch } = await setUp();
    const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
    const key = await instance.createKey(application.id, { access: 'read' });
    const plain = await verify(instance, key.token, { token });
    expect((await verify(instance, key.token, { token, include: ['metadata'] })).json.data).toEqual({
      ...plain.json.data,
      metadata: {},
    });
    for (const plan of ['pro', 'free']) {
      await patch(userId, { externalId: `crm-${plan}`, metadata: { plan } });
      const { json } = await verify(instance, key.token, { token, include: ['metadata', 'externalId'] });
      expect(json.data).toEqual({ ...plain.json.data, externalId: `crm-${plan}`, metadata: { plan } });
    }
    for (const body of [{ token }, { token, include: [] }])
      expect((await verify(instance, key.token, body)).text).toBe(plain.text);
    expect((await verify(instance, key.token, { token: 'est_no', include: ['metadata'] })).json).toEqual({
      success: false,
      errorMessage: 'invalid_token',
    });
    expect((await verify(instance, key.token, { token, include: ['name'] })).status).toBe(400);
  });

  test('another application’s key learns nothing of them', async () => {
    const { instance, application, patch } = await setUp();
    const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
    await patch(userId, { externalId: 'crm-1' });
    const other = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    expect((await verify(instance, other.token, { token, include: ['externalId'] })).json).toEqual({
      success: false,
      errorMessage: 'invalid_token',
    });
  });
});
