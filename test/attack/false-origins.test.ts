/** Where a request says it is from and for: spellings of one address, countries, names that lead here from elsewhere. */
import { describe, expect, test } from 'bun:test';
import { startEphemeral } from '../support/binary.ts';
import { createInstance, type Instance } from '../support/instance.ts';

/** All of one client. */
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

describe('one client is counted as one', () => {
  test.each([
    ['IPv6', SPELLINGS],
    ['IPv4 mapped into IPv6', MAPPED],
  ])('however its address is spelt: %s', async (_, spellings) => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '3' } });
    const { clientId } = await instance.createApplication();
    const statuses: number[] = [];
    for (const [index, peer] of spellings.entries()) {
      instance.peer = peer;
      statuses.push((await ask(instance, clientId, `person${index}@example.com`)).status);
    }
    expect(statuses).toEqual(spellings.map((_, index) => (index < 3 ? 200 : 429)));
  });

  test('behind a trusted proxy as well, and its record has the one spelling', async () => {
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

  test('and its neighbour as another', async () => {
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
  /** The country that the session and its record get. */
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

  test('is not what the client itself says', async () => {
    expect(await countryOf('8.8.8.8', { 'cf-ipcountry': 'CH' })).toBe('US');
    expect(await countryOf('192.168.1.1', { 'cf-ipcountry': 'CH' })).toBeNull();
    expect(await countryOf('10.0.0.2', { 'cf-ipcountry': 'CH', 'x-forwarded-for': '8.8.8.8' }, TRUSTED)).toBeNull();
  });

  test('is what a trusted proxy says, and without that what the table says of the client’s address', async () => {
    const from = { 'x-forwarded-for': '8.8.8.8' };
    expect(await countryOf('10.0.0.1', { ...from, 'cf-ipcountry': 'CH' }, TRUSTED)).toBe('CH');
    expect(await countryOf('10.0.0.1', { ...from, 'cf-ipcountry': 'XX' }, TRUSTED)).toBe('US');
    expect(await countryOf('10.0.0.1', from, TRUSTED)).toBe('US');
    expect(await countryOf('2a02:1210::1', {})).toBe('CH');
    expect(await countryOf('::ffff:8.8.8.8', {})).toBe('US');
  });

  test('is none for addresses that are nobody’s, whatever the registries say of theirs', async () => {
    for (const peer of ['10.1.2.3', '192.168.1.1', '127.0.0.1', '203.0.113.7', '::1', 'fe80::1%eth0', '2001:db8::1'])
      expect(await countryOf(peer, {})).toBeNull();
  });

  test('that a peer made up is reported once, with the setting that would make it believed', async () => {
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
  test('has the table of countries in it, and answers to no foreign name', async () => {
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

describe('a name that leads here from elsewhere', () => {
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
    'is refused by a server that listens on %s; its own names are taken',
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

  test('is refused before anything is done, for pages and unknown paths too', async () => {
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

  test('is the base URL’s where there is one, behind a proxy of the same machine', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } });
    const hosts = ['auth.example.com', 'AUTH.example.com:443', 'evil.example', 'example.com'];
    expect(await statuses(instance, '/healthz', hosts)).toEqual([
      ['auth.example.com', 200],
      ['AUTH.example.com:443', 200],
      ['evil.example', 403],
      ['example.com', 403],
    ]);
  });

  test('is taken by a server for the network, but never by an ephemeral one, whose test routes hold every code', async () => {
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

describe('a connection that somebody has stripped of its encryption', () => {
  test('is not used again: every answer of a server on https says so, and none of another', async () => {
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
