/** Requests from a page of another origin with `fetch`, with the real preflights of a browser. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type Shop, startShop } from '../support/shop.ts';
import { OWNER } from './console-page.ts';

setDefaultTimeout(120_000);

const EMAIL = 'ada@example.com';
/** A picture of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

/** An answer as a script sees it; of a refused one it learns only the refusal. */
interface Read {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint: each test checks the answer it asked for.
  readonly json: any;
}

interface Asked {
  readonly method?: string;
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials?: 'omit' | 'include';
  readonly mode?: 'cors' | 'no-cors';
}

let server: EphemeralServer;
let shop: Shop;
let page: Page;

beforeAll(async () => {
  server = await startEphemeral([], { GATEHOUSE_LIMIT_EXPORTS_PER_PERSON: '1' });
  shop = startShop();
  page = await openBrowserPage();
  await page.open(shop.url);
});
afterAll(async () => {
  closeBrowser();
  await Promise.all([shop.stop(), server.stop()]);
});

/** Sends a request from the open page. @throws {TypeError} if the browser hides the answer from the script. */
async function ask(path: string, { method, token, body, headers, credentials, mode }: Asked = {}): Promise<Read> {
  const options = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(credentials && { credentials }),
    ...(mode && { mode }),
  };
  const read = await page.evaluate<Read | string>(`(async () => {
    try {
      const answer = await fetch(${JSON.stringify(server.url + path)}, ${JSON.stringify(options)});
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json');
      return { status: answer.status, headers: Object.fromEntries(answer.headers), json: isJson ? JSON.parse(text) : text };
    } catch (error) {
      return error.name;
    }
  })()`);
  if (typeof read === 'string') throw new TypeError(`${method ?? ''} ${path}: ${read}`);
  return read;
}

const isUnreadable = (path: string, asked?: Asked) =>
  ask(path, asked).then(
    () => false,
    () => true,
  );

