/**
 * Logging in by the browser of this machine, against a server that speaks the wire of RFC 6749, 7636, 8414 and 9207: what
 * it sends, which answers count, and when it shows a code instead.
 */
import { afterEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hasBrowser } from '@/cli/remote/browser-login.ts';
import { systemTerminal, type Terminal } from '@/cli/remote/terminal.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { COMMAND_LINE_CLIENT_ID } from '@/core/console.ts';
import { pageBrowser } from '../../attack/page-browser.ts';
import { formOf, submit } from '../../modules/openid/authorization-scene.ts';
import { consoleSceneOf } from '../../modules/openid/scene.ts';
import { createInstance } from '../../support/instance.ts';
import { personAt, URL_A } from './scene.ts';

const open = new Set<{ stop(force: boolean): unknown }>();

afterEach(async () => {
  for (const server of open) await server.stop(true);
  open.clear();
});

interface ServerChanges {
  readonly metadata?: Record<string, unknown>;
  /** Parameters of the answer in the browser, in place of the code; undefined leaves one out. */
  readonly answer?: Record<string, string | undefined>;
  readonly isTokenRefused?: boolean;
}

/** A server whose authorization endpoint answers at once, as if the person had confirmed. */
function startServer({ metadata = {}, answer = {}, isTokenRefused = false }: ServerChanges = {}) {
  const key = mintSecret('apiKey', systemRandom);
  const codes = new Map<string, URLSearchParams>();
  const asked: URLSearchParams[] = [];
  const exchanged: URLSearchParams[] = [];

  function authorize(query: URLSearchParams): Response {
    asked.push(query);
    const code = mintSecret('authorizationCode', systemRandom);
    codes.set(code, query);
    const given = { code, state: query.get('state') ?? '', iss: url, ...answer };
    const known = Object.entries(given).filter((one): one is [string, string] => one[1] !== undefined);
    return Response.redirect(`${query.get('redirect_uri')}?${new URLSearchParams(known)}`, 302);
  }

  /** Refuses what RFC 6749 §4.1.3 and RFC 7636 §4.6 refuse. */
  async function token(request: Request): Promise<Response> {
    const given = new URLSearchParams(await request.text());
    exchanged.push(given);
    const authorized = codes.get(given.get('code') ?? '');
    codes.delete(given.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') &&
      !isTokenRefused &&
      given.get('grant_type') === 'authorization_code' &&
      given.get('client_id') === authorized?.get('client_id') &&
      given.get('redirect_uri') === authorized?.get('redirect_uri') &&
      challenge === authorized?.get('code_challenge');
    if (!isRight)
      return Response.json({ error: 'invalid_grant', error_description: 'The code is not valid.' }, { status: 400 });
    return Response.json({ access_token: key, token_type: 'Bearer', scope: '' });
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request): Response | Promise<Response> {
      const { pathname, searchParams } = new URL(request.url);
      switch (pathname) {
        case '/.well-known/oauth-authorization-server':
          return Response.json({ issuer: url, authorization_endpoint: `${url}/oauth/authorize`, ...metadata });
        case '/oauth/authorize':
          return authorize(searchParams);
        case '/oauth/token':
          return token(request);
        case '/api/v1/device/code':
          return Response.json({
            device_code: 'device',
            user_code: 'ABCD-EFGH',
            verification_uri: `${url}/device`,
            verification_uri_complete: `${url}/device?code=ABCD-EFGH`,
            expires_in: 600,
            interval: 5,
          });
        case '/api/v1/device/token':
          return Response.json({ access_token: key, token_type: 'Bearer' });
        case '/api/me':
          return request.headers.get('authorization') === `Bearer ${key}`
            ? Response.json({ success: true, data: { email: 'owner@example.com', workspaces: [{ name: 'W' }] } })
            : Response.json({ success: false, error: 'unauthenticated' }, { status: 401 });
        default:
          return new Response(null, { status: 404 });
      }
    },
  });
  open.add(server);
  const url: string = `http://127.0.0.1:${server.port}`;
  return { url, key, asked, exchanged };
}

type Server = ReturnType<typeof startServer>;

const CODE = 'and enter the code  ABCD-EFGH';
const pending = () => new Promise<never>(() => {});

