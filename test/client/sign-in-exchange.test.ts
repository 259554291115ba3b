/** Sign-in of rendered pages: a code is exchanged for a session in a cookie, and only by the browser that asked. */
import { describe, expect, test } from 'bun:test';
import { createVerifier, type GatehouseError } from '@/client/gatehouse.ts';
import type { Fetch } from '@/client/exchange.ts';
import { createSignIn, type SignInOptions } from '@/client/sign-in.ts';
import { createInstance } from '../support/instance.ts';

const SERVER = 'http://localhost';
const SHOP = 'https://shop.example.com';
const REDIRECT_URI = `${SHOP}/auth/callback`;
const SECRET = 'esk_secret';

/** A browser that keeps cookies of the shop as the standard says, as far as these matter here. */
function browser() {
  const cookies = new Map<string, string>();
  const set: string[] = [];
  return {
    cookies,
    set,
    take(response: Response) {
      for (const line of response.headers.getSetCookie()) {
        set.push(line);
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/Max-Age=0/.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    },
    ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      return new Request(new URL(path, SHOP), { method, headers: { ...headers, ...(cookie && { cookie }) } });
    },
  };
}

/**
 * A shop whose server answers as the provider's wire does: a code is good once, for the client, the redirect URI and
 * the verifier that it was made for. Sessions are real ones.
 */
async function createScene(changes: Partial<SignInOptions> = {}) {
  const instance = await createInstance();
  const { clientId, id } = await instance.createApplication();
  const { token: apiKey } = await instance.createKey(id, { access: 'read' });
  const codes = new Map<string, { challenge: string; redirectUri: string; email: string }>();
  const network = { isDown: false, calls: [] as string[] };

  const fetch: Fetch = async (url, init) => {
    if (network.isDown) throw new TypeError('connection refused');
    const request = new Request(url, init);
    network.calls.push(`${request.method} ${new URL(url).pathname}`);
    if (new URL(url).pathname !== '/oauth/token') return instance.app.fetch(request);
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    const refuse = (error: string, status = 400) => Response.json({ error, error_description: error }, { status });
    const basic = `Basic ${btoa(`${clientId}:${SECRET}`)}`;
    const isPublic = changes.clientSecret === undefined && 'clientSecret' in changes;
    if (isPublic ? form['client_id'] !== clientId : request.headers.get('authorization') !== basic)
      return refuse('invalid_client', 401);
    const code = codes.get(`${form['code']}`);
    codes.delete(`${form['code']}`);
    const hash = new Bun.CryptoHasher('sha256').update(`${form['code_verifier']}`).digest('base64url');
    if (!code || code.challenge !== hash || code.redirectUri !== form['redirect_uri']) return refuse('invalid_grant');
    if (form['grant_type'] !== 'authorization_code') return refuse('unsupported_grant_type');
    const { token } = await instance.signIn(clientId, code.email);
    return Response.json({ access_token: token, token_type: 'Bearer', expires_in: 2592000, scope: '' });
  };

  /** The person signs in on the server's page. @returns the address that it sends them back to. */
  function approve(location: string, email = 'ada@example.com'): string {
    const asked = new URL(location);
    const given = (name: string) => `${asked.searchParams.get(name)}`;
    const code = `eac_${crypto.randomUUID().replaceAll('-', '')}`;
    codes.set(code, { challenge: given('code_challenge'), redirectUri: given('redirect_uri'), email });
    return `${given('redirect_uri')}?${new URLSearchParams({ code, state: given('state'), iss: SERVER })}`;
  }

  const errors: GatehouseError[] = [];
  const { clientSecret = SECRET, ...others } = changes;
  const isPublic = 'clientSecret' in changes && changes.clientSecret === undefined;
  const signIn = createSignIn({
    url: SERVER,
    clientId,
    ...(!isPublic && { clientSecret }),
    redirectUri: REDIRECT_URI,
    fetch,
    onError: (error) => errors.push(error),
    ...others,
  });
  const verifier = createVerifier({ url: SERVER, apiKey, cookie: signIn.cookie, fetch });
  return { instance, clientId, signIn, verifier, approve, network, errors };
}

