import { describe, expect, test } from 'bun:test';
import { requireConsole } from '@/store/applications.ts';
import { listMembershipsOf } from '@/store/memberships.ts';
import { DAY, isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { lastAudit, managing, refusal, tables } from '../users/management.ts';

/** Application keys and workspace keys share these operations. */
describe.each(['application', 'workspace'] as const)('a key of the %s', (owner) => {
  async function setUp() {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const path = owner === 'application' ? `/api/applications/${application.id}/api-keys` : '/api/workspace/api-keys';
    const call = (method: string, tail = '', body?: unknown, token = instance.workspaceKey) =>
      instance.call(method, path + tail, { token, body });
    const create = async (input: Record<string, unknown> = {}) =>
      (await call('POST', '', { name: 'backend', access: 'full', ...input })).json.data;
    const record = async (id: string) =>
      (await call('GET', '?limit=200')).json.data.items.find((key: { id: string }) => key.id === id);
    /** Returns the status of a management call with this token. */
    const use = async (token: string) => (await instance.call('GET', '/api/applications', { token })).status;
    const kinds = () => instance.auditKinds().filter((kind) => kind.startsWith('apikey.'));
    /** Makes the principal's membership inactive, as deleting the user does. */
    const deactivate = async (userId: string) => {
      const [membership] = await listMembershipsOf(instance.db.reader, userId);
      await given.member(instance, membership!.applicationId, userId, { status: 'deleted' });
    };
    return { instance, application, path, call, create, record, use, kinds, deactivate };
  }

  const withoutToken = ({ token: _, ...rest }: Record<string, unknown>) => rest;

  test.each(['rotate', 'rotate-with-grace'])(
    '%s: a successor continues the rate-limit counts of its predecessor',
    async (how) => {
      const { instance, call, create } = await setUp();
      const key = await create({ rateLimits: { perMinute: 100, perDay: 5 } });
      const use = async (token: string) => {
        const { status, headers } = await instance.call('GET', '/api/applications', { token });
        return [status, headers.get('ratelimit-remaining')];
      };
      for (const remaining of ['4', '3']) expect(await use(key.token)).toEqual([200, remaining]);
      const first = (await call('POST', `/${key.id}/${how}`)).json.data;
      expect(await use(first.token)).toEqual([200, '2']);
      const second = (await call('POST', `/${first.id}/${how}`)).json.data;
      expect(await use(second.token)).toEqual([200, '1']);
      // Predecessors in their grace period share the limits with their successor.
      if (how !== 'rotate') expect(await use(first.token)).toEqual([200, '0']);
      else expect(await use(second.token)).toEqual([200, '0']);
      for (const { token } of how === 'rotate' ? [second] : [key, first, second])
        expect((await use(token))[0]).toBe(429);
      const other = await create({ rateLimits: { perMinute: 100, perDay: 5 } });
      expect(await use(other.token)).toEqual([200, '4']);
    },
  );

  describe('an update', () => {
    test('keeps fields that it does not name, the token and the prefix', async () => {
      const { instance, call, create, record, use, kinds } = await setUp();
      const { token, ...key } = await create();
      instance.clock.advance(MINUTE);
      const before = kinds().length;
      const patches = [
        { name: '  Front end ' },
        { expiresAt: isoTime(START + DAY) },
        { rateLimits: { perMinute: 7 } },
        { rateLimits: { perDay: 8 } },
        { expiresAt: null },
      ];
      for (const patch of patches) {
        const answer = await call('PATCH', `/${key.id}`, patch);
        const { rateLimits, ...columns } = patch as { rateLimits?: object; name?: string };
        Object.assign(key, columns, { updatedAt: isoTime(START + MINUTE) });
        if (columns.name !== undefined) key.name = 'Front end';
        Object.assign(key.rateLimits, rateLimits);
        expect([answer.status, answer.json.data]).toEqual([200, key]);
        expect(answer.text).not.toContain(token);
        expect(await record(key.id)).toEqual(key);
        expect(lastAudit(instance, 'apikey.updated')).toMatchObject({
          target_id: key.id,
          actor_type: 'key',
          request_id: answer.headers.get('x-request-id'),
        });
      }
      expect(key.rateLimits).toEqual({ perMinute: 7, perDay: 8 });
      expect(kinds().slice(before)).toEqual(Array(5).fill('apikey.updated'));
      expect(await use(token)).toBe(200);
    });

    test('applies new rate limits and a new expiry at once', async () => {
      const { instance, call, create, use } = await setUp();
      const { id, token } = await create();
      await call('PATCH', `/${id}`, { rateLimits: { perMinute: 1 } });
      expect([await use(token), await use(token)]).toEqual([200, 429]);
      await call('PATCH', `/${id}`, { rateLimits: { perMinute: 60 }, expiresAt: isoTime(START + MINUTE) });
      expect(await use(token)).toBe(200);
      instance.clock.advance(MINUTE);
      expect(await use(token)).toBe(401);
      await call('PATCH', `/${id}`, { expiresAt: null });
      expect(await use(token)).toBe(200);
    });

    test.each([
      [{ name: '' }, 'name'],
      [{ name: '  ' }, 'name'],
      [{ expiresAt: 'tomorrow' }, 'expiresAt'],
      [{ expiresAt: '2026-13-01T00:00:00Z' }, 'expiresAt'],
      [{ expiresAt: isoTime(START) }, 'expiresAt'],
      [{ rateLimits: { perMinute: 0 } }, 'rateLimits.perMinute'],
      [{ rateLimits: { perMinute: 1_000_001 } }, 'rateLimits.perMinute'],
      [{ rateLimits: { perDay: 1.5 } }, 'rateLimits.perDay'],
      [{ rateLimits: { perHour: 1 } }, 'rateLimits.perHour'],
      [{ access: 'read' }, 'access'],
      [{ token: 'eak_x' }, 'token'],
      [{ revokedAt: null }, 'revokedAt'],
    ])('refuses %j, names the field and changes nothing', async (body, path) => {
      const { instance, call, create } = await setUp();
      const { id } = await create();
      const rows = await tables(instance);
      const answer = await call('PATCH', `/${id}`, body);
      expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
      expect(await tables(instance)).toEqual(rows);
    });
  });

  describe('a revocation', () => {
    test('ends the key at once and for good, bans its principal and emits user.banned', async () => {
      const { instance, application, call, create, record, use, kinds } = await setUp();
      const { token, ...key } = await create();
      const before = kinds().length;
      const events = instance.events(application.id);
      const answer = await call('DELETE', `/${key.id}`);
      expect([answer.status, answer.json.data]).toEqual([200, { ...key, revokedAt: isoTime(START) }]);
      expect(await record(key.id)).toEqual(answer.json.data);
      expect(await use(token)).toBe(401);
      expect(kinds().slice(before)).toEqual(['apikey.revoked']);
      expect(lastAudit(instance, 'apikey.revoked')).toMatchObject({
        target_id: key.id,
        request_id: answer.headers.get('x-request-id'),
      });
      const homeId = owner === 'application' ? application.id : (await requireConsole(instance.db.reader)).id;
      const banned = { type: 'user.banned', data: { userId: key.userId } };
      expect(instance.events(homeId)).toEqual(
        owner === 'application' ? [...events, banned] : expect.arrayContaining([banned]),
      );
      const principal = instance.sqlite.query('SELECT status FROM application_users WHERE user_id = ?').get(key.userId);
      expect(principal).toEqual({ status: 'banned' });
    });

    test('changes nothing when repeated', async () => {
      const { instance, call, create } = await setUp();
      const { id } = await create();
      const first = await call('DELETE', `/${id}`);
      instance.clock.advance(MINUTE);
      const rows = await tables(instance);
      const second = await call('DELETE', `/${id}`);
      expect([second.status, second.json.data]).toEqual([200, first.json.data]);
      expect(await tables(instance)).toEqual(rows);
    });
  });

  describe('a rotation', () => {
    test('replaces the token and its prefix, ends the old token at once and keeps everything else', async () => {
      const { instance, call, create, record, use, kinds } = await setUp();
      const { token: old, ...key } = await create({ rateLimits: { perMinute: 100, perDay: 200 } });
      instance.clock.advance(MINUTE);
      const before = kinds().length;
      const answer = await call('POST', `/${key.id}/rotate`);
      expect(answer.status).toBe(200);
      const { token, ...rotated } = answer.json.data;
      expect(token).toMatch(/^eak_[0-9A-Za-z]{49}$/);
      expect(token).not.toBe(old);
      expect(rotated.prefix).not.toBe(key.prefix);
      expect(token).toStartWith(rotated.prefix);
      expect(rotated).toEqual({ ...key, prefix: rotated.prefix, updatedAt: isoTime(START + MINUTE) });
      expect(await record(key.id)).toEqual(rotated);
      expect([await use(old), await use(token)]).toEqual([401, 200]);
      expect(kinds().slice(before)).toEqual(['apikey.rotated']);
      expect(lastAudit(instance, 'apikey.rotated')).toMatchObject({
        target_id: key.id,
        actor_type: 'key',
        request_id: answer.headers.get('x-request-id'),
      });
    });

    test('shows the token in its answer and nowhere else', async () => {
      const { instance, call, create } = await setUp();
      const { id } = await create();
      const { token } = (await call('POST', `/${id}/rotate`)).json.data;
      const { token: successor } = (await call('POST', `/${id}/rotate-with-grace`)).json.data;
      const listed = await call('GET');
      for (const secret of [token, successor])
        for (const text of [listed.text, JSON.stringify(await tables(instance)), instance.logLines.join('')])
          expect(text).not.toContain(secret);
      const hashes = instance.sqlite.query('SELECT token_hash AS hash FROM api_keys').all() as {
        hash: Uint8Array;
      }[];
      const hex = hashes.map(({ hash }) => hash.toHex());
      for (const secret of [token, successor])
        expect(hex).toContain(new Bun.CryptoHasher('sha256').update(secret).digest('hex'));
    });

    test('accepts no body, an empty body and {}, but refuses unknown fields', async () => {
      const { instance, call, create } = await setUp();
      const { id } = await create();
      for (const body of [undefined, '', '{}']) expect((await call('POST', `/${id}/rotate`, body)).status).toBe(200);
      const rows = await tables(instance);
      for (const verb of ['rotate', 'rotate-with-grace'])
        expect((await call('POST', `/${id}/${verb}`, { hours: 48 })).status).toBe(400);
      expect(await tables(instance)).toEqual(rows);
    });

    test('leaves one working token after twenty concurrent calls', async () => {
      const { call, create, use, kinds } = await setUp();
      const { id, token: old } = await create();
      const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', `/${id}/rotate`)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      const statuses = await Promise.all([old, ...answers.map(({ json }) => json.data.token)].map(use));
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 401)).toHaveLength(20);
      expect(kinds().filter((kind) => kind === 'apikey.rotated')).toHaveLength(20);
    });

    test('leaves one working token after ten concurrent calls with the key itself', async () => {
      const { call, create, use } = await setUp();
      const { id, token: old } = await create();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => call('POST', `/${id}/rotate`, undefined, old)),
      );
      const made = answers.flatMap(({ json }) => json.data?.token ?? []);
      const statuses = await Promise.all([old, ...made].map(use));
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    });
  });

  describe('a rotation with a grace period', () => {
    async function withGrace(input: Record<string, unknown> = {}) {
      const world = await setUp();
      const key = await world.create(input);
      world.instance.clock.advance(MINUTE);
      const answer = await world.call('POST', `/${key.id}/rotate-with-grace`);
      return { ...world, key, answer, successor: answer.json.data };
    }

    test('creates a successor with the same principal, access, limits and expiry, and links to it', async () => {
      const { key, successor, answer, record, kinds, instance } = await withGrace({
        access: 'read',
        rateLimits: { perMinute: 11, perDay: 12 },
        expiresAt: isoTime(START + 30 * DAY),
      });
      expect(answer.status).toBe(200);
      const now = isoTime(START + MINUTE);
      expect(successor).toEqual({
        ...key,
        id: expect.stringMatching(/^key_/),
        prefix: expect.any(String),
        token: expect.any(String),
        createdAt: now,
        updatedAt: now,
      });
      expect(new Set([key.id, successor.id]).size + new Set([key.prefix, successor.prefix]).size).toBe(4);
      expect(await record(successor.id)).toEqual(withoutToken(successor));
      expect(await record(key.id)).toEqual({
        ...withoutToken(key),
        rotatedToId: successor.id,
        gracePeriodEndsAt: isoTime(START + MINUTE + DAY),
        updatedAt: now,
      });
      expect(kinds().at(-1)).toBe('apikey.rotated_with_grace');
      expect(lastAudit(instance, 'apikey.rotated_with_grace')).toMatchObject({
        target_id: key.id,
        request_id: answer.headers.get('x-request-id'),
      });
    });

    test('keeps the old key working for exactly twenty-four hours', async () => {
      const { instance, key, successor, use } = await withGrace();
      expect([await use(key.token), await use(successor.token)]).toEqual([200, 200]);
      instance.clock.advance(DAY - 1);
      expect([await use(key.token), await use(successor.token)]).toEqual([200, 200]);
      instance.clock.advance(1);
      expect([await use(key.token), await use(successor.token)]).toEqual([401, 200]);
    });

    test('is refused for a key in or past its grace period, and accepted for its successor', async () => {
      const { instance, key, successor, call, use } = await withGrace();
      for (const wait of [0, DAY]) {
        instance.clock.advance(wait);
        const rows = await tables(instance);
        const answer = await call('POST', `/${key.id}/rotate-with-grace`);
        expect([answer.status, answer.json.error]).toEqual([409, 'already_in_grace']);
        expect(answer.text).not.toContain('eak_');
        expect(await tables(instance)).toEqual(rows);
      }
      const third = (await call('POST', `/${successor.id}/rotate-with-grace`)).json.data;
      expect(third.userId).toBe(key.userId);
      expect([await use(successor.token), await use(third.token)]).toEqual([200, 200]);
    });

    test('creates one successor in twenty concurrent calls', async () => {
      const { call, create, use, kinds } = await setUp();
      const { id, token } = await create();
      const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', `/${id}/rotate-with-grace`)));
      const made = answers.filter(({ status }) => status === 200);
      expect(made).toHaveLength(1);
      expect(answers.filter(({ json }) => json.error === 'already_in_grace')).toHaveLength(19);
      expect([await use(token), await use(made[0]!.json.data.token)]).toEqual([200, 200]);
      expect(kinds().filter((kind) => kind === 'apikey.rotated_with_grace')).toHaveLength(1);
    });

    test('keeps the successor working when the old key is revoked', async () => {
      const { key, successor, call, use } = await withGrace();
      expect((await call('DELETE', `/${key.id}`)).json.data.revokedAt).toBe(isoTime(START + MINUTE));
      expect([await use(key.token), await use(successor.token)]).toEqual([401, 200]);
      expect((await call('POST', `/${successor.id}/rotate`)).status).toBe(200);
    });

    test('ends the old key when the successor is revoked', async () => {
      const { key, successor, call, use } = await withGrace();
      await call('DELETE', `/${successor.id}`);
      expect([await use(key.token), await use(successor.token)]).toEqual([401, 401]);
    });
  });

  describe('a revocation after many rotations', () => {
    test('ends all predecessors, including the ones a background task ends later', async () => {
      const { instance, call, create, use } = await setUp();
      const { id, token } = await create();
      await given.copiesOfKey(instance, id, 250, { rotatedToId: id, gracePeriodEndsAt: START + DAY });
      expect((await call('DELETE', `/${id}`)).status).toBe(200);
      expect(await use(token)).toBe(401);
      await instance.services.tasks.runOnce();
      const { open } = instance.sqlite
        .query(
          `SELECT count(*) AS open FROM api_keys WHERE revoked_at IS NULL AND application_user_id =
             (SELECT application_user_id FROM api_keys WHERE id = ?)`,
        )
        .get(id) as { open: number };
      expect(open).toBe(0);
    });
  });

  describe('a refused operation', () => {
    test.each(['rotate', 'rotate-with-grace'])(
      '%s is refused once the key has expired, with the time of the expiry',
      async (verb) => {
        const { instance, call, create } = await setUp();
        const { id } = await create({ expiresAt: isoTime(START + DAY) });
        instance.clock.advance(DAY);
        const rows = await tables(instance);
        const answer = await call('POST', `/${id}/${verb}`);
        expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
        expect(answer.json.message).toContain(isoTime(START + DAY));
        expect(await tables(instance)).toEqual(rows);
        await call('PATCH', `/${id}`, { expiresAt: null });
        expect((await call('POST', `/${id}/${verb}`)).status).toBe(200);
      },
    );

    test.each(['rotate', 'rotate-with-grace'])('%s is refused once the key is revoked', async (verb) => {
      const { instance, call, create } = await setUp();
      const { id } = await create();
      await call('DELETE', `/${id}`);
      const rows = await tables(instance);
      const answer = await call('POST', `/${id}/${verb}`);
      expect([answer.status, answer.json.error]).toEqual([409, 'key_revoked']);
      expect(answer.text).not.toContain('eak_');
      expect(await tables(instance)).toEqual(rows);
    });

    test.each(['rotate', 'rotate-with-grace'])(
      '%s is refused while the membership of its principal is inactive',
      async (verb) => {
        const { instance, call, create, deactivate } = await setUp();
        const { id, userId } = await create();
        await deactivate(userId);
        const rows = await tables(instance);
        const answer = await call('POST', `/${id}/${verb}`);
        expect([answer.status, answer.json.error]).toEqual([409, 'membership_locked']);
        expect(answer.text).not.toContain('eak_');
        expect(await tables(instance)).toEqual(rows);
      },
    );

    test.each([
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', undefined],
      ['POST', '/rotate-with-grace', undefined],
    ])('%s%s gets the same 404 for a key of another owner and for an unknown id', async (method, tail, body) => {
      const { instance, application, call } = await setUp();
      const elsewhere = await instance.createApplication({ name: 'Other' });
      const foreign = await instance.createKey(elsewhere.id);
      const { json } = await instance.call(
        'POST',
        owner === 'application' ? '/api/workspace/api-keys' : `/api/applications/${application.id}/api-keys`,
        { token: instance.workspaceKey, body: { name: 'x', access: 'full' } },
      );
      const rows = await tables(instance);
      const nothing = refusal(await call(method, `/key_01h455vb4pex5vsknk084sn02q${tail}`, body));
      expect(nothing).toMatchObject({ status: 404, body: { error: 'not_found' } });
      for (const id of [foreign.id, json.data.id, 'nothing'])
        expect(refusal(await call(method, `/${id}${tail}`, body))).toEqual(nothing);
      expect(await tables(instance)).toEqual(rows);
    });
  });

  test('the time of the last use is stored with the next flush', async () => {
    const { instance, create, record, use } = await setUp();
    const { id, token } = await create();
    const lastUsedAt = async () => (await record(id)).lastUsedAt;
    expect(await lastUsedAt()).toBeNull();
    instance.clock.advance(MINUTE);
    const rows = await tables(instance);
    await use(token);
    expect(await tables(instance)).toEqual(rows);
    expect(await lastUsedAt()).toBeNull();
    await instance.services.flushCounters();
    expect(await lastUsedAt()).toBe(isoTime(START + MINUTE));
    instance.clock.advance(MINUTE);
    await use('eak_nothing');
    await instance.services.flushCounters();
    expect(await lastUsedAt()).toBe(isoTime(START + MINUTE));
  });
});