/** A person at a desktop, whose browser follows redirects. */
async function atDesktop() {
  const person = personAt({ 'https://unused.example.com': await createInstance() });
  const pages: string[] = [];
  const opened: string[] = [];
  const desktop: Partial<Terminal> = {
    canAsk: true,
    env: { DISPLAY: ':0' },
    fetch: (url, init) => fetch(url, init),
    // Polls at once, and never reaches the end of the patience.
    wait: (ms) => (ms > 60_000 ? pending() : Promise.resolve()),
    listen: systemTerminal().listen,
    async open(url) {
      opened.push(url);
      pages.push(await (await fetch(url)).text());
      return true;
    },
  };
  return {
    person,
    pages,
    opened,
    desktop,
    logIn: ({ url }: Pick<Server, 'url'>, changes: Partial<Terminal> = {}, flags: readonly string[] = []) =>
      person.gatehouse(['login', '--url', url, ...flags], { ...desktop, ...changes }),
    stored: () =>
      existsSync(person.credentials)
        ? (JSON.parse(readFileSync(person.credentials, 'utf8')).logins as { url: string; key: string }[])
        : [],
  };
}

describe('a login by the browser', () => {
  test('opens it, exchanges the code with its verifier, and stores the key', async () => {
    const server = startServer();
    const { logIn, stored, opened, pages } = await atDesktop();
    const { exitCode, out, err } = await logIn(server);
    expect([exitCode, err]).toEqual([0, '']);
    expect(stored()).toMatchObject([{ url: server.url, key: server.key, who: 'owner@example.com' }]);
    const [request] = server.asked as [URLSearchParams];
    expect(Object.fromEntries(request)).toEqual({
      response_type: 'code',
      client_id: 'gatehouse-cli',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(out).toContain(`open this address on this machine:\n${opened[0]}\n`);
    expect(out).toEndWith(`Logged in to ${server.url} as owner@example.com.\n`);
    expect(pages[0]).toContain('Go back to the terminal.');
    const secrets = [server.key, ...['code', 'code_verifier'].map((name) => server.exchanged[0]!.get(name)!)];
    for (const secret of secrets) expect(out).not.toContain(secret);
  });

  test('has a state, a verifier and a code of its own, and closes its port', async () => {
    const server = startServer();
    const { logIn } = await atDesktop();
    await logIn(server);
    await logIn(server);
    const of = (requests: readonly URLSearchParams[], name: string) =>
      new Set(requests.map((request) => request.get(name)));
    expect(of(server.asked, 'state').size).toBe(2);
    expect(of(server.asked, 'code_challenge').size).toBe(2);
    expect(of(server.exchanged, 'code_verifier').size).toBe(2);
    for (const uri of of(server.asked, 'redirect_uri')) await expect(fetch(uri!)).rejects.toThrow('ECONNREFUSED');
  });

  test('prints nothing but JSON to stdout if asked for it', async () => {
    const server = startServer();
    const { logIn, opened } = await atDesktop();
    const ran = await logIn(server, {}, ['--json']);
    expect(ran.json()).toMatchObject({ url: server.url, who: 'owner@example.com' });
    expect(ran.err).toContain(opened[0]!);
  });

  test('ends when it is declined, and stores nothing', async () => {
    const server = startServer({ answer: { code: undefined, error: 'access_denied' } });
    const { logIn, stored } = await atDesktop();
    const ran = await logIn(server);
    expect([ran.exitCode, ran.err]).toEqual([1, 'gatehouse: It was declined in the browser; nothing was stored.\n']);
    expect([stored(), server.exchanged]).toEqual([[], []]);
  });

  test.each([
    ['is of another server', 'https://attacker.example.com'],
    ['does not say of which server it is', undefined],
  ])('refuses an answer that %s, and gives its code to nobody', async (_, iss) => {
    const server = startServer({ answer: { iss } });
    const { logIn, stored } = await atDesktop();
    const ran = await logIn(server);
    expect([ran.exitCode, ran.err]).toEqual([
      1,
      `gatehouse: The answer in the browser was not of ${server.url}; nothing was stored.\n`,
    ]);
    expect([stored(), server.exchanged]).toEqual([[], []]);
  });

  test('ignores requests that do not know its state, or come by another name, path or method', async () => {
    const server = startServer();
    const { logIn, stored } = await atDesktop();
    const statuses: number[] = [];
    const ran = await logIn(server, {
      async open(address) {
        const { searchParams } = new URL(address);
        const callback = searchParams.get('redirect_uri')!;
        const state = searchParams.get('state')!;
        const forged = `?${new URLSearchParams({ code: 'eac_forged', iss: server.url, state })}`;
        const answers = [
          await fetch(`${callback}?code=eac_forged&iss=${server.url}&state=${'x'.repeat(43)}`),
          await fetch(`${callback}?code=eac_forged&iss=${server.url}`),
          await fetch(callback.replace('/callback', '/') + forged),
          await fetch(callback + forged, { method: 'POST' }),
          await fetch(callback + forged, { headers: { host: 'rebound.example.com' } }),
          await fetch(address),
        ];
        statuses.push(...answers.map(({ status }) => status));
        return true;
      },
    });
    expect(statuses).toEqual([400, 400, 404, 404, 404, 200]);
    expect([ran.exitCode, stored()]).toMatchObject([0, [{ key: server.key }]]);
    expect(server.exchanged).toHaveLength(1);
  });

  test('answers the browser with a page that is not stored, runs nothing and sends no referrer', async () => {
    const server = startServer();
    const { logIn } = await atDesktop();
    let headers = new Headers();
    await logIn(server, {
      async open(address) {
        ({ headers } = await fetch(address));
        return true;
      },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  test('is cancelled by an interruption, which closes its port', async () => {
    const server = startServer();
    const { logIn, stored } = await atDesktop();
    const interrupted = new AbortController();
    let callback = '';
    const ran = await logIn(server, {
      interruption: interrupted.signal,
      async open(address) {
        callback = new URL(address).searchParams.get('redirect_uri')!;
        return true;
      },
      wait(_, signal) {
        interrupted.abort(new Error('interrupted'));
        return Promise.reject(signal?.reason);
      },
    });
    expect([ran.exitCode, ran.err, stored()]).toEqual([1, '\ngatehouse: Cancelled; nothing was stored.\n', []]);
    await expect(fetch(callback)).rejects.toThrow('ECONNREFUSED');
  });
});

/** Address at which the command line asks for a key that ends after some days. */
function requestFor(days: string): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: COMMAND_LINE_CLIENT_ID,
    redirect_uri: 'http://127.0.0.1:1/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    key_days: days,
  });
  return `/oauth/authorize?${query}`;
}

/** A person whose browser is signed in to the console of a real instance, and who decides on its consent page. */
async function atConsole(decision: 'allow' | 'deny') {
  const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: URL_A } });
  const { console: application } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
  const person = personAt({ [URL_A]: instance });
  const browser = pageBrowser(instance);
  await browser.signIn(application, 'owner@example.com');
  const desktop: Partial<Terminal> = {
    canAsk: true,
    env: { DISPLAY: ':0' },
    wait: pending,
    listen: systemTerminal().listen,
    async open(address) {
      const page = await browser.visit(address.slice(URL_A.length));
      pages.push(page.text);
      const answer = await submit(browser, '/oauth/authorize/decision', { ...formOf(page), decision });
      await fetch(answer.headers.get('location')!);
      return true;
    },
  };
  const pages: string[] = [];
  return {
    instance,
    person,
    pages,
    logIn: (flags: readonly string[] = []) => person.gatehouse(['login', '--url', URL_A, ...flags], desktop),
  };
}