const locationOf = (response: Response) => `${response.headers.get('location')}`;

describe('a sign-in', () => {
  test('goes to the page with PKCE and a state, and comes back as a session that no script can read', async () => {
    const { signIn, verifier, approve, clientId } = await createScene({ locale: 'uk' });
    const ada = browser();
    const begun = ada.take(await signIn.begin(ada.ask('/auth/sign-in?returnTo=/orders?page=2')));
    const asked = new URL(locationOf(begun));
    expect([begun.status, asked.origin + asked.pathname]).toEqual([302, `${SERVER}/oauth/authorize`]);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      ui_locales: 'uk',
    });

    const finished = ada.take(await signIn.finish(ada.ask(approve(asked.href))));
    expect([finished.status, locationOf(finished)]).toEqual([302, `${SHOP}/orders?page=2`]);
    expect(finished.headers.get('cache-control')).toBe('no-store');
    expect(finished.headers.get('referrer-policy')).toBe('no-referrer');
    expect(signIn.cookie).toBe('__Host-gatehouse');
    expect([...ada.cookies.keys()]).toEqual([signIn.cookie]);
    const attributes = 'Path=/; HttpOnly; SameSite=Lax';
    expect(ada.set.map((line) => line.replace(/=[^;]*;/, ';'))).toEqual([
      `__Host-gatehouse-sign-in; ${attributes}; Max-Age=3600; Secure`,
      `__Host-gatehouse; ${attributes}; Max-Age=2592000; Secure`,
      `__Host-gatehouse-sign-in; ${attributes}; Max-Age=0; Secure`,
    ]);
    expect((await verifier.requireSession(ada.ask('/orders'))).email).toBe('ada@example.com');
  });

  test('works on a loopback address without https, with a path as address, and without a secret', async () => {
    const redirectUri = 'http://localhost:3000/auth/callback';
    const { signIn, approve } = await createScene({ redirectUri, clientSecret: undefined });
    expect(signIn.cookie).toBe('gatehouse');
    const begun = await signIn.begin({ url: '/auth/sign-in', headers: {} });
    const cookie = `${begun.headers.get('set-cookie')}`.split(';')[0];
    expect(begun.headers.get('set-cookie')).not.toContain('Secure');
    const { pathname, search } = new URL(approve(locationOf(begun)));
    const finished = await signIn.finish({ url: pathname + search, headers: { cookie } });
    expect(locationOf(finished)).toBe('http://localhost:3000/');
    expect(finished.headers.getSetCookie()[0]).toStartWith('gatehouse=est_');
  });

  test('leads back to the page that it came from, and never to another site', async () => {
    const { signIn, approve } = await createScene();
    const backFrom = async (path: string, headers: Record<string, string> = {}) => {
      const ada = browser();
      const begun = ada.take(await signIn.begin(ada.ask(path, headers)));
      // Codes for one address are limited.
      const email = `${Bun.randomUUIDv7()}@example.com`;
      return locationOf(await signIn.finish(ada.ask(approve(locationOf(begun), email))));
    };
    expect(await backFrom('/auth/sign-in', { referer: `${SHOP}/tea?a=1&b=2` })).toBe(`${SHOP}/tea?a=1&b=2`);
    expect(await backFrom('/auth/sign-in', { referer: 'https://evil.example.com/tea' })).toBe(`${SHOP}/`);
    expect(await backFrom('/auth/sign-in')).toBe(`${SHOP}/`);
    for (const wish of [
      'https://evil.example.com/',
      '//evil.example.com',
      '/\\evil.example.com',
      'javascript:alert(1)',
      'http://[',
      'https://shop.example.com.evil.example.com/',
      'https://shop.example.com@evil.example.com/',
    ])
      expect(await backFrom(`/auth/sign-in?returnTo=${encodeURIComponent(wish)}`)).toBe(`${SHOP}/`);
    // A path that browsers would read as another host stays below this one.
    expect(await backFrom(`/auth/sign-in?returnTo=${encodeURIComponent('/.//evil.example.com')}`)).toBe(
      `${SHOP}//evil.example.com`,
    );
    expect(await backFrom(`/auth/sign-in?returnTo=${encodeURIComponent('/ü?q=ä#ö')}`)).toBe(
      `${SHOP}/%C3%BC?q=%C3%A4#%C3%B6`,
    );
  });

  test('takes the wish for another account along', async () => {
    const { signIn } = await createScene();
    const begun = await signIn.begin(browser().ask('/auth/sign-in?prompt=select_account'));
    expect(new URL(locationOf(begun)).searchParams.get('prompt')).toBe('select_account');
  });
});

