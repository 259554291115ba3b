/** The verifier admits only people whom the server admits, even if calls fail, stall or are cached. */
import { describe, expect, test } from 'bun:test';
import { createVerifier, has, NotAdmitted, VerificationRefused, VerificationUnavailable } from '@/client/gatehouse.ts';
import type { Fetch } from '@/client/exchange.ts';
import { SECOND } from '@/core/clock.ts';
import { createInstance } from '../support/instance.ts';

const URL_OF_SERVER = 'http://localhost';

async function createScene() {
  const instance = await createInstance();
  const shop = await instance.createApplication({ name: 'Shop' });
  const ada = await instance.signIn(shop.clientId, 'ada@example.com');
  const { token: apiKey } = await instance.createKey(shop.id, { access: 'read' });
  const calls: string[] = [];
  const fetch: Fetch = async (url, init) => {
    calls.push(new URL(url).pathname);
    return instance.app.fetch(new Request(url, init));
  };
  const options = { url: URL_OF_SERVER, apiKey, applicationId: shop.id, fetch, now: instance.clock.now };
  return { instance, shop, ada, calls, options };
}

/** @throws {Error} if the promise does not reject. */
async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => ({ error }),
  );
  if (outcome instanceof Error) throw outcome;
  return outcome.error;
}

const refusalOf = async (promise: Promise<unknown>) => (await thrownBy(promise)) as VerificationRefused;
const unavailabilityOf = async (promise: Promise<unknown>) => (await thrownBy(promise)) as VerificationUnavailable;

describe('a wrong set-up', () => {
  const made = (wrong: object) => () => createVerifier({ url: URL_OF_SERVER, apiKey: 'eak_0', ...wrong });

  test.each([
    [{ url: undefined }, /^createVerifier: url is missing.*GATEHOUSE/],
    [{ url: '' }, /url is empty.*GATEHOUSE/],
    [{ url: 'localhost:8080' }, /url is not like https:\/\/auth.*GATEHOUSE/],
    [{ url: 'auth.example.com' }, /url is not like/],
    [{ url: 'https://auth.example.com/auth' }, /without a path/],
    [{ url: 'https://auth.example.com?a=1' }, /without a path/],
    [{ url: 'https://user:secret@auth.example.com' }, /^(?!.*secret).*without a path/],
    [{ apiKey: undefined }, /apiKey is missing.*API_KEY/],
    [{ apiKey: '' }, /apiKey is empty.*API_KEY/],
    [{ apiKey: 'eak_0\n' }, /apiKey has wrong characters/],
    [{ apiKey: undefined, applicationId: 'app_0' }, /apiKey is missing/],
    [{ applicationId: '' }, /applicationId is empty/],
    [{ timeoutMs: Number.NaN }, /timeoutMs is NaN.*milliseconds/],
    [{ timeoutMs: Infinity }, /timeoutMs is Infinity/],
    [{ timeoutMs: 0 }, /timeoutMs is 0/],
    [{ cacheMs: -1 }, /cacheMs is -1/],
  ])('fails when it is made, naming what to set: %j', (wrong, message) => {
    expect(made(wrong)).toThrow(TypeError);
    expect(made(wrong)).toThrow(message);
  });

  test('does not fail for a slash at the end of the URL, nor without a key for sessions alone', () => {
    expect(made({ url: 'https://auth.example.com/' })).not.toThrow();
    expect(() => createVerifier({ url: URL_OF_SERVER, applicationId: 'app_0' })).not.toThrow();
  });
});

