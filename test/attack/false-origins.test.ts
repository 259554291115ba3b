/** Claims about where a request comes from and goes to: address spellings, countries, and foreign host names. */
import { describe, expect, test } from 'bun:test';
import { startEphemeral } from '../support/binary.ts';
import { createInstance, type Instance } from '../support/instance.ts';

/** Spellings of one client's address. */
const SPELLINGS = [
  '2001:db8::1',
  '2001:DB8::1',
  '2001:db8:0:0::1',
  '2001:0db8:0000:0000:0000:0000:0000:0001',
  '2001:db8::0.0.0.1',
  '2001:db8::ffff:ffff:ffff:ffff',
  '2001:db8::1%eth0',
];
const MAPPED = ['192.0.2.5', '::ffff:192.0.2.5', '::FFFF:192.0.2.5', '::ffff:c000:205', '0:0:0:0:0:ffff:c000:0205'];

const ask = (instance: Instance, clientId: string, email: string, headers: Record<string, string> = {}) =>
  instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId }, headers });

describe('a client', () => {
  test.each([
    ['IPv6', SPELLINGS],
    ['IPv4 mapped into IPv6', MAPPED],
  ])('is counted once, however its address is spelt: %s', async (_, spellings) => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '3' } });
    const { clientId } = await instance.createApplication();
    const statuses: number[] = [];
    for (const [index, peer] of spellings.entries()) {
      instance.peer = peer;
      statuses.push((await ask(instance, clientId, `person${index}@example.com`)).status);
    }
    expect(statuses).toEqual(spellings.map((_, index) => (index < 3 ? 200 : 429)));
  });

  test('is counted once behind a trusted proxy too, and is recorded in the canonical spelling', async () => {
    const environment = {
      GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '2',
      GATEHOUSE_TRUSTED_PROXIES: '::ffff:10.0.0.1, 10.0.0.1',
    };
    const instance = await createInstance({ environment });
    const { clientId } = await instance.createApplication();
    instance.peer = '::ffff:a00:1';
    const statuses: number[] = [];
    for (const [index, from] of SPELLINGS.entries())
      statuses.push((await ask(instance, clientId, `p${index}@example.com`, { 'x-forwarded-for': from })).status);
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429, 429]);
    const headers = { 'x-forwarded-for': '2001:DB8:0:9::0:1' };
    await ask(instance, clientId, 'ada@example.com', headers);
    const { challengeId } = (await ask(instance, clientId, 'bob@example.com', headers)).json.data;
    await instance.call('POST', '/api/v1/auth/otp/verify', {
      headers,
      body: { challengeId, code: instance.codeFor('bob@example.com') },
    });
    expect(instance.sqlite.query('SELECT ip FROM sessions').all()).toEqual([{ ip: '2001:db8:0:9::1' }]);
  });

  test('is counted apart from its neighbour', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1' } });
    const { clientId } = await instance.createApplication();
    const statuses: number[] = [];
    for (const peer of ['2001:db8::1', '2001:db8:0:1::1', '::ffff:192.0.2.5', '192.0.2.6']) {
      instance.peer = peer;
      statuses.push((await ask(instance, clientId, `p${peer.length}@example.com`)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200]);
  });
});

