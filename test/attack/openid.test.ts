/**
 * Known attacks on OAuth and OpenID Connect (RFC 9700, RFC 6819) against the provider. Each case has its good twin, so
 * that a refusal is the attack's and not that of a broken request.
 */
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import { OWN, type PageBrowser, pageBrowser } from './page-browser.ts';
import {
  answerOf,
  authorizePath,
  CHALLENGE,
  claimsIn,
  codeOf,
  headerIn,
  REDIRECT_URI,
  STATE,
  VERIFIER,
} from '../modules/openid/authorization-scene.ts';
import { createTwoClients, type Scene, sceneOf } from '../modules/openid/scene.ts';
import { basic, sendForm } from '../modules/oauth/scene.ts';
import { type Manage, managing } from '../modules/users/management.ts';
import * as given from '../support/given.ts';
import type { Answer, Instance } from '../support/instance.ts';

setDefaultTimeout(60_000);

const ADA = 'ada@example.com';
const MALLORY = 'mallory@example.com';
/** Where people may go after a sign-out. */
const BYE = 'https://wiki.example.com/bye';

let instance: Instance;
let shop: Application;
let browser: PageBrowser;
let manage: Manage;
let party: Scene;
let other: Scene;
let signIn: (application?: Application, email?: string) => Promise<string>;

beforeEach(async () => {
  ({ instance, shop, browser, party, other, signIn } = await createTwoClients());
  manage = managing(instance, shop);
  await party.configure({ postLogoutRedirectUris: [BYE] });
});

const error = ({ status, json }: Answer) => [status, json?.error ?? 'ok'];
const REFUSED = [400, 'invalid_grant'];
const isLive = async (token: string) => (await instance.call('POST', '/api/v1/session', { token })).json.ok as boolean;
const inAnotherBrowser = () => pageBrowser(instance);

/** A second browser in which Mallory is signed in. */
async function mallorysBrowser(): Promise<PageBrowser> {
  const own = inAnotherBrowser();
  expect((await own.signIn(shop, MALLORY, 'account')).status).toBe(200);
  return own;
}

