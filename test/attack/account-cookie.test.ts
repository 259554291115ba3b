/** The account cookies, one per application: who can obtain one, and what it must never open. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createInstance, type Instance } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';
import { addressOf, createAttackWorld, send } from './world.ts';

setDefaultTimeout(120_000);

const OWN = 'https://id.example.com';
const ENVIRONMENT = { GATEHOUSE_BASE_URL: OWN };
const PATH = '/account/session';

const ELSEWHERE: Record<string, Record<string, string>> = {
  'another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  'another site, in a browser without fetch metadata': { origin: 'https://evil.example' },
  'an opaque origin': { origin: 'null', 'sec-fetch-site': 'cross-site' },
  'a sibling host': { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' },
  'another port': { origin: `${OWN}:8443`, 'sec-fetch-site': 'same-site' },
  'the same host without encryption': { origin: 'http://id.example.com' },
  'the loopback name': { origin: 'http://localhost:8080' },
  'our origin, which the browser says is another site': { origin: OWN, 'sec-fetch-site': 'cross-site' },
  'another origin, which claims to be the same': { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  'the address bar': { 'sec-fetch-site': 'none' },
  'nowhere that is named': {},
};

let instance: Instance;
/** Two applications of one workspace, and one person's session in each. */
let a: Held;
let b: Held;

interface Held {
  readonly clientId: string;
  readonly applicationId: string;
  readonly token: string;
  readonly expiresAt: string;
  readonly name: string;
}

async function signInAt(name: string): Promise<Held> {
  const { id, clientId } = await instance.createApplication({ name });
  const { json } = await instance.trySignIn(clientId, `${name.toLowerCase()}@example.com`);
  const { token, expiresAt } = json.data;
  return { clientId, applicationId: id, token, expiresAt, name: `__Host-gatehouse-${clientId}` };
}

beforeAll(async () => {
  instance = await createInstance({ environment: ENVIRONMENT });
  [a, b] = [await signInAt('Shop'), await signInAt('Forum')];
});

/** The headers that an application's account page sends. */
const asPage = ({ clientId }: Held, cookie: string) => ({ cookie, 'gatehouse-client': clientId, origin: OWN });
const cookieOf = ({ name, token }: Held) => `${name}=${token}`;