describe('the country of a client', () => {
  /** Returns the country that the session and its record get. */
  async function countryOf(peer: string, headers: Record<string, string>, environment: Record<string, string> = {}) {
    const instance = await createInstance({
      environment: { GATEHOUSE_COUNTRY_HEADER: 'CF-IPCountry', ...environment },
    });
    const { clientId } = await instance.createApplication();
    instance.peer = peer;
    const { challengeId } = (await ask(instance, clientId, 'ada@example.com', headers)).json.data;
    const body = { challengeId, code: instance.codeFor('ada@example.com') };
    await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers });
    const [session] = instance.sqlite.query('SELECT ip_country AS country FROM sessions').all() as {
      country: string;
    }[];
    const [audit] = instance.sqlite
      .query("SELECT ip_country AS country FROM audit_records WHERE kind LIKE 'signin.%' AND user_id IS NOT NULL")
      .all() as { country: string }[];
    expect(session!.country).toBe(audit!.country);
    return session!.country;
  }
  const TRUSTED = { GATEHOUSE_TRUSTED_PROXIES: '10.0.0.1' };

  test('is never taken from the client’s own header', async () => {
    expect(await countryOf('8.8.8.8', { 'cf-ipcountry': 'CH' })).toBe('US');
    expect(await countryOf('192.168.1.1', { 'cf-ipcountry': 'CH' })).toBeNull();
    expect(await countryOf('10.0.0.2', { 'cf-ipcountry': 'CH', 'x-forwarded-for': '8.8.8.8' }, TRUSTED)).toBeNull();
  });

  test('is what a trusted proxy says, otherwise what the table says of the client’s address', async () => {
    const from = { 'x-forwarded-for': '8.8.8.8' };
    expect(await countryOf('10.0.0.1', { ...from, 'cf-ipcountry': 'CH' }, TRUSTED)).toBe('CH');
    expect(await countryOf('10.0.0.1', { ...from, 'cf-ipcountry': 'XX' }, TRUSTED)).toBe('US');
    expect(await countryOf('10.0.0.1', from, TRUSTED)).toBe('US');
    expect(await countryOf('2a02:1210::1', {})).toBe('CH');
    expect(await countryOf('::ffff:8.8.8.8', {})).toBe('US');
  });

  test('is null for unassigned addresses, even if a registry lists them', async () => {
    for (const peer of ['10.1.2.3', '192.168.1.1', '127.0.0.1', '203.0.113.7', '::1', 'fe80::1%eth0', '2001:db8::1'])
      expect(await countryOf(peer, {})).toBeNull();
  });

  test('of an untrusted header is logged once, with the setting that would make it trusted', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_COUNTRY_HEADER: 'CF-IPCountry' } });
    const { clientId } = await instance.createApplication();
    for (const email of ['ada@example.com', 'bob@example.com']) {
      const { challengeId } = (await ask(instance, clientId, email, { 'cf-ipcountry': 'CH' })).json.data;
      const body = { challengeId, code: instance.codeFor(email) };
      await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers: { 'cf-ipcountry': 'CH' } });
    }
    expect(instance.logLines.filter((line) => line.includes('GATEHOUSE_TRUSTED_PROXIES'))).toHaveLength(1);
  });
});