describe('a return', () => {
  test('of another person’s sign-in signs nobody in, and its code is not used', async () => {
    const { signIn, approve, network, errors } = await createScene();
    const eve = browser();
    const lure = approve(locationOf(eve.take(await signIn.begin(eve.ask('/auth/sign-in')))), 'eve@example.com');
    const victim = browser();
    const strange = victim.take(await signIn.finish(victim.ask(lure)));
    expect(strange.status).toBe(400);
    expect(await strange.text()).toContain('state_mismatch');
    victim.take(await signIn.begin(victim.ask('/auth/sign-in')));
    expect((await signIn.finish(victim.ask(lure))).status).toBe(400);
    for (const state of ['', '&state=', '&state=x']) {
      const path = `/auth/callback?code=eac_1${state}`;
      expect((await signIn.finish(victim.ask(path))).status).toBe(400);
      expect((await signIn.finish(browser().ask(path))).status).toBe(400);
    }
    expect(network.calls).toEqual([]);
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['state_mismatch']));
  });

  test('works once, and with the verifier of this browser alone', async () => {
    const { signIn, approve } = await createScene();
    const ada = browser();
    const back = approve(locationOf(ada.take(await signIn.begin(ada.ask('/auth/sign-in')))));
    const held = new Map(ada.cookies);
    expect(ada.take(await signIn.finish(ada.ask(back))).status).toBe(302);
    for (const [name, value] of held) ada.cookies.set(name, value);
    const again = await signIn.finish(ada.ask(back));
    expect([again.status, await again.text()]).toEqual([400, expect.stringContaining('invalid_grant')]);

    const bob = browser();
    const other = approve(locationOf(bob.take(await signIn.begin(bob.ask('/auth/sign-in')))));
    const [name = '', value = ''] = [...bob.cookies][0] ?? [];
    bob.cookies.set(name, value.replace(/\.[^.]+\./, `.${'a'.repeat(43)}.`));
    const refused = bob.take(await signIn.finish(bob.ask(other)));
    expect([refused.status, bob.cookies.size]).toEqual([400, 0]);
  });

  test('of a refused person says so, without echoing what an address says', async () => {
    const { signIn, errors } = await createScene();
    const ada = browser();
    const state = () => new URL(locationOf(begun)).searchParams.get('state');
    let begun = ada.take(await signIn.begin(ada.ask('/auth/sign-in')));
    const denied = ada.take(await signIn.finish(ada.ask(`/auth/callback?error=access_denied&state=${state()}`)));
    expect([denied.status, ada.cookies.size]).toEqual([403, 0]);
    expect(denied.headers.get('content-type')).toBe('text/html; charset=utf-8');
    begun = ada.take(await signIn.begin(ada.ask('/auth/sign-in')));
    const script = encodeURIComponent('<script>alert(1)</script>');
    const path = `/auth/callback?error=${script}&error_description=${script}&state=${state()}`;
    expect(await (await signIn.finish(ada.ask(path))).text()).not.toContain('<script');
    expect(errors.map(({ code }) => code)).toEqual(['access_denied', '<script>alert(1)</script>']);
  });

  test('of a failed sign-in goes to the page for it, if there is one', async () => {
    const { signIn } = await createScene({ failedPath: '/welcome?a=1' });
    const answer = await signIn.finish(browser().ask('/auth/callback?code=eac_1&state=x'));
    expect([answer.status, locationOf(answer)]).toEqual([302, `${SHOP}/welcome?a=1&error=state_mismatch`]);
  });

  test('sets no session if the server is away, refuses the client, or answers with something else', async () => {
    const { signIn, approve, network, errors } = await createScene({ clientSecret: 'esk_wrong' });
    const ada = browser();
    const back = async () => approve(locationOf(ada.take(await signIn.begin(ada.ask('/auth/sign-in')))));
    expect((await signIn.finish(ada.ask(await back()))).status).toBe(400);
    expect(errors.at(-1)?.code).toBe('invalid_client');
    const last = await back();
    network.isDown = true;
    const away = await signIn.finish(ada.ask(last));
    expect([away.status, await away.text()]).toEqual([503, expect.stringContaining('unavailable')]);

    for (const body of [
      { access_token: 'a; Domain=evil', expires_in: 1 },
      { access_token: 'est_1' },
      { access_token: '', expires_in: 1 },
      {},
      'est_1',
    ]) {
      const odd = await createScene({ fetch: async () => Response.json(body) });
      const begun = ada.take(await odd.signIn.begin(ada.ask('/auth/sign-in')));
      const answer = await odd.signIn.finish(ada.ask(odd.approve(locationOf(begun))));
      expect(answer.status).toBe(400);
      expect(answer.headers.getSetCookie().join()).not.toContain('__Host-gatehouse=');
    }
  });
});

