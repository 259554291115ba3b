/**
 * Server-side request forgery: every spelling of an internal address, through every operation that takes a URL. A
 * canary listens on loopback, on IPv4 and IPv6; no connection may reach it.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { BlockList } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { emit } from '@/events/emit.ts';
import { type GuardedFetch, guardedFetch } from '@/outbound/guarded-fetch.ts';
import type { Application } from '@/store/applications.ts';
import { createBrowser } from '../modules/provider/browser.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

setDefaultTimeout(120_000);

/** The answers of a hostile DNS zone. */
const ZONE: Record<string, string[]> = {
  'loop.evil.example': ['127.0.0.1'],
  'loop6.evil.example': ['::1'],
  'mapped.evil.example': ['::ffff:127.0.0.1'],
  'mapped-hex.evil.example': ['::ffff:7f00:1'],
  'compatible.evil.example': ['::127.0.0.1'],
  'nat64.evil.example': ['64:ff9b::7f00:1'],
  'six-to-four.evil.example': ['2002:7f00:1::1'],
  'this-host.evil.example': ['0.0.0.0'],
  'unspecified.evil.example': ['::'],
  'private.evil.example': ['10.0.0.1'],
  'both.evil.example': ['198.41.0.4', '127.0.0.1'],
  'both-backwards.evil.example': ['127.0.0.1', '198.41.0.4'],
  'families.evil.example': ['2001:500:2::c', '::1', '127.0.0.1'],
  'metadata.evil.example': ['169.254.169.254'],
  'metadata.google.internal': ['169.254.169.254'],
  'zone.evil.example': ['fe80::1%lo'],
  'words.evil.example': ['localhost'],
  'number.evil.example': ['2130706433'],
  localhost: ['127.0.0.1', '::1'],
};

const NAMES = Object.keys(ZONE);

/** Hosts as written into a URL, before the port. */
const HOSTS: readonly string[] = [
  ...NAMES,
  ...NAMES.map((name) => `${name}.`),
  'LOCALHOST',
  'foo.localhost',
  'localhost.localdomain',
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.127.127.127',
  '127.255.255.254',
  '127.000.000.001',
  '2130706433',
  '4294967297',
  '0x7f000001',
  '0x7F.0x0.0x0.0x1',
  '0x7f.1',
  '0177.0.0.1',
  '0177.1',
  '017700000001',
  '00000000177.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
  '127.0x0.0.01',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'loc\u00adalhost',
  'lo\u200bcalhost',
  '%31%32%37.0.0.1',
  '127.0.0.1%2f',
  '127.0.0.1%00.example.com',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[::1%25lo]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  'user:password@127.0.0.1',
  'example.com@127.0.0.1',
  'example.com%40127.0.0.1',
  'example.com:443@127.0.0.1',
  '127.0.0.1#@example.com',
  '127.0.0.1?@example.com',
  '127.0.0.1/@example.com',
  '127.0.0.1\\@example.com',
  '127.0.0.1\\.example.com',
  '127.0.0.1;@example.com',
  '127.0.0.1 example.com',
  '127.0.0.1\t',
  '\t127.0.0.1',
  '127.0.0.1\r\nHost: example.com',
];

const canary = { port: 0, connections: [] as string[], stop() {} };
let instance: Instance;
let application: Application;
let path: string;
/** Documents of providers on the public internet, by address. */
const published = new Map<string, object>();

beforeAll(async () => {
  const note = (family: string) => ({
    open(socket: Bun.Socket<undefined>) {
      canary.connections.push(family);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    },
    data() {},
  });
  const four = Bun.listen<undefined>({ hostname: '127.0.0.1', port: 0, socket: note('IPv4') });
  canary.port = four.port;
  const listeners = [four];
  try {
    listeners.push(Bun.listen<undefined>({ hostname: '::1', port: four.port, socket: note('IPv6') }));
  } catch {
    // A machine without IPv6 has no listener there.
  }
  canary.stop = () => listeners.forEach((listener) => listener.stop(true));

  const guarded = guardedFetch({
    allowed: new BlockList(),
    isLoopbackAllowed: false,
    resolve: async (name) => {
      const found = ZONE[name.replace(/\.$/, '').toLowerCase()];
      if (!found) throw new Error('no such name');
      return found;
    },
  });
  const outbound: GuardedFetch = async (request) => {
    const document = published.get(request.url);
    if (!document) return guarded(request);
    return { status: 200, headers: new Headers(), body: Buffer.from(JSON.stringify(document)) };
  };
  instance = await createInstance({ outbound, environment: { GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS: '1000000' } });
  application = await instance.createApplication({ signinMethods: ['otp', 'provider'] });
  path = `/api/applications/${application.id}`;
});