describe('a login by the browser at this server', () => {
  test('yields a key of the person who allowed it, listed under their devices, which a later login ends', async () => {
    const { instance, person, logIn } = await atConsole('allow');
    const { exitCode, out, err } = await logIn();
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toEndWith(`Logged in to ${URL_A} as owner@example.com. The login ends after 90 days.\n`);
    const who = await person.gatehouse(['whoami', '--json']);
    expect(who.json()).toMatchObject({
      url: URL_A,
      email: 'owner@example.com',
      key: { name: 'Command line on laptop' },
    });
    expect(Date.parse(who.json().key.expiresAt) - Date.parse(who.json().key.createdAt)).toBe(90 * 24 * 3600_000);
    const storedKey = () => JSON.parse(readFileSync(person.credentials, 'utf8')).logins[0].key as string;
    const first = storedKey();
    await logIn();
    const statusOf = async (token: string) => (await instance.call('GET', '/api/me', { token })).status;
    expect([await statusOf(first), await statusOf(storedKey())]).toEqual([401, 200]);
    await person.gatehouse(['logout']);
    expect(existsSync(person.credentials)).toBe(false);
  });

  test.each([
    [[], 90, 'The login ends after 90 days.'],
    [['--days', '1'], 1, 'The login ends after 1 day.'],
    [['--days', '30'], 30, 'The login ends after 30 days.'],
    [['--never'], null, 'The login does not end by itself.'],
  ] as const)('with %p says on the consent page and afterwards when it ends', async (flags, days, words) => {
    const { instance, person, pages, logIn } = await atConsole('allow');
    const { exitCode, out, err } = await logIn(flags);
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toEndWith(`Logged in to ${URL_A} as owner@example.com. ${words}\n`);
    const style = { dateStyle: 'long', timeZone: 'UTC' } as const;
    const date = days && new Intl.DateTimeFormat('en', style).format(instance.clock.now() + days * 24 * 3600_000);
    const end = date === null ? 'When you disconnect it' : `On ${date}, or when you disconnect it`;
    expect(pages[0]).toContain(`<dd id="end"><div dir="auto">${end}</div></dd>`);
    const { key } = (await person.gatehouse(['whoami', '--json'])).json();
    expect(key.expiresAt === null).toBe(date === null);
  });

  test('keeps to the days that the page showed: another request than that needs another decision', async () => {
    const { instance } = await atConsole('allow');
    const { console: application } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const browser = pageBrowser(instance);
    await browser.signIn(application, 'owner@example.com');
    const form = formOf(await browser.visit(requestFor('1')));
    const longer = { ...form, request: String(form['request']).replace('key_days=1', 'key_days=never') };
    const answer = await submit(browser, '/oauth/authorize/decision', { ...longer, decision: 'allow' });
    expect(answer.headers.get('location')).toStartWith('/oauth/authorize?');
    expect(instance.sqlite.query('SELECT code_hash FROM oauth_codes').all()).toEqual([]);
  });

  test('refuses in the browser an end that no key can have', async () => {
    const { instance } = await atConsole('allow');
    for (const days of ['0', '-1', '3651', 'soon']) {
      const answer = await instance.call('GET', requestFor(days), {});
      const location = new URL(answer.headers.get('location') ?? 'missing:');
      expect([days, location.searchParams.get('error')]).toEqual([days, 'invalid_request']);
    }
  });

  test('stores nothing where the person denies it', async () => {
    const { instance, person, logIn } = await atConsole('deny');
    const ran = await logIn();
    expect([ran.exitCode, ran.err]).toEqual([1, 'gatehouse: It was declined in the browser; nothing was stored.\n']);
    expect(existsSync(person.credentials)).toBe(false);
    expect(instance.auditKinds()).toContain('device.denied');
  });
});