describe('a sign-out', () => {
  async function signedIn() {
    const scene = await createScene();
    const ada = browser();
    const begun = ada.take(await scene.signIn.begin(ada.ask('/auth/sign-in')));
    ada.take(await scene.signIn.finish(ada.ask(scene.approve(locationOf(begun)))));
    return { ...scene, ada };
  }

  test('ends the session everywhere and removes the cookie', async () => {
    const { signIn, verifier, ada } = await signedIn();
    const held = ada.ask('/');
    const left = ada.take(await signIn.end(ada.ask('/auth/sign-out', { 'sec-fetch-site': 'same-origin' }, 'POST')));
    expect([left.status, locationOf(left), ada.cookies.size]).toEqual([303, `${SHOP}/`, 0]);
    expect(await verifier.findSession(held)).toBeNull();
    // Once more, and without a session.
    expect((await signIn.end(held)).status).toBe(303);
    expect((await signIn.end(browser().ask('/auth/sign-out'))).status).toBe(303);
  });

  test('cannot be caused by another site', async () => {
    const { signIn, verifier, ada } = await signedIn();
    for (const site of ['cross-site', 'same-site']) {
      const answer = ada.take(await signIn.end(ada.ask('/auth/sign-out', { 'sec-fetch-site': site }, 'POST')));
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect(await verifier.findSession(ada.ask('/'))).not.toBeNull();
  });

  test('keeps the cookie if the server is away, so that it can be tried again', async () => {
    const { signIn, ada, network } = await signedIn();
    network.isDown = true;
    const answer = ada.take(await signIn.end(ada.ask('/auth/sign-out', {}, 'POST')));
    expect([answer.status, ada.cookies.size]).toEqual([503, 1]);
    network.isDown = false;
    expect(ada.take(await signIn.end(ada.ask('/auth/sign-out', {}, 'POST'))).status).toBe(303);
  });
});

test('a wrong set-up is refused when it is made, naming what to set', () => {
  const made = (wrong: object) => () =>
    createSignIn({ url: SERVER, clientId: 'cli_1', clientSecret: SECRET, redirectUri: REDIRECT_URI, ...wrong });
  expect(made({ url: '' })).toThrow(/^createSignIn: url is empty.*GATEHOUSE/);
  expect(made({ clientId: '' })).toThrow(/clientId is empty.*CLIENT_ID/);
  // An unset variable must not turn a confidential client into a public one.
  expect(made({ clientSecret: undefined })).toThrow(/clientSecret is missing.*CLIENT_SECRET/);
  expect(made({ redirectUri: undefined })).toThrow(/redirectUri is missing/);
  expect(made({ redirectUri: '/auth/callback' })).toThrow(TypeError);
});