describe('the verification of an application key', () => {
  async function setUp() {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const manage = managing(instance, application);
    const create = async (input: Record<string, unknown> = {}) =>
      (await manage('POST', '/api-keys', { body: { name: 'backend', access: 'full', ...input } })).json.data;
    const verify = async (token: string) => {
      const answer = await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });
      expect(answer.status).toBe(200);
      return answer.json.success ? 'ok' : answer.json.errorMessage;
    };
    return { instance, application, manage, create, verify };
  }

  test('is invalid after a rotation, expired after the grace period and blocked after a revocation', async () => {
    const { instance, manage, create, verify } = await setUp();
    const first = await create();
    const second = (await manage('POST', `/api-keys/${first.id}/rotate`)).json.data;
    expect([await verify(first.token), await verify(second.token)]).toEqual(['invalid_token', 'ok']);
    const third = (await manage('POST', `/api-keys/${first.id}/rotate-with-grace`)).json.data;
    expect([await verify(second.token), await verify(third.token)]).toEqual(['ok', 'ok']);
    instance.clock.advance(DAY);
    expect([await verify(second.token), await verify(third.token)]).toEqual(['expired', 'ok']);
    await manage('DELETE', `/api-keys/${third.id}`);
    expect([await verify(second.token), await verify(third.token)]).toEqual([
      'membership_blocked',
      'membership_blocked',
    ]);
  });

  test('names the rotation and the end of the grace period to the caller, at every operation', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const old = await instance.createKey(application.id);
    await managing(instance, application)('POST', `/api-keys/${old.id}/rotate-with-grace`);
    instance.clock.advance(DAY);
    const calls = [
      await instance.call('POST', '/api/v1/verify', { token: old.token, body: { token: 'x' } }),
      await instance.call('GET', '/api/applications', { token: old.token }),
      await instance.call('GET', '/api/me/roles', { token: old.token }),
    ];
    for (const { status, json } of calls) {
      expect([status, json.errorMessage ?? json.error]).toEqual([
        401,
        json.errorMessage ? 'invalid_api_key' : 'unauthenticated',
      ]);
      expect(json.message).toContain(`rotated; its grace period ended at ${isoTime(START + DAY)}`);
    }
  });

  test('names the rotation to the bearer of a replaced token for ninety days', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const manage = managing(instance, application);
    const first = await instance.createKey(application.id);
    const second = (await manage('POST', `/api-keys/${first.id}/rotate`)).json.data;
    instance.clock.advance(DAY);
    const third = (await manage('POST', `/api-keys/${first.id}/rotate`)).json.data;
    const use = async (token: string) => {
      const path = `/api/applications/${application.id}`;
      const { status, json } = await instance.call('GET', path, { token });
      const { json: own } = await instance.call('POST', '/api/v1/verify', { token, body: { token } });
      return [status, json.message?.includes('was rotated'), own.message?.includes('was rotated')];
    };
    expect([await use(first.token), await use(second.token)]).toEqual([
      [401, true, true],
      [401, true, true],
    ]);
    expect(await use(third.token)).toEqual([200, undefined, undefined]);
    const { json } = await instance.call('GET', '/api/applications', { token: first.token });
    expect(json).toMatchObject({ error: 'unauthenticated' });
    expect(json.message).toContain(`rotated at ${isoTime(START)}`);
    // The database stores only the hash, and for a limited time.
    expect(instance.sqlite.query('SELECT * FROM retired_key_tokens').values().join()).not.toContain(first.token);
    instance.clock.advance(89.5 * DAY);
    await instance.services.scheduler.runAll();
    expect((await use(first.token))[1]).toBe(false);
    expect((await use(second.token))[1]).toBe(true);
  });

  test('fails as invalid_api_key for a revoked or expired key that verifies itself', async () => {
    const { instance, manage, create } = await setUp();
    const first = await create();
    const second = (await manage('POST', `/api-keys/${first.id}/rotate-with-grace`)).json.data;
    const asCaller = async (token: string) => {
      const answer = await instance.call('POST', '/api/v1/verify', { token, body: { token } });
      return [answer.status, answer.json.errorMessage ?? 'ok'];
    };
    expect(await asCaller(first.token)).toEqual([200, 'ok']);
    instance.clock.advance(DAY);
    expect(await asCaller(first.token)).toEqual([401, 'invalid_api_key']);
    await manage('DELETE', `/api-keys/${second.id}`);
    expect(await asCaller(second.token)).toEqual([401, 'invalid_api_key']);
  });

  test('gives both tokens of a rotation with grace the same envelope, and the same changes of it', async () => {
    const { instance, manage, create } = await setUp();
    await manage('POST', '/scopes', { body: { slug: 'read' } });
    await manage('POST', '/memberships', { body: { slug: 'gold' } });
    const first = await create({ roles: ['developer'], scopes: ['read'], memberships: ['gold'] });
    const second = (await manage('POST', `/api-keys/${first.id}/rotate-with-grace`)).json.data;
    expect(second).toMatchObject({
      userId: first.userId,
      roles: ['developer'],
      scopes: ['read'],
      memberships: ['gold'],
    });
    const envelope = async (token: string) =>
      (await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } })).json.data;
    const before = await envelope(first.token);
    expect(before).toMatchObject({
      userId: first.userId,
      roles: ['developer'],
      scopes: ['read'],
      memberships: ['gold'],
    });
    expect(await envelope(second.token)).toEqual(before);
    await manage('PUT', `/users/${first.userId}/roles`, { body: { slugs: ['user'] } });
    for (const { token } of [first, second]) expect((await envelope(token)).roles).toEqual(['user']);
  });

  test('is blocked while the principal is deleted, and the key can be rotated again once it is restored', async () => {
    const { manage, create, verify } = await setUp();
    const { id, userId, token } = await create();
    await manage('POST', `/users/${userId}/delete`);
    expect(await verify(token)).toBe('membership_blocked');
    expect((await manage('POST', `/api-keys/${id}/rotate`)).json.error).toBe('membership_locked');
    await manage('POST', `/users/${userId}/restore`);
    expect((await manage('POST', `/api-keys/${id}/rotate`)).status).toBe(200);
  });

  test('is blocked for a revoked predecessor while its successor works', async () => {
    const { manage, create, verify } = await setUp();
    const first = await create();
    const second = (await manage('POST', `/api-keys/${first.id}/rotate-with-grace`)).json.data;
    await manage('DELETE', `/api-keys/${first.id}`);
    expect([await verify(first.token), await verify(second.token)]).toEqual(['membership_blocked', 'ok']);
  });

  test('stays blocked for a revoked key when its principal is unbanned', async () => {
    const { manage, create, verify } = await setUp();
    const { id, userId, token } = await create();
    await manage('DELETE', `/api-keys/${id}`);
    await manage('POST', `/users/${userId}/unban`);
    expect(await verify(token)).toBe('membership_blocked');
    expect((await manage('GET', '/users', { token })).status).toBe(401);
  });
});
