/**
 * Redirects after a sign-in: any requested address ends at a registered address or is refused. The URL parser of
 * browsers (WHATWG) decides, not the code under test.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { GuardedFetch } from '@/outbound/guarded-fetch.ts';
import type { Application } from '@/store/applications.ts';
import { createBrowser } from '../modules/provider/browser.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const ISSUER = 'https://idp.example.com';
const REGISTERED = 'https://shop.example.com/app';

/** Addresses that are never redirected to. */
const FORMS: readonly string[] = [
  'https://evil.example/app',
  'https://evil.example',
  '//evil.example/app',
  '///evil.example/app',
  '/\\evil.example/app',
  '\\\\evil.example\\app',
  '/app',
  'app',
  '',
  '?x',
  '#token',
  'https:evil.example/app',
  'https:/evil.example/app',
  'https:///evil.example/app',
  'https:////evil.example/app',
  'https:\\\\evil.example/app',
  'https:/\\evil.example/app',
  'http://evil.example/app',
  'http://shop.example.com/app',
  'ws://shop.example.com/app',
  'ftp://shop.example.com/app',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://shop.example.com/app%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'blob:https://shop.example.com/app',
  'view-source:https://shop.example.com/app',
  'intent://shop.example.com/app#Intent;scheme=https;end',
  'about:blank',
  'file:///app',
  'https://shop.example.com.evil.example/app',
  'https://shop.example.comevil.example/app',
  'https://shop.example.com-evil.example/app',
  'https://evilshop.example.com/app',
  'https://sub.shop.example.com/app',
  'https://example.com/app',
  'https://shop.example.co/app',
  'https://shop-example.com/app',
  'https://shop.example.com.:443/app',
  'https://shop.example.com./app',
  'https://shop.example.com:444/app',
  'https://shop.example.com:80/app',
  'https://shop.example.com@evil.example/app',
  'https://shop.example.com:443@evil.example/app',
  'https://shop.example.com%40evil.example/app',
  'https://user@shop.example.com/app',
  'https://user:password@shop.example.com/app',
  'https://@shop.example.com/app',
  'https://:@shop.example.com/app',
  'https://evil.example@shop.example.com/app',
  'https://evil.example\\@shop.example.com/app',
  'https://evil.example/\\@shop.example.com/app',
  'https://evil.example#@shop.example.com/app',
  'https://evil.example?@shop.example.com/app',
  'https://evil.example;@shop.example.com/app',
  'https://evil.example&@shop.example.com/app',
  'https://shop.example.com\\.evil.example/app',
  'https://shop.example.com\\app',
  'https://shop.example.com%2eevil.example/app',
  'https://shop.example.com%2f.evil.example/app',
  'https://shop.example.com%5c.evil.example/app',
  'https://shop.example.com%23.evil.example/app',
  'https://shop.example.com%3f.evil.example/app',
  'https://shop.example.com%00.evil.example/app',
  'https://shop.example.com\u0000.evil.example/app',
  'https://shop.example.com／.evil.example/app',
  'https://shop.example.com＼.evil.example/app',
  'https://shop.example.com＃.evil.example/app',
  'https://shop.example.com？.evil.example/app',
  'https://shop.example.com＠evil.example/app',
  'https://shop.example.com\u2100evil.example/app',
  'https://evil.example／shop.example.com/app',
  'https://evil。example/app',
  'https://[shop.example.com]/app',
  'https://shop.example.com/',
  'https://shop.example.com',
  'https://shop.example.com/ap',
  'https://shop.example.com/App',
  'https://shop.example.com/APP',
  'https://shop.example.com/application',
  'https://shop.example.com/app.evil',
  'https://shop.example.com/app%20x',
  'https://shop.example.com//app',
  'https://shop.example.com/./../app/../admin',
  'https://shop.example.com/app/../admin',
  'https://shop.example.com/app/..',
  'https://shop.example.com/app/x/../../admin',
  'https://shop.example.com/app/%2e%2e/admin',
  'https://shop.example.com/app/%2E%2E/admin',
  'https://shop.example.com/app/.%2e/admin',
  'https://shop.example.com/app%2f..%2fadmin',
  'https://shop.example.com/app/..%2fadmin',
  'https://shop.example.com/app/..%5cadmin',
  'https://shop.example.com/app/..\\admin',
  'https://shop.example.com/app\\..\\admin',
  'https://shop.example.com/app/%252e%252e/admin',
  'https://shop.example.com/app/%252e%252e%252fadmin',
  'https://shop.example.com/app/%25252e%25252e/admin',
  'https://shop.example.com/app/..;/admin',
  'https://shop.example.com/app;/../admin',
  'https://shop.example.com/app/..%3b/admin',
  'https://shop.example.com/app/%c0%ae%c0%ae/admin'.replace('/%c0%ae%c0%ae', '/%2e%2e'),
  'https://shop.example.com/%61pp/../admin',
  'https://shop.example.com/app#fragment',
  'https://shop.example.com/app#',
  'https://shop.example.com/app#token=forged',
  ' https://shop.example.com/app',
  'https://shop.example.com/app ',
  'https://shop.example.com/app\r\nSet-Cookie: x=y',
  'https://shop.example.com/app\nLocation: https://evil.example',
  'https://shop.example.com/app%0d%0aLocation:%20https://evil.example/..\n',
  'https://shop.example.com/\tapp',
  'ht\ttps://shop.example.com/app',
  'https://shop.ex\u00adample.com\t/app',
  `https://shop.example.com/app/${'x'.repeat(3000)}`,
  'null',
  'undefined',
  '[object Object]',
  '/sign-in?clientId=x',
  '//localhost:8080/account',
];

