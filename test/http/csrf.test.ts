import { describe, expect, test } from 'bun:test';
import { isFromOwnPage } from '@/http/csrf.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const ORIGIN = 'https://auth.example.com';
const SECURE = { GATEHOUSE_BASE_URL: ORIGIN };

describe('a write with the session cookie of the console', () => {
  async function signedIn() {
    const instance = await createInstance({ environment: SECURE });
    const { token } = await instance.signIn('console', 'owner@example.com');
    const names = () => instance.sqlite.query('SELECT name FROM applications ORDER BY rowid').all();
    const before = names();
    return { instance, token, cookie: `__Host-gatehouse=${token}`, before, names };
  }
  const create = (instance: Instance, headers: Record<string, string>) =>
    instance.call('POST', '/api/applications', { headers, body: { name: 'Shop' } });

  test.each([
    ['without Origin or Sec-Fetch-Site', {}],
    ['from a foreign origin', { origin: 'https://evil.example' }],
    ['from a look-alike origin', { origin: 'https://auth.example.com.evil' }],
    ['from the same host on http', { origin: 'http://auth.example.com' }],
    ['from the same host on another port', { origin: 'https://auth.example.com:8443' }],
    ['from a null origin', { origin: 'null' }],
    ['from a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from an address bar', { 'sec-fetch-site': 'none' }],
    ['with Origin and Sec-Fetch-Site in disagreement', { origin: ORIGIN, 'sec-fetch-site': 'cross-site' }],
    [
      'with a foreign Origin that claims to be same-origin',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ],
  ] as [string, Record<string, string>][])('is refused and changes nothing when it is sent %s', async (_, headers) => {
    const { instance, cookie, before, names } = await signedIn();
    const answer = await create(instance, { cookie, ...headers });
    expect([answer.status, answer.json.error]).toEqual([403, 'forbidden']);
    expect(names()).toEqual(before);
  });

  test.each([
    ['Origin', { origin: ORIGIN }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }],
    ['both', { origin: ORIGIN, 'sec-fetch-site': 'same-origin' }],
  ] as [string, Record<string, string>][])(
    'is accepted from the server’s own pages, as shown by %s',
    async (_, headers) => {
      const { instance, cookie } = await signedIn();
      const answer = await create(instance, { cookie, ...headers });
      expect([answer.status, answer.json.data.name]).toEqual([200, 'Shop']);
    },
  );

  test.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', true],
    ['http://127.0.0.1:8080', 'http://localhost:8080', true],
    ['http://127.0.0.1:8080', 'http://localhost:9090', false],
    ['http://127.0.0.1:8080', 'https://localhost:8080', false],
    ['http://localhost:8080', 'http://127.0.0.1:8080', false],
    ['http://192.0.2.1:8080', 'http://localhost:8080', false],
  ])('at %s is allowed from %s: %p, since passkeys work on localhost only', (baseUrl, origin, isOwn) => {
    const request = new Request(baseUrl, { method: 'POST', headers: { origin, 'sec-fetch-site': 'same-origin' } });
    expect(isFromOwnPage(request, baseUrl)).toBe(isOwn);
  });

  test('needs no proof of origin with a bearer token, which no browser sends automatically', async () => {
    const { instance, token } = await signedIn();
    expect((await create(instance, { authorization: `Bearer ${token}`, origin: 'https://evil.example' })).status).toBe(
      200,
    );
  });

  test('is refused before its body is validated', async () => {
    const { instance, cookie } = await signedIn();
    const answer = await instance.call('POST', '/api/applications', { headers: { cookie }, body: '{"broken' });
    expect(answer.status).toBe(403);
  });

  test('a read with the session cookie is refused when the browser reports another site', async () => {
    const { instance, cookie } = await signedIn();
    const read = async (headers: Record<string, string>) =>
      (await instance.call('GET', '/api/applications', { headers: { cookie, ...headers } })).status;
    expect(await read({})).toBe(200);
    for (const site of ['none', 'same-origin']) expect(await read({ 'sec-fetch-site': site })).toBe(200);
    for (const site of ['cross-site', 'same-site']) expect(await read({ 'sec-fetch-site': site })).toBe(403);
  });

  test('the verification endpoints never accept a cookie as a bearer token', async () => {
    const { instance, cookie } = await signedIn();
    const headers = { cookie, origin: ORIGIN };
    const verified = await instance.call('POST', '/api/v1/session', { headers });
    expect([verified.status, verified.json.error]).toEqual([401, 'invalid_token']);
    expect((await instance.call('DELETE', '/api/v1/session', { headers })).status).toBe(401);
    expect((await instance.call('POST', '/api/v1/verify', { headers, body: { token: 'x' } })).status).toBe(401);
  });

  test('an invalid bearer token is refused even with a valid cookie', async () => {
    const { instance, cookie } = await signedIn();
    const answer = await create(instance, { cookie, origin: ORIGIN, authorization: 'Bearer est_nonsense' });
    expect(answer.status).toBe(401);
  });

  test('a sign-in to an ordinary application sets no cookie, and its token as a cookie manages nothing', async () => {
    const { instance } = await signedIn();
    const { clientId } = await instance.createApplication();
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'ada@example.com', clientId } });
    const answer = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId: sent.json.data.challengeId, code: instance.codeFor('ada@example.com') },
    });
    expect(answer.headers.get('set-cookie')).toBeNull();
    const cookie = `__Host-gatehouse=${answer.json.data.token}`;
    const refused = await create(instance, { cookie, origin: ORIGIN });
    expect([refused.status, refused.json.error]).toEqual([403, 'forbidden']);
  });
});