describe('an authorization code', () => {
  test('works once: its replay is refused and ends what it was exchanged for', async () => {
    await signIn();
    const code = codeOf(await party.ask(browser));
    const { access_token: token } = (await party.exchange(code)).json;
    expect(await isLive(token)).toBe(true);
    expect(error(await party.exchange(code))).toEqual(REFUSED);
    expect(await isLive(token)).toBe(false);
    expect((await party.userInfo(token)).status).toBe(401);
    expect(instance.auditKinds(shop.id)).toContain('signin.code_replayed');
  });

  test('replayed after a refresh still ends the session and its refresh token', async () => {
    await signIn();
    const code = codeOf(await party.ask(browser, { scope: 'openid offline_access' }));
    const first = (await party.exchange(code)).json;
    const second = (await party.token({ grant_type: 'refresh_token', refresh_token: first.refresh_token })).json;
    expect(await isLive(second.access_token)).toBe(true);
    expect(error(await party.exchange(code))).toEqual(REFUSED);
    expect(await isLive(second.access_token)).toBe(false);
    const third = await party.token({ grant_type: 'refresh_token', refresh_token: second.refresh_token });
    expect(error(third)).toEqual(REFUSED);
  });

  test('of many exchanges at the same moment at most one succeeds', async () => {
    await signIn();
    const code = codeOf(await party.ask(browser));
    const answers = await Promise.all(Array.from({ length: 8 }, () => party.exchange(code)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const tokens = answers.flatMap(({ json }) => (json.access_token ? [json.access_token as string] : []));
    // Seven replays have ended it.
    for (const token of tokens) expect(await isLive(token)).toBe(false);
  });

  test('stolen by another client is refused, does nothing to its owner, and is burnt', async () => {
    await signIn();
    const code = codeOf(await party.ask(browser));
    expect(error(await other.exchange(code))).toEqual(REFUSED);
    expect(error(await party.exchange(code))).toEqual(REFUSED);
    expect((await party.exchange(codeOf(await party.ask(browser)))).status).toBe(200);
  });

  test('replayed by another client does not end the session of the one it was for', async () => {
    await signIn();
    const code = codeOf(await party.ask(browser));
    const { access_token: token } = (await party.exchange(code)).json;
    expect(error(await other.exchange(code))).toEqual(REFUSED);
    expect(await isLive(token)).toBe(true);
  });

  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['no verifier', { code_verifier: undefined }],
    ['the challenge as verifier', { code_verifier: CHALLENGE }],
    ['another redirect URI', { redirect_uri: 'https://wiki.example.com/other' }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['a longer redirect URI', { redirect_uri: `${REDIRECT_URI}/` }],
  ])('injected into another flow, with %s, is refused and burnt', async (_, changes) => {
    await signIn();
    const code = codeOf(await party.ask(browser));
    const refused = await party.exchange(code, changes);
    expect(refused.status).toBe(400);
    expect(['invalid_grant', 'invalid_request']).toContain(refused.json.error);
    expect((await party.exchange(codeOf(await party.ask(browser)))).status).toBe(200);
  });

  test('expires after a minute', async () => {
    await signIn();
    const [early, late] = [codeOf(await party.ask(browser)), codeOf(await party.ask(browser))];
    instance.clock.advance(59 * SECOND);
    expect((await party.exchange(early)).status).toBe(200);
    instance.clock.advance(2 * SECOND);
    expect(error(await party.exchange(late))).toEqual(REFUSED);
  });

  test('is useless after the person has signed out, was banned, or the application has closed', async () => {
    await signIn();
    const signedOut = codeOf(await party.ask(browser));
    await browser.signOut(shop);
    expect(error(await party.exchange(signedOut))).toEqual(REFUSED);

    instance.clock.advance(MINUTE);
    const userId = await signIn();
    const banned = codeOf(await party.ask(browser));
    await manage('POST', `/users/${userId}/ban`);
    expect(error(await party.exchange(banned))).toEqual(REFUSED);
    await manage('POST', `/users/${userId}/unban`);

    instance.clock.advance(MINUTE);
    await signIn();
    const archived = codeOf(await party.ask(browser));
    await given.lifecycle(instance, shop.id, { kind: 'archive' });
    expect((await party.exchange(archived)).json.error).toBe('invalid_client');
  });

  test('exchanged during a sign-out leaves no session behind', async () => {
    await signIn();
    const codes = [];
    for (let turn = 0; turn < 40; turn += 1) codes.push(codeOf(await party.ask(browser)));
    const signedOut = browser.signOut(shop);
    const exchanges: Promise<Answer>[] = [];
    // At each step of the sign-out another one begins.
    for (const code of codes) {
      exchanges.push(party.exchange(code));
      await new Promise(setImmediate);
    }
    const answers = await Promise.all(exchanges);
    expect((await signedOut).status).toBe(200);
    for (const { json } of answers) if (json.access_token) expect(await isLive(json.access_token)).toBe(false);
  });

  test('is neither a token nor stored in plain text', async () => {
    await signIn();
    const code = codeOf(await party.ask(browser));
    expect(await isLive(code)).toBe(false);
    expect(instance.logLines.join('\n')).not.toContain(code);
    const { access_token: token } = (await party.exchange(code)).json;
    expect(instance.logLines.join('\n')).not.toContain(token);
  });
});

describe('PKCE', () => {
  test.each([
    ['is left out', { code_challenge: undefined, code_challenge_method: undefined }],
    ['has no method', { code_challenge_method: undefined }],
    ['is plain', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
    ['is too short', { code_challenge: 'short' }],
    ['is no base64url', { code_challenge: `${CHALLENGE.slice(0, 42)}+` }],
  ])('that %s is refused before anybody signs in', async (_, changes) => {
    await signIn();
    const answer = await party.ask(browser, changes);
    expect(answerOf(answer)).toMatchObject({ error: 'invalid_request', state: STATE, iss: OWN });
    expect(answerOf(answer)['code']).toBeUndefined();
  });

  test('cannot be left out at the exchange, for a confidential client either', async () => {
    await signIn();
    expect((await party.exchange(codeOf(await party.ask(browser)), { code_verifier: undefined })).status).toBe(400);
  });
});

describe('mix-up', () => {
  test('code and error name their issuer, exactly as discovery does', async () => {
    await signIn();
    const { issuer } = (await instance.call('GET', '/.well-known/openid-configuration')).json;
    expect(issuer).toBe(OWN);
    expect(answerOf(await party.ask(browser))['iss']).toBe(issuer);
    expect(answerOf(await party.ask(browser, { response_type: 'token' }))['iss']).toBe(issuer);
  });
});

describe('a redirect URI', () => {
  const VARIANTS = [
    'https://wiki.example.com/callback/',
    'https://wiki.example.com/Callback',
    'https://WIKI.example.com/callback',
    'https://wiki.example.com:443/callback',
    'https://wiki.example.com:8443/callback',
    'http://wiki.example.com/callback',
    'https://wiki.example.com/callback?next=/',
    'https://wiki.example.com/callback#',
    'https://wiki.example.com/callback#fragment',
    'https://wiki.example.com/./callback',
    'https://wiki.example.com/x/../callback',
    'https://wiki.example.com/callback/../evil',
    'https://wiki.example.com/%63allback',
    'https://wiki.example.com//callback',
    'https://wiki.example.com.evil.example/callback',
    'https://evil.example/callback',
    'https://evil.wiki.example.com/callback',
    'https://wiki.example.com@evil.example/callback',
    'https://user@wiki.example.com/callback',
    'https://wiki.example.com\\@evil.example/callback',
    'https://wiki.example.com/callback\\',
    'https://wiki.example.com/callback ',
    ' https://wiki.example.com/callback',
    'https://wiki.example.com/callback\t',
    'javascript:alert(1)//https://wiki.example.com/callback',
    'data:text/html,https://wiki.example.com/callback',
    '//wiki.example.com/callback',
    '/callback',
    'https://xn--wki-yma.example.com/callback',
    '',
  ];

  test.each(VARIANTS)(
    'that is nearly the registered one, %p, is answered by a page and never followed',
    async (uri) => {
      await signIn();
      const answer = await party.ask(browser, { redirect_uri: uri });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('location')).toBeNull();
      expect(answer.headers.get('content-type')).toStartWith('text/html');
      // The page has no link to it either.
      expect(answer.text).not.toContain('evil.example/callback"');
    },
  );

  test('given twice is answered by a page', async () => {
    await signIn();
    const answer = await browser.visit(
      `${authorizePath(party.clientId)}&redirect_uri=${encodeURIComponent('https://evil.example/')}`,
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  test('of another client of the workspace does not count', async () => {
    await other.configure({ redirectUris: ['https://forum.example.net/callback'] });
    await signIn();
    const answer = await party.ask(browser, { redirect_uri: 'https://forum.example.net/callback' });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  test('is not a return URL, and a return URL is no redirect URI', async () => {
    await manage('PATCH', '', { body: { returnUrls: ['https://wiki.example.com/home'] } });
    await signIn();
    const answer = await party.ask(browser, { redirect_uri: 'https://wiki.example.com/home' });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    const page = await browser.visit(
      `/sign-in?${new URLSearchParams({ clientId: party.clientId, returnTo: REDIRECT_URI })}`,
    );
    expect(page.status).toBe(400);
  });

  test('of an unknown client, or of none, is not followed', async () => {
    for (const client_id of [undefined, 'cli_00000000000000000000000000', 'console'])
      expect((await party.ask(browser, { client_id })).headers.get('location')).toBeNull();
  });

  test.each([
    'http://wiki.example.com/a',
    'https://a.example/#f',
    'https://*.example.net/',
    'javascript:alert(1)',
    'https://u:p@a.example/',
    'ftp://a.example/',
    'not a URL',
  ])('%p cannot be registered', async (uri) => {
    const answer = await party.configure({ redirectUris: [uri] });
    expect(error(answer)).toEqual([400, 'invalid_request']);
    expect(answer.text).toContain('redirectUris');
  });
});

describe('state and nonce', () => {
  test('come back exactly as sent, whatever they contain', async () => {
    await signIn();
    const odd = 'a b&c=d#e%20f"<>ü+/=';
    const answer = await party.ask(browser, { state: odd, nonce: odd });
    expect(answerOf(answer)['state']).toBe(odd);
    const { id_token: idToken } = (await party.exchange(codeOf(answer))).json;
    expect(claimsIn(idToken)['nonce']).toBe(odd);
  });

  test('are not invented, and add no header or parameter', async () => {
    await signIn();
    const answer = await party.ask(browser, { state: undefined, nonce: undefined });
    expect(answerOf(answer)).toEqual({ code: expect.any(String), iss: OWN });
    expect(claimsIn((await party.exchange(codeOf(answer))).json.id_token)).not.toHaveProperty('nonce');
    const injected = await party.ask(browser, { state: 'x\r\nset-cookie: evil=1&code=evil' });
    expect(injected.headers.get('set-cookie') ?? '').not.toContain('evil');
    expect(answerOf(injected)['code']).toStartWith('eac_');
  });
});

describe('a refresh token', () => {
  const refreshed = (token: string, form = {}) =>
    party.token({ grant_type: 'refresh_token', refresh_token: token, ...form });
  const offline = () => party.tokensIn(browser, { scope: 'openid email offline_access' });

  test('is given for offline_access alone', async () => {
    await signIn();
    expect((await party.tokensIn(browser)) as object).not.toHaveProperty('refresh_token');
    expect((await offline())['refresh_token']).toStartWith('ert_');
  });

  test('rotates: the earlier access token ends, and reuse ends the whole family', async () => {
    await signIn();
    const first = await offline();
    const second = (await refreshed(first['refresh_token']!)).json;
    expect(await isLive(first['access_token']!)).toBe(false);
    expect(await isLive(second.access_token)).toBe(true);
    expect(error(await refreshed(first['refresh_token']!))).toEqual(REFUSED);
    expect(await isLive(second.access_token)).toBe(false);
    expect(error(await refreshed(second.refresh_token))).toEqual(REFUSED);
    expect(instance.auditKinds(shop.id)).toContain('signin.refresh_reused');
  });

  test('used by many at the same moment leaves nobody a session', async () => {
    await signIn();
    const { refresh_token: token = '' } = await offline();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refreshed(token)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { json } of answers) if (json.access_token) expect(await isLive(json.access_token)).toBe(false);
  });

  test('of another client is refused, and its owner keeps it', async () => {
    await signIn();
    const { refresh_token: token = '' } = await offline();
    expect(error(await other.token({ grant_type: 'refresh_token', refresh_token: token }))).toEqual(REFUSED);
    expect((await refreshed(token)).status).toBe(200);
  });

  test('cannot widen its scope', async () => {
    await signIn();
    const { refresh_token: token = '' } = await offline();
    expect(error(await refreshed(token, { scope: 'openid profile' }))).toEqual([400, 'invalid_scope']);
  });

  test('ends with a ban, with the sign-out at the page, and with the session’s revocation', async () => {
    const userId = await signIn();
    const [banned, out] = [await offline(), await offline()];
    await browser.signOut(shop);
    expect(error(await refreshed(out['refresh_token']!))).toEqual(REFUSED);
    await manage('POST', `/users/${userId}/ban`);
    expect(error(await refreshed(banned['refresh_token']!))).toEqual(REFUSED);
  });

  test('is no access token, and an access token none', async () => {
    await signIn();
    const tokens = await offline();
    expect(await isLive(tokens['refresh_token']!)).toBe(false);
    expect((await party.userInfo(tokens['refresh_token']!)).status).toBe(401);
    expect(error(await refreshed(tokens['access_token']!))).toEqual(REFUSED);
  });
});

describe('client authentication', () => {
  const exchange = async (form: Record<string, string | undefined>, headers: Record<string, string>) =>
    sendForm(
      instance,
      '/oauth/token',
      {
        ...{ grant_type: 'authorization_code', code: codeOf(await party.ask(browser)) },
        ...{ redirect_uri: REDIRECT_URI, code_verifier: VERIFIER, ...form },
      },
      headers,
    );

  test('of a confidential client cannot be left out, be another’s, or be shown twice', async () => {
    await signIn();
    const { clientId: client_id, secret: client_secret } = party.shown;
    expect((await exchange({ client_id }, {})).json.error).toBe('invalid_client');
    expect((await exchange({ client_id, client_secret: other.shown.secret }, {})).json.error).toBe('invalid_client');
    expect(error(await exchange({}, basic({ ...party.shown, secret: `${client_secret}x` })))).toEqual([
      401,
      'invalid_client',
    ]);
    expect((await exchange({ client_id, client_secret }, basic(party.shown))).status).toBe(400);
    expect((await exchange({ client_id, client_secret }, {})).status).toBe(200);
    expect((await exchange({}, basic(party.shown))).status).toBe(200);
  });

  test('a public client has none, and its secret is refused', async () => {
    await party.configure({ clientType: 'public' });
    await signIn();
    const { clientId: client_id, secret: client_secret } = party.shown;
    expect((await exchange({ client_id, client_secret }, {})).status).toBeGreaterThanOrEqual(400);
    expect((await exchange({ client_id }, {})).status).toBe(200);
  });

  test('by private_key_jwt: key confusion, alg none, another audience, another client, expired', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' };
    await party.configure({ jwks: { keys: [jwk] } });
    await signIn();
    const now = Math.floor(instance.clock.real() / 1000);
    const claims = { iss: party.clientId, sub: party.clientId, aud: OWN, jti: 'j', iat: now, exp: now + 60 };
    const signed = (changes: object, header: object = {}) =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'ES256', kid: 'k', ...header }).sign(privateKey);
    const show = (client_assertion: string) =>
      exchange(
        { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion },
        {},
      );
    expect((await show(await signed({}))).status).toBe(200);

    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = (header: object) => `${part(header)}.${part(claims)}`;
    const hs256 = (key: string) => {
      const text = body({ alg: 'HS256', kid: 'k' });
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const stranger = await generateKeyPair('ES256');
    const forged = [
      `${body({ alg: 'none' })}.`,
      hs256(JSON.stringify(jwk)),
      hs256(String(jwk.x)),
      await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(stranger.privateKey),
      await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', jwk: await exportJWK(stranger.publicKey) })
        .sign(stranger.privateKey),
      await signed({ aud: 'https://another.example' }),
      await signed({ sub: other.clientId }),
      await signed({ iss: other.clientId, sub: other.clientId }),
      await signed({ exp: now - 120 }),
      await signed({ exp: now + 86_400 }),
      await signed({ exp: undefined }),
      (await party.tokensIn(browser).catch(() => ({ id_token: 'x.y.z' })))['id_token'] ?? 'x.y.z',
    ];
    for (const assertion of forged) expect(error(await show(assertion))).toEqual([400, 'invalid_client']);
  });

  test('wrong secrets are counted by address, and right ones are refused behind them', async () => {
    await signIn();
    const statuses: number[] = [];
    for (let turn = 0; turn < 200 && statuses.at(-1) !== 429; turn += 1)
      statuses.push((await exchange({}, basic({ ...party.shown, secret: 'wrong' }))).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await exchange({}, basic(party.shown))).status).toBe(429);
    instance.peer = '198.51.100.9';
    expect((await exchange({}, basic(party.shown))).status).toBe(200);
  });
});

describe('tokens', () => {
  test('an ID token is no access token, and is refused by every surface that takes one', async () => {
    await signIn();
    const { id_token: idToken = '' } = await party.tokensIn(browser);
    expect(await isLive(idToken)).toBe(false);
    expect((await party.userInfo(idToken)).status).toBe(401);
    const asked = await sendForm(instance, '/api/v1/introspect', { token: idToken }, basic(party.shown));
    expect(asked.json).toEqual({ active: false });
    expect((await instance.call('GET', '/api/account', { token: idToken })).status).toBe(401);
  });

  test('an access token of one client is no session of another, and nothing of the workspace', async () => {
    await signIn();
    const { access_token: token = '' } = await party.tokensIn(browser);
    const asked = await sendForm(instance, '/api/v1/introspect', { token }, basic(other.shown));
    expect(asked.json).toEqual({ active: false });
    for (const path of ['/api/workspace', '/api/applications', `/api/applications/${shop.id}/users`])
      expect((await instance.call('GET', path, { token })).status).toBeGreaterThanOrEqual(401);
  });

  test('of an ordinary sign-in has no userinfo', async () => {
    const { token } = await instance.signIn(shop.clientId, ADA);
    expect(error(await party.userInfo(token))).toEqual([403, 'insufficient_scope']);
  });

  test('claims are those of the scopes that were granted', async () => {
    await signIn();
    const { access_token: token = '', id_token: idToken = '' } = await party.tokensIn(browser, { scope: 'openid' });
    const claims = (await party.userInfo(token)).json;
    expect(Object.keys(claims)).toEqual(['sub']);
    expect(claimsIn(idToken)).not.toHaveProperty('email');
  });

  test('are not cached, and no answer with one may be framed or referred from', async () => {
    await signIn();
    const answer = await party.ask(browser);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(answer.status).toBe(302);
    const token = await party.exchange(codeOf(answer));
    expect(token.headers.get('cache-control')).toContain('no-store');
    const page = await party.ask(inAnotherBrowser());
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});

describe('sign-out', () => {
  const endSession = (visitor: PageBrowser, parameters: Record<string, string>) =>
    visitor.visit(`/oauth/end-session?${new URLSearchParams(parameters)}`);
  const signedInHere = async () => (await browser.offered(shop)).current;

  test('from another site without a hint asks first, and does nothing by itself', async () => {
    await signIn();
    const { access_token: token = '' } = await party.tokensIn(browser);
    const answer = await endSession(browser, { client_id: party.clientId });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect(await signedInHere()).toBe(ADA);
    expect(await isLive(token)).toBe(true);
  });

  test('a forged confirmation from another site is refused', async () => {
    await signIn();
    for (const form of ['', 'confirmation=x', `confirmation=${'A'.repeat(43)}`]) {
      const answer = await browser.visit('/oauth/end-session/confirm', {
        method: 'POST',
        body: form,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'https://evil.example',
          'sec-fetch-site': 'cross-site',
        },
      });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    expect(await signedInHere()).toBe(ADA);
  });

  test('with a hint ends the session of the hint, and leads to a registered address alone', async () => {
    await signIn();
    const { access_token: token = '', id_token: hint = '' } = await party.tokensIn(browser);
    const elsewhere = await endSession(browser, {
      id_token_hint: hint,
      post_logout_redirect_uri: 'https://evil.example/',
    });
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([400, null]);
    expect(await isLive(token)).toBe(true);
    const answer = await endSession(browser, { id_token_hint: hint, post_logout_redirect_uri: BYE, state: 's&t' });
    expect(answerOf(answer, BYE)).toEqual({ state: 's&t' });
    expect(await isLive(token)).toBe(false);
    expect(await signedInHere()).toBeNull();
  });

  test('with the hint of one person never signs another out without asking', async () => {
    await signIn();
    const { id_token: hint = '' } = await party.tokensIn(browser);
    const mallory = await mallorysBrowser();
    const answer = await endSession(mallory, { id_token_hint: hint, post_logout_redirect_uri: BYE });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect((await mallory.offered(shop)).current).toBe(MALLORY);
  });

  test('a hint that is forged, of another instance, unsigned, or no ID token is refused', async () => {
    await signIn();
    const { id_token: hint = '', access_token: token = '' } = await party.tokensIn(browser);
    const [header = '', payload = '', signature = ''] = hint.split('.');
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const jwks = (await instance.call('GET', '/.well-known/jwks.json')).json.keys as Record<string, string>[];
    const unsigned = `${part({ ...headerIn(hint), alg: 'none' })}.${payload}.`;
    const confused = `${part({ ...headerIn(hint), alg: 'HS256' })}.${payload}`;
    const withKey = (key: string) => `${confused}.${createHmac('sha256', key).update(confused).digest('base64url')}`;
    const elsewhere = await createTwoClients();
    await elsewhere.signIn();
    const foreign = (await elsewhere.party.tokensIn(elsewhere.browser))['id_token']!;
    const forged = [
      unsigned,
      ...jwks.flatMap((jwk) => [withKey(JSON.stringify(jwk)), withKey(jwk['n'] ?? jwk['x'] ?? '')]),
      `${header}.${part({ ...claimsIn(hint), sub: 'usr_00000000000000000000000000' })}.${signature}`,
      foreign,
      'x.y.z',
      token,
    ];
    for (const id_token_hint of forged) {
      const answer = await endSession(browser, { id_token_hint, post_logout_redirect_uri: BYE });
      expect(answer.headers.get('location')).toBeNull();
      expect(await signedInHere()).toBe(ADA);
    }
    expect(await isLive(token)).toBe(true);
  });
});

describe('keys', () => {
  test('published ones are public: no private part, one kid each, and the tokens verify with them', async () => {
    await signIn();
    const { id_token: idToken = '' } = await party.tokensIn(browser);
    const { keys } = (await instance.call('GET', '/.well-known/jwks.json')).json as { keys: Record<string, string>[] };
    for (const key of keys)
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    const { kid, alg } = headerIn(idToken) as { kid: string; alg: string };
    const jwk = keys.find((key) => key['kid'] === kid);
    expect(jwk).toMatchObject({ alg, use: 'sig' });
    const key = (await importJWK(jwk as never, alg)) as CryptoKey;
    const [header, payload, signature = ''] = idToken.split('.');
    const isSound = await crypto.subtle.verify(
      'RSASSA-PKCS1-v1_5',
      key,
      Buffer.from(signature, 'base64url'),
      Buffer.from(`${header}.${payload}`),
    );
    expect(isSound).toBe(true);
  });
});

describe('another tenant', () => {
  test('cannot read or change the settings of a client, and its people get no code for it', async () => {
    const tenant = await given.tenant(instance);
    for (const method of ['GET', 'PUT']) {
      const answer = await instance.call(method, `/api/applications/${shop.id}/openid`, {
        token: tenant.workspaceKey,
        ...(method === 'PUT' && { body: { redirectUris: ['https://evil.example/'] } }),
      });
      expect(answer.status).toBe(404);
    }
    const theirs = await sceneOf(instance, tenant.application, tenant.workspaceKey);
    const visitor = inAnotherBrowser();
    await visitor.signIn(tenant.application, ADA, 'account');
    // Signed in at theirs alone: ours shows its page, and gives no code without a press.
    const answer = await party.ask(visitor);
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect(answerOf(await party.ask(visitor, { prompt: 'none' }))['error']).toMatch(/_required$/);
    expect((await theirs.ask(visitor)).status).toBe(302);
  });
});

test('what a person never confirmed is not given: an old sign-in does not satisfy max_age or prompt=login', async () => {
  await signIn();
  instance.clock.advance(DAY);
  expect((await party.ask(browser)).status).toBe(302);
  expect((await party.ask(browser, { max_age: '60' })).status).toBe(200);
  expect((await party.ask(browser, { prompt: 'login' })).status).toBe(200);
  expect(answerOf(await party.ask(browser, { prompt: 'none', max_age: '60' }))['error']).toBe('login_required');
});
