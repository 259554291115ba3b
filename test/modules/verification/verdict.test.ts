/** Which tokens are valid, and the errors of the others: the same verdict through both endpoints. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, HOUR, MINUTE } from '@/core/clock.ts';
import { ERROR_CATALOGUE } from '@/core/error.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { MEMBERSHIP_STATUSES } from '@/store/schema/users.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const person = await instance.signIn(application.clientId, 'ada@example.com');
  const key = await instance.createKey(application.id, { access: 'read' });
  return { instance, application, person, key };
}

const verify = (instance: Instance, key: string | undefined, token: unknown) =>
  instance.call('POST', '/api/v1/verify', { token: key, body: { token } });

type Refusal = 'invalid_token' | 'membership_blocked' | 'revoked' | 'expired';

/** Expects the refusal of one session through both endpoints, without further details. */
async function expectRefused(instance: Instance, key: string, token: string, refusal: Refusal): Promise<void> {
  const direct = await instance.call('POST', '/api/v1/session', { token });
  expect([direct.status, direct.json]).toEqual([
    refusal === 'membership_blocked' ? 403 : 401,
    {
      ok: false,
      error: refusal,
      message: ERROR_CATALOGUE[refusal].message,
      requestId: direct.headers.get('x-request-id'),
    },
  ]);
  const verdict = await verify(instance, key, token);
  expect([verdict.status, verdict.json]).toEqual([200, { success: false, errorMessage: refusal }]);
}

describe('a session', () => {
  test.each([
    // blocked, revoked, expired → the error
    [false, false, false, null],
    [false, false, true, 'expired'],
    [false, true, false, 'revoked'],
    [false, true, true, 'revoked'],
    [true, false, false, 'membership_blocked'],
    [true, false, true, 'membership_blocked'],
    [true, true, false, 'membership_blocked'],
    [true, true, true, 'membership_blocked'],
  ] as const)(
    'blocked: %p, revoked: %p, expired: %p is refused in the contract’s order: %p',
    async (isBlocked, isRevoked, isExpired, refusal) => {
      const { instance, application, person, key } = await setUp();
      if (isRevoked) await instance.call('DELETE', '/api/v1/session', { token: person.token });
      if (isBlocked) await given.member(instance, application.id, person.userId, { status: 'paused' });
      if (isExpired) instance.clock.advance(30 * DAY);
      if (refusal !== null) return expectRefused(instance, key.token, person.token, refusal);
      expect((await instance.call('POST', '/api/v1/session', { token: person.token })).json.ok).toBe(true);
      expect((await verify(instance, key.token, person.token)).json.success).toBe(true);
    },
  );

  test.each(MEMBERSHIP_STATUSES.filter((status) => status !== 'active'))(
    'a session of a membership that is %s is blocked at once, and valid again once it is active',
    async (status) => {
      const { instance, application, person, key } = await setUp();
      await given.member(instance, application.id, person.userId, { status });
      await expectRefused(instance, key.token, person.token, 'membership_blocked');
      await given.member(instance, application.id, person.userId, { status: 'active' });
      expect((await verify(instance, key.token, person.token)).json.success).toBe(true);
    },
  );

  test('a session of a deleted person is blocked', async () => {
    const { instance, person, key } = await setUp();
    await given.person(instance, person.userId, { deletedAt: START });
    await expectRefused(instance, key.token, person.token, 'membership_blocked');
  });

  test('is valid to its last millisecond', async () => {
    const { instance, person, key } = await setUp();
    instance.clock.advance(30 * DAY - 1);
    expect((await verify(instance, key.token, person.token)).json.success).toBe(true);
    instance.clock.advance(1);
    await expectRefused(instance, key.token, person.token, 'expired');
  });

  test('a session of one application is unaffected by a ban in another', async () => {
    const { instance, application, person, key } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    instance.clock.advance(MINUTE);
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    expect(elsewhere.userId).toBe(person.userId);
    await instance.services.users.act(SYSTEM_ACTOR, application, person.userId, 'ban');
    await expectRefused(instance, key.token, person.token, 'membership_blocked');
    expect((await instance.call('POST', '/api/v1/session', { token: elsewhere.token })).json.ok).toBe(true);
  });

  test.each([
    ['none', ''],
    ['no secret at all', 'hello'],
    ['a truncated one', 'est_0123456789'],
    ['one with a wrong checksum', `est_${'0'.repeat(49)}`],
    ['an SQL text', "' OR 1=1 --"],
    ['a hash', 'a'.repeat(64)],
    ['longer than any token', 'a'.repeat(501)],
    ['endless', 'a'.repeat(100_000)],
  ])('token that is %s is invalid_token', async (_, token) => {
    const { instance, key } = await setUp();
    const { status, json } = await instance.call('POST', '/api/v1/session', { token });
    expect([status, json.error]).toEqual([401, 'invalid_token']);
    await expectRefused(instance, key.token, token, 'invalid_token');
  });

  test('token that is well-formed but was never issued is invalid_token', async () => {
    const { instance, key } = await setUp();
    await expectRefused(instance, key.token, mintSecret('session', systemRandom), 'invalid_token');
    await expectRefused(instance, key.token, mintSecret('setup', systemRandom), 'invalid_token');
  });

  test('endpoint accepts no API key', async () => {
    const { instance, key } = await setUp();
    for (const token of [key.token, instance.workspaceKey]) {
      const { status, json } = await instance.call('POST', '/api/v1/session', { token });
      expect([status, json.error]).toEqual([401, 'invalid_token']);
    }
  });

  test('endpoint accepts the bearer scheme in any case, and no other scheme', async () => {
    const { instance, person } = await setUp();
    const call = (authorization: string) => instance.call('POST', '/api/v1/session', { headers: { authorization } });
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await call(`${scheme} ${person.token}`)).status).toBe(200);
    for (const header of [person.token, `Basic ${person.token}`, `Bearer${person.token}`, `Token ${person.token}`])
      expect((await call(header)).json.error).toBe('invalid_token');
  });

  test('is verified without a change or event', async () => {
    const { instance, application, person, key } = await setUp();
    const before = dumpTables(instance);
    const events = instance.events(application.id);
    await instance.call('POST', '/api/v1/session', { token: person.token });
    await verify(instance, key.token, person.token);
    await verify(instance, key.token, 'nonsense');
    expect(dumpTables(instance)).toEqual(before);
    expect(instance.events(application.id)).toEqual(events);
  });
});