describe('a token', () => {
  test('a valid token gives the identity, with and without the key', async () => {
    const { shop, ada, options } = await createScene();
    const { verify, verifySession } = createVerifier(options);
    const identity = await verify(ada.token);
    expect(identity).toMatchObject({ userId: ada.userId, email: 'ada@example.com', applicationId: shop.id });
    expect(await verifySession(ada.token)).toEqual(identity);
    expect(identity).not.toHaveProperty('ok');
  });

  test('an invalid token throws, without a request if it cannot be a token', async () => {
    const { calls, options } = await createScene();
    const verifier = createVerifier(options);
    const nothing = undefined as unknown as string;
    for (const [token, reason] of [
      ['', 'no_token'],
      [nothing, 'no_token'],
      ['two words', 'invalid_token'],
      ['est_0\r\nX: y', 'invalid_token'],
    ] as const)
      for (const verify of [verifier.verify, verifier.verifySession]) {
        const error = await refusalOf(verify(token));
        expect(error).toBeInstanceOf(VerificationRefused);
        expect(error.reason).toBe(reason);
      }
    expect(calls).toEqual([]);
    expect((await refusalOf(verifier.verify('est_0'))).reason).toBe('invalid_token');
    expect((await refusalOf(verifier.verifySession('est_0'))).reason).toBe('invalid_token');
  });

  test('is refused at the very next call after a sign-out or a ban', async () => {
    const { instance, shop, ada, options } = await createScene();
    const verifier = createVerifier(options);
    await verifier.verify(ada.token);
    const path = `/api/applications/${shop.id}/users/${ada.userId}/ban`;
    await instance.call('POST', path, { token: instance.workspaceKey, body: {} });
    for (const verify of [verifier.verify, verifier.verifySession]) {
      const error = await refusalOf(verify(ada.token));
      expect([error.reason, error.status, error.response.status]).toEqual(['membership_blocked', 403, 403]);
    }
    const bob = await instance.signIn(shop.clientId, 'bob@example.com');
    await instance.call('DELETE', '/api/v1/session', { token: bob.token });
    expect((await refusalOf(verifier.verify(bob.token))).reason).toBe('revoked');
    expect((await refusalOf(verifier.verifySession(bob.token))).status).toBe(401);
  });

  test('a token of another application of the workspace is refused', async () => {
    const { instance, options } = await createScene();
    const club = await instance.createApplication({ name: 'Club' });
    const eve = await instance.signIn(club.clientId, 'eve@example.com');
    const wide = createVerifier({ ...options, apiKey: instance.workspaceKey });
    expect((await refusalOf(wide.verify(eve.token))).reason).toBe('invalid_token');
    expect((await refusalOf(wide.verifySession(eve.token))).reason).toBe('invalid_token');
    const { applicationId: _, ...open } = options;
    expect((await createVerifier({ ...open, apiKey: instance.workspaceKey }).verify(eve.token)).userId).toBe(
      eve.userId,
    );
    // A session of any application verifies itself: without the application's id it would be admitted here.
    expect(await thrownBy(createVerifier(open).verifySession(eve.token))).toBeInstanceOf(TypeError);
  });
});