/** Addresses at or below the registered one. */
const GOOD: readonly string[] = [
  REGISTERED,
  `${REGISTERED}/`,
  `${REGISTERED}/deep/er?x=1&y=https://evil.example`,
  `${REGISTERED}?next=//evil.example`,
  'HTTPS://SHOP.EXAMPLE.COM/app',
  'https://shop.example.com:443/app',
];

let instance: Instance;
let application: Application;

/** Returns true if a browser that opens the text is at the registered address or below it. */
function isRegistered(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.origin !== 'https://shop.example.com' || url.username || url.password) return false;
  let path = url.pathname;
  // Decodes as the most lenient server would.
  for (let turn = 0; turn < 3; turn += 1) path = decodeURIComponent(path);
  const parts = path.replaceAll('\\', '/').replaceAll(';', '/').split('/');
  return !parts.includes('..') && (url.pathname === '/app' || url.pathname.startsWith('/app/'));
}

beforeAll(async () => {
  const outbound: GuardedFetch = async ({ url }) => {
    expect(url).toBe(`${ISSUER}/.well-known/openid-configuration`);
    const document = {
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      jwks_uri: `${ISSUER}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
    return { status: 200, headers: new Headers(), body: Buffer.from(JSON.stringify(document)) };
  };
  instance = await createInstance({
    outbound,
    environment: {
      GATEHOUSE_GOOGLE_CLIENT_ID: 'c',
      GATEHOUSE_GOOGLE_CLIENT_SECRET: 's',
      GATEHOUSE_GOOGLE_ISSUER: ISSUER,
      GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS: '1000000',
    },
  });
  application = await instance.createApplication({
    signinMethods: ['otp', 'passkey', 'provider'],
    returnUrls: [REGISTERED],
  });
});

afterAll(() => instance.services.stop());

test('the corpus is classified correctly', () => {
  expect(GOOD.filter((text) => !isRegistered(text))).toEqual([]);
  expect(new Set(FORMS).size).toBeGreaterThan(110);
});

const query = (returnTo: string) => `clientId=${application.clientId}&returnTo=${encodeURIComponent(returnTo)}`;

describe('the hosted page', () => {
  test.each(GOOD.map((url) => [url]))('redirects to a registered address: %s', async (url) => {
    const { status, text } = await instance.call('GET', `/sign-in?${query(url)}`);
    expect(status).toBe(200);
    expect(text.toLowerCase()).toMatch(/"returnto":"https:\/\/shop\.example\.com(?::443)?\/app/);
  });

  test('redirects nowhere else and shows no link to another address', async () => {
    for (const form of FORMS) {
      const { status, text, headers } = await instance.call('GET', `/sign-in?${query(form)}`);
      expect([form, headers.get('location')]).toEqual([form, null]);
      // An empty address is no error: the page does not redirect.
      if (form === '' && status === 200) continue;
      expect([form, status]).toEqual([form, 400]);
      expect([form, /href="[^"]*evil|evil\.example|javascript:/i.test(text)]).toEqual([form, false]);
    }
  });

  test('ignores an unregistered address among two', async () => {
    const [good, evil] = [REGISTERED, 'https://evil.example/'].map((url) => `returnTo=${encodeURIComponent(url)}`);
    for (const both of [`${good}&${evil}`, `${evil}&${good}`]) {
      const { text, status } = await instance.call('GET', `/sign-in?clientId=${application.clientId}&${both}`);
      expect([200, 400]).toContain(status);
      expect(text).not.toContain('evil.example');
    }
  });
});

describe('the provider’s flow', () => {
  test('does not begin for another address and never ends at one', async () => {
    let begun = 0;
    for (const form of [...GOOD, ...FORMS]) {
      const browser = createBrowser(instance);
      const started = await browser.visit(`/api/auth/google/start?${query(form)}`);
      if (started.status !== 302) {
        expect([form, started.status]).toEqual([form, 400]);
        expect([form, started.headers.get('location')]).toEqual([form, null]);
        expect([form, /evil\.example|javascript:/i.test(started.text)]).toEqual([form, false]);
        continue;
      }
      begun += 1;
      const there = new URL(started.headers.get('location')!);
      expect(there.origin).toBe(ISSUER);
      const state = there.searchParams.get('state');
      const back = await browser.visit(`/api/auth/google/callback?state=${state}&error=access_denied`);
      const landing = back.headers.get('location')!;
      expect([form, isRegistered(landing)]).toEqual([form, true]);
      expect(new URL(landing).hash).toBe('#error=access_denied');
    }
    expect(begun).toBe(GOOD.length);
  });

  test('does not begin to connect a provider with a return to another address', async () => {
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    for (const returnTo of FORMS) {
      const { status, json } = await instance.call('POST', '/api/account/providers', { token, body: { returnTo } });
      expect([returnTo, status]).toEqual([returnTo, 400]);
      expect(JSON.stringify(json)).not.toContain('evil');
    }
  });

  test('redirects nowhere if the URL was removed from the list in between', async () => {
    const other = await instance.createApplication({ signinMethods: ['provider'], returnUrls: [REGISTERED] });
    const browser = createBrowser(instance);
    const start = `/api/auth/google/start?clientId=${other.clientId}&returnTo=${encodeURIComponent(REGISTERED)}`;
    const started = await browser.visit(start);
    const state = new URL(started.headers.get('location')!).searchParams.get('state');
    const body = { returnUrls: ['https://new.example.com/'] };
    await instance.call('PATCH', `/api/applications/${other.id}`, { token: instance.workspaceKey, body });
    const back = await browser.visit(`/api/auth/google/callback?state=${state}&error=access_denied`);
    expect(back.status).toBe(400);
    expect(back.headers.get('location')).toBeNull();
  });
});

test('the console is returned to only from its own pages', async () => {
  for (const form of FORMS) {
    const page = await instance.call('GET', `/sign-in?clientId=console&returnTo=${encodeURIComponent(form)}`);
    expect(page.headers.get('location')).toBeNull();
    expect([form, /evil\.example|javascript:/i.test(page.text)]).toEqual([form, false]);
  }
});

test('unsafe addresses cannot be registered', async () => {
  const path = `/api/applications/${application.id}`;
  const notEvenHttps = FORMS.filter((form) => {
    const url = URL.parse(form);
    return !url || url.protocol !== 'https:' || url.username || url.password || /[#\s\\\u0000-\u001f]/.test(form);
  });
  expect(notEvenHttps.length).toBeGreaterThan(50);
  for (const form of notEvenHttps) {
    const set = await instance.call('PATCH', path, { token: instance.workspaceKey, body: { returnUrls: [form] } });
    expect([form, set.status]).toEqual([form, 400]);
  }
});

test('no path of this server is an open redirect', async () => {
  const paths = [
    '//evil.example',
    '//evil.example/%2f..',
    '///evil.example/',
    '/\\evil.example',
    '/%5cevil.example/',
    '/%2f%2fevil.example/',
    '/.evil.example/',
    '/@evil.example/',
    '/sign-in//evil.example/..',
    '/sign-in/',
    '/console//evil.example',
    '/cdn/https://evil.example/x.webp',
    '/account/..//evil.example',
    '/docs?url=https://evil.example/openapi.yaml',
    '/setup?token=x&returnTo=https://evil.example',
    '/device?user_code=x&returnTo=https://evil.example',
    '/sign-in?clientId=console&next=https://evil.example',
  ];
  const disguises: Record<string, string>[] = [
    {},
    { 'x-forwarded-host': 'evil.example' },
    { 'x-original-url': '//evil.example' },
  ];
  for (const path of paths)
    for (const headers of disguises) {
      const answer = await instance.call('GET', path, { headers });
      expect([path, answer.headers.get('location')?.includes('evil') ?? false]).toEqual([path, false]);
      expect([path, answer.status]).not.toEqual([path, 500]);
    }
});