describe('the binary', () => {
  test('contains the table of countries and refuses other host names', async () => {
    const { url, clientId, stop } = await startEphemeral([], { GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1' });
    const call = async (path: string, init: { body?: unknown; headers?: Record<string, string> } = {}) =>
      fetch(url + path, {
        method: init.body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '2a02:1210::1', ...init.headers },
        ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
      });
    const json = async (answer: Promise<Response>) => ((await (await answer).json()) as Record<'data', never>).data;
    const email = 'ada@example.com';
    const { challengeId } = await json(call('/api/v1/auth/otp/send', { body: { email, clientId } }));
    const { items } = (await json(call('/test/outbox'))) as { items: { code: string }[] };
    const { token } = await json(call('/api/v1/auth/otp/verify', { body: { challengeId, code: items[0]!.code } }));
    const sessions = await json(call('/api/account/sessions', { headers: { authorization: `Bearer ${token}` } }));
    expect(sessions).toMatchObject({ items: [{ ip: '2a02:1210::1', ipCountry: 'CH' }] });
    expect((await call('/test/outbox', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect(await stop()).toBe(0);
  }, 120_000);
});

describe('another server’s host name', () => {
  const FOREIGN = [
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'evil.localhost.example',
    '127.0.0.1.evil.example',
    'xlocalhost',
    'localhost@evil.example',
    'evil.example#localhost',
    '127.1',
    '[evil]',
    '[127.0.0.1]',
    '',
    ' ',
  ];
  const OWN = [
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'app.localhost:8080',
    '127.0.0.1:8080',
    '127.0.0.2',
    '[::1]:8080',
    '172.17.0.2:8080',
  ];
  const at = (instance: Instance, path: string, host: string) => instance.call('GET', path, { headers: { host } });
  const statuses = (instance: Instance, path: string, hosts: readonly string[]) =>
    Promise.all(hosts.map(async (host) => [host, (await at(instance, path, host)).status]));

  test.each(['127.0.0.1', 'localhost', '::1', '127.0.0.53'])(
    'is refused by a server that listens on %s; its own names are accepted',
    async (host) => {
      const instance = await createInstance({ environment: { GATEHOUSE_HOST: host } });
      const { json, status } = await at(instance, '/healthz', 'evil.example');
      expect([status, json.error]).toEqual([403, 'forbidden']);
      expect(json.message).toContain('GATEHOUSE_BASE_URL');
      expect(json.message).not.toContain('evil');
      expect(await statuses(instance, '/healthz', FOREIGN)).toEqual(FOREIGN.map((name) => [name, 403]));
      expect(await statuses(instance, '/healthz', OWN)).toEqual(OWN.map((name) => [name, 200]));
    },
  );

  test('is refused before any change, for pages and unknown paths too', async () => {
    const instance = await createInstance();
    const count = () => instance.sqlite.query('SELECT count(*) AS n FROM code_challenges').get();
    const before = count();
    const { clientId } = await instance.createApplication();
    expect((await ask(instance, clientId, 'ada@example.com', { host: 'evil.example' })).status).toBe(403);
    expect(count()).toEqual(before);
    const page = await instance.call('GET', '/sign-in', { headers: { host: 'evil.example', accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect((await at(instance, '/nowhere', 'evil.example')).status).toBe(403);
  });

  test('is every host but the base URL’s, even behind a proxy on the same machine', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } });
    const hosts = ['auth.example.com', 'AUTH.example.com:443', 'evil.example', 'example.com'];
    expect(await statuses(instance, '/healthz', hosts)).toEqual([
      ['auth.example.com', 200],
      ['AUTH.example.com:443', 200],
      ['evil.example', 403],
      ['example.com', 403],
    ]);
  });

  test('is accepted by a network server, never by an ephemeral one, whose test routes reveal every code', async () => {
    const open = await createInstance({ environment: { GATEHOUSE_HOST: '0.0.0.0' } });
    expect((await at(open, '/healthz', 'gatehouse')).status).toBe(200);
    const ephemeral = await createInstance({ mode: 'ephemeral', environment: { GATEHOUSE_HOST: '0.0.0.0' } });
    for (const path of ['/test/outbox', '/healthz']) {
      expect(await statuses(ephemeral, path, FOREIGN)).toEqual(FOREIGN.map((name) => [name, 403]));
      expect(await statuses(ephemeral, path, OWN)).toEqual(OWN.map((name) => [name, 200]));
    }
    const named = { GATEHOUSE_HOST: '0.0.0.0', GATEHOUSE_BASE_URL: 'http://gatehouse:8080' };
    const inside = await createInstance({ mode: 'ephemeral', environment: named });
    expect((await at(inside, '/test/outbox', 'gatehouse:8080')).status).toBe(200);
  });
});

describe('a downgrade to HTTP', () => {
  test('is prevented by HSTS on every answer of an https server, and on none of an http server', async () => {
    for (const [baseUrl, expected] of [
      ['https://auth.example.com', 'max-age=31536000'],
      ['http://localhost:8080', null],
    ] as const) {
      const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: baseUrl } });
      const found = new Set<string | null>();
      for (const { method, path } of instance.app.operations) {
        const { headers } = await instance.call(method, path.replaceAll(/:\w+/g, 'none'), {
          token: instance.workspaceKey,
        });
        found.add(headers.get('strict-transport-security'));
      }
      const page = await (await instance.app.fetch(new Request('http://localhost/sign-in'))).text();
      const [asset] = /\/assets\/[^"]+/.exec(page)!;
      for (const path of [asset, '/nowhere', '/healthz', '/sign-in', '/openapi.yaml', '/'])
        found.add((await instance.call('GET', path)).headers.get('strict-transport-security'));
      const refused = await instance.call('GET', '/', { headers: { host: 'evil.example' } });
      found.add(refused.headers.get('strict-transport-security'));
      expect([baseUrl, ...found]).toEqual([baseUrl, expected]);
    }
  });
});