afterAll(() => canary.stop());

const asAdmin = (method: string, rest: string, body?: unknown): Promise<Answer> =>
  instance.call(method, `${path}${rest}`, { token: instance.workspaceKey, body });

/** URLs with the canary's port and without one, in http, https and other schemes. */
const urlsOf = (host: string): string[] => {
  const at = /^([^#?/\\;\s]*)([\s\S]*)$/.exec(host)!;
  const withPort = `${at[1]}:${canary.port}${at[2]}`;
  return [`https://${withPort}/x`, `http://${withPort}/x`, `https://${host}/x`, `//${withPort}/x`];
};

const URLS = (): string[] => [
  ...HOSTS.flatMap(urlsOf),
  ...['file:///etc/passwd', 'gopher://127.0.0.1/', 'data:text/plain,x', 'unix:///run/docker.sock', 'ftp://127.0.0.1/'],
  ...[22, 25, 53, 110, 6379, 11211].map((port) => `https://127.0.0.1:${port}/`),
];

test('the canary notices a guard that lets loopback through, on IPv4 and IPv6', async () => {
  const open = guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true });
  const request = { method: 'GET', timeoutMs: 2000, maxBytes: 0 } as const;
  await open({ ...request, url: `http://127.0.0.1:${canary.port}/` });
  expect(canary.connections.splice(0)).toEqual(['IPv4']);
});

describe('a loopback, link-local, private or metadata address', () => {
  test('is not connected to as a webhook, new or changed', async () => {
    const { json } = await asAdmin('POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] });
    const changeable = json.data.id as string;
    let taken = 0;
    for (const url of URLS()) {
      const made = await asAdmin('POST', '/webhooks', { url, events: ['*'] });
      const changed = await asAdmin('PATCH', `/webhooks/${changeable}`, { url });
      expect([url, changed.status]).toEqual([url, made.status]);
      if (made.status === 400) continue;
      expect([url, made.status]).toEqual([url, 200]);
      taken += 1;
      await asAdmin('POST', `/webhooks/${made.json.data.id}/test`);
      await instance.services.deliveries.runOnce();
      const { items } = (await asAdmin('GET', `/webhooks/${made.json.data.id}/deliveries`)).json.data;
      const { attemptLog } = (await asAdmin('GET', `/webhooks/${made.json.data.id}/deliveries/${items[0].id}`)).json
        .data;
      expect([url, attemptLog[0].statusCode]).toEqual([url, null]);
      expect([url, attemptLog[0].errorClass]).toEqual([url, expect.stringMatching(/^(?:refused|unresolved)$/)]);
      await asAdmin('DELETE', `/webhooks/${made.json.data.id}`);
    }
    await instance.db.write(SYSTEM_ACTOR, (unit) =>
      emit(unit, { type: 'user.banned', applicationId: application.id, data: { userId: 'usr_1' } }),
    );
    // Names are judged when they are resolved; the test is void unless some get that far.
    expect(taken).toBeGreaterThan(NAMES.length / 2);
    expect(canary.connections).toEqual([]);
  });

  test('is not connected to as a legal URL', async () => {
    let taken = 0;
    for (const url of URLS()) {
      const set = await asAdmin('PATCH', '', { legalUrls: { terms: url, privacy: url, imprint: url } });
      if (set.status === 400) continue;
      expect([url, set.status]).toEqual([url, 200]);
      taken += 1;
      const { json } = await asAdmin('POST', '/recheck-urls');
      for (const { status, finalCode } of json.data.urls) {
        expect([url, status]).toEqual([url, expect.stringMatching(/^(?:refused|unreachable)$/)]);
        expect([url, finalCode]).toEqual([url, null]);
      }
    }
    expect(taken).toBeGreaterThan(HOSTS.length / 2);
    expect(canary.connections).toEqual([]);
  });

  test('is not connected to as the issuer of an identity provider', async () => {
    let taken = 0;
    for (const issuer of URLS()) {
      const set = await asAdmin('PUT', '/identity-provider', { issuer, clientId: 'c', clientSecret: 's' });
      if (set.status === 400) continue;
      expect([issuer, set.status]).toEqual([issuer, 200]);
      taken += 1;
      const started = await instance.call('GET', `/api/auth/google/start?clientId=${application.clientId}`);
      expect([issuer, started.status]).toEqual([issuer, 502]);
    }
    expect(taken).toBeGreaterThan(NAMES.length / 2);
    expect(canary.connections).toEqual([]);
  });

  test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'is not connected to as the %s in a provider’s metadata',
    async (endpoint) => {
      const { privateKey, publicKey } = await generateKeyPair('RS256');
      const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }];
      let begun = 0;
      for (const [index, url] of URLS().entries()) {
        const issuer = `https://idp.example.com/${endpoint}/${index}`;
        published.set(`${issuer}/keys`, { keys });
        published.set(`${issuer}/.well-known/openid-configuration`, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          [endpoint]: url,
        });
        const set = await asAdmin('PUT', '/identity-provider', { issuer, clientId: 'c', clientSecret: 's' });
        expect(set.status).toBe(200);
        const browser = createBrowser(instance);
        const started = await browser.visit(`/api/auth/google/start?clientId=${application.clientId}`);
        if (started.status === 502) continue;
        expect([url, started.status]).toEqual([url, 302]);
        begun += 1;
        const asked = new URL(started.headers.get('location')!).searchParams;
        // Every step before the tested address is valid.
        const idToken = await new SignJWT({ nonce: asked.get('nonce') })
          .setProtectedHeader({ alg: 'RS256', kid: 'k' })
          .setIssuer(issuer)
          .setAudience('c')
          .setSubject('s')
          .setIssuedAt(Math.floor(instance.clock.now() / 1000))
          .setExpirationTime(Math.floor(instance.clock.now() / 1000) + 300)
          .sign(privateKey);
        published.set(`${issuer}/token`, { access_token: 'a', token_type: 'Bearer', id_token: idToken });
        const back = await browser.visit(`/api/auth/google/callback?code=x&state=${asked.get('state')}`);
        expect([url, back.status]).toEqual([url, 502]);
        // The flow reached that step.
        const step = { token_endpoint: 'token endpoint', jwks_uri: 'id_token', userinfo_endpoint: 'userinfo' }[
          endpoint
        ];
        expect(instance.logLines.at(-2)).toMatch(new RegExp(`${step}: (?:refused|unresolved)`));
      }
      expect(begun).toBeGreaterThan(NAMES.length / 2);
      expect(canary.connections).toEqual([]);
    },
  );
});