describe('a code to confirm on any device is shown instead', () => {
  test.each<[string, Partial<Terminal>, string]>([
    ['no browser opens', { open: async () => false }, 'The browser could not be opened. Here is a code instead.\n\n'],
    [
      'no port can be opened',
      {
        listen() {
          throw new Error('EADDRNOTAVAIL');
        },
      },
      'No port of this machine could be opened. Here is a code instead.\n\n',
    ],
    ['the person presses Ctrl-D', { open: async () => true, inputEnd: async () => {} }, ''],
    [
      'nobody confirms for five minutes',
      { open: async () => true, wait: async () => {} },
      'The browser has not answered. Here is a code instead.\n\n',
    ],
  ])('when %s', async (_, changes, words) => {
    const server = startServer();
    const { logIn, stored } = await atDesktop();
    const ran = await logIn(server, changes);
    expect([ran.exitCode, ran.err]).toEqual([0, words]);
    expect(ran.out).toContain(CODE);
    expect(stored()).toMatchObject([{ key: server.key }]);
  });

  test.each<[string, ServerChanges, string]>([
    [
      'the server refuses in the browser',
      { answer: { code: undefined, error: 'server_error' } },
      'The server refused in the browser: server_error. Here is a code instead.\n\n',
    ],
    [
      'the server refuses the code',
      { isTokenRefused: true },
      'The server refused: The code is not valid. Here is a code instead.\n\n',
    ],
  ])('when %s', async (_, changes, words) => {
    const server = startServer(changes);
    const { logIn } = await atDesktop();
    const ran = await logIn(server);
    expect([ran.exitCode, ran.err]).toEqual([0, words]);
    expect(ran.out).toContain(CODE);
  });

  test.each<[string, Partial<Terminal>, readonly string[], ServerChanges]>([
    ['with --device', {}, ['--device'], {}],
    ['over SSH', { env: { DISPLAY: ':0', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' } }, [], {}],
    ['without a terminal', { canAsk: false }, [], {}],
    ['without a display', { env: {} }, [], {}],
    ['by an older server', {}, [], { metadata: { authorization_endpoint: undefined } }],
    ['by a server that names itself otherwise', {}, [], { metadata: { issuer: 'https://auth.example.com' } }],
  ])('at once and without a word %s', async (_, changes, flags, about) => {
    const server = startServer(about);
    const { logIn, opened } = await atDesktop();
    const ran = await logIn(server, changes, flags);
    expect([ran.exitCode, ran.err, opened, server.asked]).toEqual([0, '', [], []]);
    expect(ran.out).toStartWith(`Open ${server.url}/device\n${CODE}\n`);
  });
});

describe('a browser', () => {
  test.each<[boolean, NodeJS.Platform, Record<string, string>]>([
    [true, 'darwin', {}],
    [true, 'win32', {}],
    [true, 'linux', { DISPLAY: ':0' }],
    [true, 'linux', { WAYLAND_DISPLAY: 'wayland-0' }],
    [false, 'linux', {}],
    [false, 'freebsd', {}],
    [false, 'darwin', { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }],
    [false, 'win32', { SSH_TTY: '/dev/pts/0' }],
  ])('is expected: %p, on %s with %j', (isExpected, platform, env) => {
    expect(hasBrowser({ canAsk: true, platform, env })).toBe(isExpected);
    expect(hasBrowser({ canAsk: false, platform, env })).toBe(false);
  });
});