describe('verification for a backend', () => {
  test('never crosses applications: another’s key gets invalid_token, as for an unknown one', async () => {
    const { instance, person } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const foreign = await instance.createKey(other.id);
    const unknown = await verify(instance, foreign.token, mintSecret('session', systemRandom));
    const verdict = await verify(instance, foreign.token, person.token);
    expect([verdict.status, verdict.json]).toEqual([unknown.status, unknown.json]);
    expect(verdict.json).toEqual({ success: false, errorMessage: 'invalid_token' });
  });

  test('answers invalid_token for another application’s token in any state', async () => {
    const { instance, application, person } = await setUp();
    const foreign = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    const outcome = async () => (await verify(instance, foreign.token, person.token)).json.errorMessage;
    await instance.call('DELETE', '/api/v1/session', { token: person.token });
    expect(await outcome()).toBe('invalid_token');
    await instance.services.users.act(SYSTEM_ACTOR, application, person.userId, 'ban');
    expect(await outcome()).toBe('invalid_token');
    instance.clock.advance(31 * DAY);
    expect(await outcome()).toBe('invalid_token');
  });

  test('never crosses workspaces', async () => {
    const { instance, person } = await setUp();
    const tenant = await given.tenant(instance);
    const theirs = await instance.signIn(tenant.application.clientId, 'eve@example.com');
    const outcome = async (key: string, token: string) => (await verify(instance, key, token)).json;
    expect(await outcome(tenant.workspaceKey, person.token)).toEqual({ success: false, errorMessage: 'invalid_token' });
    expect(await outcome(instance.workspaceKey, theirs.token)).toEqual({
      success: false,
      errorMessage: 'invalid_token',
    });
    expect((await outcome(tenant.workspaceKey, theirs.token)).success).toBe(true);
    expect((await outcome(instance.workspaceKey, person.token)).success).toBe(true);
  });

  test('a key for some applications accepts only tokens of these', async () => {
    const { instance, application, person } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    instance.clock.advance(MINUTE);
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    const subset = await given.workspaceKey(instance, { access: 'read', applicationIds: [application.id] });
    expect((await verify(instance, subset.token, person.token)).json.success).toBe(true);
    expect((await verify(instance, subset.token, elsewhere.token)).json.errorMessage).toBe('invalid_token');
  });

  test('refuses console sessions, since the console belongs to no tenant', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    expect((await verify(instance, instance.workspaceKey, owner.token)).json).toEqual({
      success: false,
      errorMessage: 'invalid_token',
    });
  });

  test('accepts a key of the same application as the token, and none of another', async () => {
    const { instance, application, key } = await setUp();
    const presented = await instance.createKey(application.id);
    const foreign = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    expect((await verify(instance, key.token, presented.token)).json.success).toBe(true);
    expect((await verify(instance, key.token, key.token)).json.success).toBe(true);
    expect((await verify(instance, key.token, foreign.token)).json.errorMessage).toBe('invalid_token');
    expect((await verify(instance, instance.workspaceKey, foreign.token)).json.success).toBe(true);
  });

  test('accepts no workspace key as the token, even from itself', async () => {
    const { instance, application, key } = await setUp();
    const subset = await given.workspaceKey(instance, { applicationIds: [application.id] });
    for (const caller of [key.token, instance.workspaceKey, subset.token])
      for (const token of [instance.workspaceKey, subset.token])
        expect((await verify(instance, caller, token)).json).toEqual({ success: false, errorMessage: 'invalid_token' });
  });

  test('answers expired for a key past its expiry, to the millisecond', async () => {
    const { instance, application, key } = await setUp();
    const presented = await instance.createKey(application.id, { expiresAt: new Date(START + HOUR).toISOString() });
    instance.clock.advance(HOUR - 1);
    expect((await verify(instance, key.token, presented.token)).json.success).toBe(true);
    instance.clock.advance(1);
    expect((await verify(instance, key.token, presented.token)).json).toEqual({
      success: false,
      errorMessage: 'expired',
    });
  });

  test('answers expired for a predecessor past its grace period, and accepts it until then', async () => {
    const { instance, application, key } = await setUp();
    const old = await instance.createKey(application.id);
    const rotation = `/api/applications/${application.id}/api-keys/${old.id}/rotate-with-grace`;
    const successor = (await instance.call('POST', rotation, { token: instance.workspaceKey })).json.data;
    instance.clock.advance(DAY - 1);
    expect((await verify(instance, key.token, old.token)).json.success).toBe(true);
    expect((await instance.call('GET', '/api/applications', { token: old.token })).status).toBe(200);
    instance.clock.advance(1);
    expect((await verify(instance, key.token, old.token)).json).toEqual({ success: false, errorMessage: 'expired' });
    expect((await instance.call('GET', '/api/applications', { token: old.token })).status).toBe(401);
    expect((await verify(instance, key.token, successor.token)).json.success).toBe(true);
  });

  test('answers membership_blocked for a revoked key, even if it has expired', async () => {
    const { instance, application, key } = await setUp();
    const presented = await given.revokedKey(instance, application.id, {
      expiresAt: new Date(START + HOUR).toISOString(),
    });
    expect((await verify(instance, key.token, presented.token)).json.errorMessage).toBe('membership_blocked');
    instance.clock.advance(DAY);
    expect((await verify(instance, key.token, presented.token)).json.errorMessage).toBe('membership_blocked');
  });
});