describe('a page of another origin', () => {
  let token = '';
  beforeAll(async () => {
    ({ token } = await signIn(server, EMAIL, server.clientId));
  });

  test('signs a person in by code, and can read the error of a refusal', async () => {
    const email = 'eve@example.com';
    const sent = await ask('/api/v1/auth/otp/send', { body: { email, clientId: server.clientId } });
    const { challengeId } = sent.json.data;
    const wrong = await ask('/api/v1/auth/otp/verify', { body: { challengeId, code: 'x' } });
    expect([wrong.status, wrong.json.error]).toEqual([400, 'invalid_request']);
    const code = await outboxCode(server, email);
    const right = await ask('/api/v1/auth/otp/verify', { body: { challengeId, code } });
    expect(right.status).toBe(200);
    const session = await ask('/api/v1/session', { method: 'POST', token: right.json.data.token });
    expect(session.json.email).toBe(email);
    expect((await ask('/api/v1/session', { method: 'DELETE', token: right.json.data.token })).status).toBe(200);
    expect((await ask('/api/account', { token: right.json.data.token })).status).toBe(401);
  });

  test('reads and changes the person’s data, with every HTTP method', async () => {
    expect((await ask('/api/me/roles', { token })).json.data).toMatchObject({ roles: ['user'] });
    expect((await ask('/api/account', { token })).json.data.email).toBe(EMAIL);
    const named = await ask('/api/account/profile/identity', { method: 'PATCH', token, body: { givenName: 'Ada' } });
    expect(named.json.data.givenName).toBe('Ada');
    const region = await ask('/api/account/profile/region', { method: 'PUT', token, body: { country: 'AT' } });
    expect(region.json.data.country).toBe('AT');
    expect((await ask('/api/account/profile/region', { method: 'DELETE', token })).status).toBe(200);
    const uploaded = await page.evaluate<number>(`(async () => {
      const picture = Uint8Array.fromBase64('${PNG}');
      const headers = { authorization: 'Bearer ${token}', 'content-type': 'image/png' };
      const address = '${server.url}/api/account/self/images/avatar';
      return (await fetch(address, { method: 'PUT', headers, body: picture })).status;
    })()`);
    expect(uploaded).toBe(200);
  });

  test('can read the rate-limit, Retry-After and request-id headers', async () => {
    const { headers } = await ask('/api/me/roles', { token });
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
      expect(headers[name]).toMatch(/^\d+$/);
    expect(headers['x-request-id']).toStartWith('req_');
    const exported = await ask('/api/account/export', { token });
    expect(exported.headers['content-disposition']).toContain('account.json');
    const refused = await ask('/api/account/export', { token });
    expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const unknown = await ask('/api/account', { token: 'est_0' });
    expect([unknown.status, unknown.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
  });

  test('reads public data, and revalidates it with its ETag', async () => {
    const state = await ask(`/api/applications/${server.applicationId}/public/state`);
    expect(state.status).toBe(200);
    expect((await ask('/api/v1/i18n/signin/de.json')).status).toBe(200);
    expect((await ask('/.well-known/oauth-authorization-server')).json.issuer).toBe(server.url);
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      const { status, headers } = await ask(path);
      expect([status, headers['etag']]).toEqual([200, expect.stringMatching(/^(?:W\/)?"/)]);
      expect((await ask(path, { headers: { 'if-none-match': headers['etag'] ?? '' } })).status).toBe(304);
    }
    expect((await ask('/openapi.roles.json')).status).toBe(200);
  });

  test('begins a device grant', async () => {
    const begun = await ask('/api/v1/device/code', { body: { client_id: server.clientId, device_name: 'Shop' } });
    const polled = await ask('/api/v1/device/token', {
      body: { client_id: server.clientId, device_code: begun.json.device_code },
    });
    expect(polled.json.error).toBe('authorization_pending');
  });

  test('receives the event stream of a session until it ends', async () => {
    const { token: own } = await signIn(server, EMAIL, server.clientId);
    const read = page.evaluate<string>(`(async () => {
      const headers = { authorization: 'Bearer ${own}' };
      const { body } = await fetch('${server.url}/api/v1/session/events', { headers });
      let text = '';
      for await (const part of body.pipeThrough(new TextDecoderStream())) {
        if (text === '') await fetch('${server.url}/api/v1/session', { method: 'DELETE', headers });
        text += part;
      }
      return text;
    })()`);
    expect((await read).match(/^event: (\w+)$/gm)).toEqual(['event: session', 'event: revoked']);
  });

  test('can neither read nor call management, verification and introspection', async () => {
    const key = { token: server.workspaceKey };
    const application = `/api/applications/${server.applicationId}`;
    const [read, ...changes] = await Promise.all([
      isUnreadable('/api/applications', key),
      isUnreadable(application, { ...key, method: 'PATCH', body: { name: 'Taken' } }),
      isUnreadable(`${application}/roles`, { ...key, body: { slug: 'taken', name: 'Taken' } }),
      isUnreadable('/api/v1/verify', { ...key, body: { token } }),
      isUnreadable('/api/v1/introspect', { ...key, body: { token } }),
      isUnreadable('/api/v1/revoke', { ...key, body: { token } }),
    ]);
    expect([read, ...changes]).toEqual(Array(6).fill(true));
    // A key does not help on an open path either.
    expect((await ask('/api/account', key)).status).toBe(403);
    const { json } = await request(server, 'GET', application, key);
    expect(json.data.name).not.toBe('Taken');
    expect((await request(server, 'GET', `${application}/roles`, key)).text).not.toContain('taken');
    expect((await ask('/api/account', { token })).status).toBe(200);
  });
});

describe('the cookie of the hosted pages', () => {
  /** Puts a session into the browser, as if the person had signed in on the page. */
  beforeAll(async () => {
    const { token } = await signIn(server, OWNER);
    await page.view.cdp('Network.setCookie', { name: 'gatehouse', value: token, url: server.url, httpOnly: true });
    await page.open(`${server.url}/account`);
    expect((await ask('/api/account')).status).toBe(200);
    await page.open(shop.url);
  });

  test('is not sent from another origin', async () => {
    expect((await ask('/api/account')).status).toBe(401);
    expect((await ask('/api/me/roles')).status).toBe(401);
  });

  test('grants nothing when a script sends it', async () => {
    const sent = { credentials: 'include' } as const;
    expect(await isUnreadable('/api/account', sent)).toBe(true);
    expect(await isUnreadable('/api/account/sessions', { ...sent, method: 'DELETE' })).toBe(true);
    expect(await isUnreadable('/api/account/profile/identity', { ...sent, body: {}, method: 'PATCH' })).toBe(true);
    // A form is sent without a preflight.
    const mails = async () => (await request(server, 'GET', `/test/outbox?to=${OWNER}`)).json.data.items.length;
    const before = await mails();
    const proof = '/api/account/proof';
    await ask(proof, { ...sent, mode: 'no-cors', method: 'POST' });
    expect(await mails()).toBe(before);
    // The same request works from a page of this origin.
    await page.open(`${server.url}/account`);
    expect((await ask(proof, { method: 'POST' })).status).toBe(200);
    expect(await mails()).toBe(before + 1);
  });
});