describe('the verifier without a verdict', () => {
  const answering = (status: number, body: string) =>
    createVerifier({
      url: URL_OF_SERVER,
      apiKey: 'eak_0',
      applicationId: 'app_0',
      fetch: async () => new Response(body, { status }),
    });

  test('admits nobody if the server is unreachable or too slow', async () => {
    const gone = await unavailabilityOf(createVerifier({ url: 'http://127.0.0.1:1', apiKey: 'eak_0' }).verify('est_0'));
    expect(gone).toBeInstanceOf(VerificationUnavailable);
    expect([gone.reason, gone.status]).toEqual(['network', 503]);
    // Runtimes name the cause differently; the address and the cause are for the log alone.
    expect(gone.message).toMatch(/^http:\/\/127\.0\.0\.1:1 could not be reached: .+/);
    expect(gone.body).not.toContain('127.0.0.1');
    // One never answers, the other stalls within its body.
    for (const answer of [() => new Promise<Response>(() => {}), () => new Response(new ReadableStream({}))]) {
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
      const verifier = createVerifier({ url: server.url.origin, apiKey: 'eak_0', timeoutMs: 20 });
      const late = await unavailabilityOf(verifier.verify('est_0'));
      expect([late.reason, late.status, late.response.status]).toEqual(['timeout', 503, 503]);
      expect(late.message).toBe(`${server.url.origin} did not answer within 20 ms.`);
      await server.stop(true);
    }
  });

  test.each([
    ['a page of a proxy', 200, '<html>'],
    ['a success without an identity', 200, '{"success":true,"ok":true}'],
    ['a success that is no boolean', 200, '{"success":"true","ok":"true","data":{"userId":"usr_0"},"userId":"usr_0"}'],
    ['null', 200, 'null'],
    ['a redirect', 302, ''],
    ['a failure', 500, '{"success":false,"error":"internal","message":"Something went wrong."}'],
    ['the refusal of a proxy', 403, '<html>'],
  ])('admits nobody if the server answers with %s', async (_, status, body) => {
    const verifier = answering(status, body);
    for (const verify of [verifier.verify, verifier.verifySession]) {
      const error = await unavailabilityOf(verify('est_0'));
      expect(error).toBeInstanceOf(VerificationUnavailable);
      expect(error.status).toBe(503);
      expect(await error.response.json()).toEqual({
        success: false,
        error: 'unavailable',
        message: expect.stringContaining('moment'),
      });
    }
  });

  test('admits nobody if the server refuses the key, which only the log explains', async () => {
    const { options, ada } = await createScene();
    const error = await unavailabilityOf(createVerifier({ ...options, apiKey: 'eak_0' }).verify(ada.token));
    expect([error.reason, error.status]).toEqual(['key_refused', 503]);
    expect(error.message).toContain('API key');
    expect(await error.response.text()).not.toContain('key');
  });

  test('admits nobody if the key’s rate limit is used up: 429 with the time to retry', async () => {
    const { instance, shop, ada, options } = await createScene();
    const { token } = await instance.createKey(shop.id, { access: 'read', rateLimits: { perMinute: 1, perDay: 10 } });
    const { verify } = createVerifier({ ...options, apiKey: token });
    await verify(ada.token);
    const error = await unavailabilityOf(verify(ada.token));
    expect([error.reason, error.status, error.response.status]).toEqual(['rate_limited', 429, 429]);
    expect(Number(error.response.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('the cache', () => {
  test('is off by default', async () => {
    const { ada, calls, options } = await createScene();
    const { verify } = createVerifier(options);
    await verify(ada.token);
    await verify(ada.token);
    expect(calls).toHaveLength(2);
  });

  test('keeps an admission for the given time, and never past the end of the session', async () => {
    const { instance, ada, calls, options } = await createScene();
    const { verify } = createVerifier({ ...options, cacheMs: 10 * SECOND });
    const identity = await verify(ada.token);
    identity.roles.push('admin');
    expect((await verify(ada.token)).roles).not.toContain('admin');
    expect(calls).toHaveLength(1);
    instance.clock.advance(10 * SECOND);
    await verify(ada.token);
    expect(calls).toHaveLength(2);

    const forLong = createVerifier({ ...options, cacheMs: 1e12 });
    const { expiresAt } = await forLong.verify(ada.token);
    instance.clock.advance(Date.parse(`${expiresAt}`) - instance.clock.now());
    expect((await refusalOf(forLong.verify(ada.token))).reason).toBe('expired');
  });

  test('keeps no refusal', async () => {
    const { calls, options } = await createScene();
    const { verify } = createVerifier({ ...options, cacheMs: 10 * SECOND });
    await refusalOf(verify('est_0'));
    await refusalOf(verify('est_0'));
    expect(calls).toHaveLength(2);
  });
});

test('has: all that is named, and one of several', () => {
  const identity = { roles: ['user'], scopes: ['orders:read', 'orders:write'], memberships: ['staff'] };
  expect(has(identity, {})).toBe(true);
  expect(has(identity, { role: 'user', scope: 'orders:read', group: 'staff' })).toBe(true);
  expect(has(identity, { role: ['admin', 'user'] })).toBe(true);
  expect(has(identity, { role: 'user', scope: 'orders:delete' })).toBe(false);
  expect(has(identity, { group: 'board' })).toBe(false);
  expect(has(identity, { role: [] })).toBe(false);
});

describe('a request', () => {
  test('is accepted by its bearer token in either style', async () => {
    const { ada, options } = await createScene();
    const { requireSession } = createVerifier(options);
    const authorization = `Bearer ${ada.token}`;
    expect((await requireSession(new Request('http://shop', { headers: { authorization } }))).userId).toBe(ada.userId);
    expect((await requireSession({ method: 'GET', headers: { authorization } })).userId).toBe(ada.userId);
  });

  test('is accepted by a named cookie, except a change from another site', async () => {
    const { ada, options } = await createScene();
    const { requireSession } = createVerifier({ ...options, cookie: 'session' });
    const cookie = `other=1; session=${ada.token}; last=2`;
    const request = (method: string, site: string) => ({ method, headers: { cookie, 'sec-fetch-site': site } });
    expect((await requireSession(request('GET', 'cross-site'))).userId).toBe(ada.userId);
    expect((await requireSession(request('POST', 'same-origin'))).userId).toBe(ada.userId);
    const error = await refusalOf(requireSession(request('POST', 'cross-site')));
    expect([error.reason, error.status]).toEqual(['cross_site', 403]);
    expect((await refusalOf(createVerifier(options).requireSession(request('GET', 'none')))).reason).toBe('no_token');
  });

  test('is admitted with a role or scope that the person has, and refused with 403 without it', async () => {
    const { instance, shop, ada, options } = await createScene();
    for (const [kind, slug] of [
      ['roles', 'editor'],
      ['scopes', 'orders:write'],
    ]) {
      const root = `/api/applications/${shop.id}`;
      await instance.call('POST', `${root}/${kind}`, { token: instance.workspaceKey, body: { slug } });
      const body = { slugs: [slug] };
      await instance.call('PUT', `${root}/users/${ada.userId}/${kind}`, { token: instance.workspaceKey, body });
    }
    const { requireRole, requireScope } = createVerifier(options);
    const request = { method: 'GET', headers: { authorization: `Bearer ${ada.token}` } };
    expect((await requireRole(request, 'editor')).userId).toBe(ada.userId);
    expect((await requireRole(request, ['admin', 'editor'])).userId).toBe(ada.userId);
    expect((await requireScope(request, 'orders:write')).userId).toBe(ada.userId);
    for (const wanted of ['admin', 'Editor', 'edit', '', []]) {
      const error = await refusalOf(requireRole(request, wanted));
      expect([error.reason, error.status, error.response.headers.get('www-authenticate')]).toEqual([
        'missing_role',
        403,
        null,
      ]);
    }
    const error = await refusalOf(requireScope(request, ['orders:read', 'orders:delete']));
    expect([error.reason, error.response.status]).toEqual(['missing_scope', 403]);
    expect(error.response.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"');
    expect((await refusalOf(requireRole({ headers: {} }, 'editor'))).reason).toBe('no_token');
  });

  test('without a valid session is nobody’s for a page that is open to all', async () => {
    const { ada, options } = await createScene();
    const { findSession } = createVerifier(options);
    const from = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    expect((await findSession(from(ada.token)))?.userId).toBe(ada.userId);
    expect(await findSession(from('est_0'))).toBeNull();
    expect(await findSession({ headers: {} })).toBeNull();
    // Without a verdict it throws: a page for everyone would hide from people that they are signed in.
    const gone = createVerifier({ ...options, fetch: async () => Response.error() });
    expect(await thrownBy(gone.findSession(from(ada.token)))).toBeInstanceOf(VerificationUnavailable);
  });

  test.each([
    [{}, 'no_token', 'Bearer'],
    [{ authorization: 'Basic YTpi' }, 'no_token', 'Bearer'],
    [{ authorization: 'Bearer' }, 'no_token', 'Bearer'],
    [{ authorization: ['Bearer a', 'Bearer b'] }, 'no_token', 'Bearer'],
    [{ authorization: 'Bearer est_0' }, 'invalid_token', 'Bearer error="invalid_token"'],
  ])('a request with %j is answered 401 in either style', async (headers, reason, challenge) => {
    const { options } = await createScene();
    const error = (await thrownBy(createVerifier(options).requireSession({ headers }))) as NotAdmitted;
    expect(error).toBeInstanceOf(NotAdmitted);
    const { response } = error;
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, challenge]);
    expect(await response.json()).toEqual({ success: false, error: reason, message: error.message });

    const sent: unknown[] = [];
    error.sendTo({
      writeHead: (status, given) => sent.push(status, given),
      end: (body) => sent.push(body),
    });
    expect(sent).toEqual([401, error.headers, error.body]);
  });
});