test('no redirect from a public page is followed to an internal address', async () => {
  const opened = new BlockList();
  opened.addAddress('127.0.0.2');
  let target = '';
  const outside = Bun.serve({
    hostname: '127.0.0.2',
    port: 0,
    // Answers as a hostile server would, with no client normalising the address first.
    fetch: () => new Response(null, { status: 302, headers: { location: target } }),
  });
  try {
    const resolve = async (name: string) => ZONE[name.replace(/\.$/, '').toLowerCase()] ?? [];
    const other = await createInstance({
      environment: { GATEHOUSE_ALLOW_CIDRS: '127.0.0.2' },
      outbound: guardedFetch({ allowed: opened, isLoopbackAllowed: false, resolve }),
    });
    const { id } = await other.createApplication();
    const call = (method: string, rest: string, body?: unknown) =>
      other.call(method, `/api/applications/${id}${rest}`, { token: other.workspaceKey, body });
    await call('PATCH', '', { legalUrls: { terms: `http://127.0.0.2:${outside.port}/terms` } });
    for (const url of URLS().filter((text) => !/[\r\n\t]|[^\x20-\x7e]/.test(text))) {
      target = url;
      const { json } = await call('POST', '/recheck-urls');
      const [terms] = json.data.urls;
      expect([url, terms.status]).toEqual([url, expect.stringMatching(/^(?:refused|unreachable|broken)$/)]);
    }
    const hook = await call('POST', '/webhooks', { url: `http://127.0.0.2:${outside.port}/hook`, events: ['*'] });
    for (const url of [`http://127.0.0.1:${canary.port}/`, `http://[::1]:${canary.port}/`]) {
      target = url;
      await call('POST', `/webhooks/${hook.json.data.id}/test`);
      await other.services.deliveries.runOnce();
    }
    expect(canary.connections).toEqual([]);
  } finally {
    await outside.stop(true);
  }
});