describe('the caller’s own key', () => {
  test('gets 401 invalid_api_key in one shape if it is missing, malformed, unknown, expired or revoked', async () => {
    const { instance, application, person } = await setUp();
    const expired = await instance.createKey(application.id, { expiresAt: new Date(START + 1).toISOString() });
    const revoked = await given.revokedKey(instance, application.id);
    instance.clock.advance(1);
    // A holder of a key that was once valid learns why it ended.
    const told = new Map<string | undefined, unknown>([
      [expired.token, expect.stringContaining(`expired at ${new Date(START + 1).toISOString()}`)],
      [revoked.token, expect.stringContaining('revoked at ')],
    ]);
    const bad = [undefined, 'eak_x', mintSecret('apiKey', systemRandom), person.token, expired.token, revoked.token];
    for (const key of bad) {
      const { status, json, headers, text } = await verify(instance, key, person.token);
      expect([status, json]).toEqual([
        401,
        {
          success: false,
          errorMessage: 'invalid_api_key',
          message: told.get(key) ?? ERROR_CATALOGUE.invalid_api_key.message,
          requestId: headers.get('x-request-id'),
        },
      ]);
      expect(text).not.toContain(person.token);
    }
  });

  test('is checked before the body', async () => {
    const { instance } = await setUp();
    const answer = await instance.call('POST', '/api/v1/verify', { token: 'eak_x', body: '{"broken' });
    expect([answer.status, answer.json.errorMessage]).toEqual([401, 'invalid_api_key']);
  });

  test('never gets the error of a broken call in errorMessage, which is reserved for verdicts', async () => {
    const { instance, key } = await setUp();
    const bodies = [
      {},
      { token: 7 },
      { token: null },
      { token: 'x', more: 1 },
      '{"broken',
      '7',
      `"${'x'.repeat(1_100_000)}"`,
    ];
    for (const body of bodies) {
      const { status, json } = await instance.call('POST', '/api/v1/verify', { token: key.token, body });
      expect([400, 413]).toContain(status);
      expect([json.success, json.errorMessage, json.error]).toEqual([
        false,
        undefined,
        status === 413 ? 'payload_too_large' : 'invalid_request',
      ]);
    }
  });

  test('may be a read key', async () => {
    const { instance, person, key } = await setUp();
    expect((await verify(instance, key.token, person.token)).json.success).toBe(true);
  });

  test.each([[{}], [{ token: 5 }], [{ token: null }], [{ token: 'x', y: 1 }]])(
    'a body other than {token} gets the field’s name: %.60j',
    async (body) => {
      const { instance, key } = await setUp();
      const { status, json } = await instance.call('POST', '/api/v1/verify', { token: key.token, body });
      expect([status, json.success, json.fields.length]).toEqual([400, false, 1]);
      expect(json.fields[0].path).toBe('y' in body ? 'y' : 'token');
    },
  );
});