describe('a cookie', () => {
  test('is set only for our own pages, for the application of the token, and expires with its session', async () => {
    const answer = await instance.call('PUT', PATH, { token: a.token, headers: { origin: OWN } });
    expect([answer.status, answer.json.data]).toEqual([200, { clientId: a.clientId }]);
    const [set, ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    expect(set).toStartWith(`${a.name}=${a.token}; `);
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/']) expect(set).toContain(attribute);
    expect(set).not.toContain('Domain');
    expect(Date.parse(/Expires=([^;]+)/.exec(set ?? '')?.[1] ?? '')).toBe(Date.parse(a.expiresAt));
  });

  // Without any of these headers the caller is no browser: it already holds the token and owns no cookie to replace.
  const places = Object.entries(ELSEWHERE).filter(([, headers]) => Object.keys(headers).length > 0);

  test.each(places)('is not set for a request from %s', async (_, headers) => {
    const answer = await instance.call('PUT', PATH, { token: a.token, headers });
    expect([answer.status, answer.json.error]).toEqual([403, 'forbidden']);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test.each([
    ['nothing', () => ({})],
    ['a token that never was', () => ({ authorization: 'Bearer est_00000000000000000000000000000000' })],
    ['an empty token', () => ({ authorization: 'Bearer ' })],
    ['a backend’s key', () => ({ authorization: `Bearer ${instance.workspaceKey}` })],
    ['the cookie of another application', () => ({ cookie: cookieOf(b), 'gatehouse-client': a.clientId })],
    ['a bad token beside a good cookie', () => ({ ...asPage(a, cookieOf(a)), authorization: 'Bearer est_nonsense' })],
  ] as [string, () => Record<string, string>][])('is not set for a request with %s', async (_, headers) => {
    const answer = await instance.call('PUT', PATH, { headers: { origin: OWN, ...headers() } });
    expect(answer.status).toBeOneOf([401, 403]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('is not extended by use', async () => {
    const answer = await instance.call('PUT', PATH, { headers: asPage(a, cookieOf(a)) });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  });
});

describe('the application that a page names', () => {
  const read = (headers: Record<string, string>) => instance.call('GET', '/api/account', { headers });

  test('selects the cookie that counts; no other cookie is accepted in its place', async () => {
    const both = `${cookieOf(a)}; ${cookieOf(b)}`;
    expect((await read(asPage(a, both))).json.data.applicationId).toBe(a.applicationId);
    expect((await read(asPage(b, both))).json.data.applicationId).toBe(b.applicationId);
    expect((await read(asPage(a, cookieOf(b)))).status).toBe(401);
    expect((await read(asPage(b, cookieOf(a)))).status).toBe(401);
    expect((await read({ cookie: both, origin: OWN })).status).toBe(401);
  });

  test.each([
    [''],
    [' '],
    ['*'],
    ['.*'],
    ['..'],
    ['../gatehouse'],
    ['console'],
    ['Console'],
    ['__proto__'],
    ['constructor'],
    ['%00'],
    ['%2e%2e'],
    ['a=b'],
    ['a; Path=/'],
    ['é'],
    ['-'],
    ['x'.repeat(100)],
    ['x'.repeat(101)],
    ['x'.repeat(8_000)],
    [`"`],
  ])('is refused if it is called %.20s', async (clientId) => {
    const cookie = `${cookieOf(a)}; ${cookieOf(b)}; __Host-gatehouse-=${a.token}; __Host-gatehouse-.*=${a.token}`;
    const answer = await read({ cookie, 'gatehouse-client': clientId, origin: OWN });
    expect([answer.status, answer.json.error]).toEqual([401, 'unauthenticated']);
  });

  test('is refused if several are named or its name is spelt differently', async () => {
    const cookie = `${cookieOf(a)}; ${cookieOf(b)}`;
    for (const named of [`${a.clientId}, ${b.clientId}`, `${a.clientId} `.repeat(2), a.clientId.toUpperCase()])
      expect((await read({ cookie, 'gatehouse-client': named, origin: OWN })).status).toBe(401);
    const plain = `gatehouse-${a.clientId}=${a.token}`;
    expect((await read(asPage(a, plain))).status).toBe(401);
  });
});

describe('the cookie of an application', () => {
  test('neither verifies tokens nor signs out as a bearer token does', async () => {
    const headers = asPage(a, cookieOf(a));
    for (const method of ['POST', 'DELETE'])
      expect((await instance.call(method, '/api/v1/session', { headers })).status).toBe(401);
    expect((await instance.call('POST', '/api/v1/verify', { headers, body: { token: a.token } })).status).toBe(401);
  });

  test('lets no other site read or change anything through the browser', async () => {
    for (const [place, headers] of Object.entries(ELSEWHERE)) {
      const cookie = { cookie: cookieOf(a), 'gatehouse-client': a.clientId };
      for (const [method, path] of [
        ['DELETE', PATH],
        ['DELETE', '/api/account/sessions'],
        ['POST', '/api/account/deletion'],
      ] as const) {
        const answer = await instance.call(method, path, { headers: { ...cookie, ...headers } });
        expect([place, answer.status, answer.headers.getSetCookie()]).toEqual([place, 403, []]);
      }
      const site = headers['sec-fetch-site'];
      if (site === undefined || site === 'none' || site === 'same-origin') continue;
      const answer = await instance.call('GET', '/api/account', { headers: { ...cookie, ...headers } });
      expect([place, answer.status, answer.text.includes('@example.com')]).toEqual([place, 403, false]);
    }
    expect((await instance.call('POST', '/api/v1/session', { token: a.token })).json.ok).toBe(true);
  });

  test('is out of reach of scripts of other origins: no preflight allows the header or credentials', async () => {
    for (const path of [PATH, '/api/account', '/api/account/export']) {
      const preflight = await instance.call('OPTIONS', path, {
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': path === PATH ? 'PUT' : 'GET',
          'access-control-request-headers': 'gatehouse-client',
        },
      });
      expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
      expect(preflight.headers.get('access-control-allow-headers') ?? '').not.toMatch(/gatehouse|\*/i);
      if (path === PATH) expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    }
    const read = await instance.call('GET', '/api/account', { headers: asPage(a, cookieOf(a)) });
    expect([read.status, read.headers.get('access-control-allow-credentials')]).toEqual([200, null]);
    const kept = await instance.call('PUT', PATH, { token: a.token, headers: { origin: OWN } });
    expect(kept.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('opens no management operation', async () => {
    const world = await createAttackWorld({ environment: ENVIRONMENT });
    const { clientId } = await world.instance.createApplication({ name: 'Corner' });
    const { token } = await world.instance.signIn(clientId, 'owner@example.com');
    const cookie = `__Host-gatehouse-${clientId}=${token}`;
    const headers = { cookie, 'gatehouse-client': clientId, origin: OWN, 'sec-fetch-site': 'same-origin' };
    const managing = world.instance.app.operations.filter(({ access }) => access === 'read' || access === 'full');
    expect(managing.length).toBeGreaterThan(50);
    const before = dumpTables(world.instance);
    for (const operation of managing) {
      const answer = await send(world, operation.method, addressOf(operation, world.ids), { headers });
      expect([operation.id, answer.status, answer.json.error]).toEqual([operation.id, 403, 'forbidden']);
    }
    expect(dumpTables(world.instance)).toEqual(before);
  });
});

test('signing out on the page ends the session and its cookie, and leaves the other application signed in', async () => {
  const answer = await instance.call('DELETE', PATH, { headers: asPage(b, `${cookieOf(a)}; ${cookieOf(b)}`) });
  expect([answer.status, answer.json.data]).toEqual([200, { clientId: b.clientId }]);
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(new RegExp(`^${b.name}=; .*Max-Age=0`))]);
  const isLive = async ({ token }: Held) => (await instance.call('POST', '/api/v1/session', { token })).json.ok;
  expect([await isLive(a), await isLive(b)]).toEqual([true, false]);
  expect(instance.events(b.applicationId).at(-1)?.type).toBe('user.signed_out');
});
