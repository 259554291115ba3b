/**
 * The OpenID Foundation's Basic OP and Config OP test plans, module by module, as cases of our own. PKCE is added to each
 * request, since this provider requires it. The guide on OpenID lists which modules do not apply, and why.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { HOUR, SECOND } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import type { PageBrowser } from '../../attack/page-browser.ts';
import type { Instance } from '../../support/instance.ts';
import {
  ADA,
  CALLBACK,
  codeOf,
  decoded,
  OWN,
  type Parameters,
  parametersOf,
  type Party,
  postForm,
  redirectOf,
  setUpParties,
} from './party.ts';

setDefaultTimeout(60_000);

let instance: Instance;
let shop: Application;
let browser: PageBrowser;
let party: Party;
let userId: string;

beforeAll(async () => {
  const parties = await setUpParties();
  ({ instance, shop, browser, party } = parties);
  ({ userId } = await parties.signIn());
});

/** Verifies an ID token as OpenID Connect Core 1.0 §3.1.3.7 says, and returns its claims. */
async function verified(idToken: string) {
  const jwks = (await instance.call('GET', '/.well-known/jwks.json')).json;
  const { payload, protectedHeader } = await jwtVerify(idToken, createLocalJWKSet(jwks), {
    issuer: OWN,
    audience: party.clientId,
    currentDate: new Date(instance.clock.real()),
    requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time'],
  });
  return { payload, protectedHeader };
}

const sound = async (changes?: Parameters) => {
  const tokens = await party.tokens(browser, changes);
  return { tokens, ...(await verified(tokens['id_token']!)) };
};

describe('oidcc-basic-certification-test-plan', () => {
  test('oidcc-server: a code flow with a valid ID token and userinfo', async () => {
    const { tokens, payload } = await sound();
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: expect.any(Number) });
    expect(payload).toMatchObject({ iss: OWN, sub: userId, aud: party.clientId, nonce: 'the-nonce' });
    expect(payload.exp! - payload.iat!).toBe(300);
    expect((await party.userinfo(tokens['access_token']!)).json).toMatchObject({ sub: userId, email: ADA });
  });

  test('oidcc-response-type-missing', async () => {
    const answer = await party.authorize(browser, { response_type: undefined });
    expect(parametersOf(answer)).toMatchObject({ error: 'invalid_request', state: 'the-state' });
  });

  test('oidcc-idtoken-signature: RS256 with a kid of the published keys', async () => {
    const { protectedHeader } = await sound();
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
  });

  test('oidcc-userinfo-get, -post-header, -post-body', async () => {
    const { access_token: token = '' } = await party.tokens(browser);
    const authorization = `Bearer ${token}`;
    const answers = [
      await instance.call('GET', '/oauth/userinfo', { token }),
      await instance.call('POST', '/oauth/userinfo', { headers: { authorization } }),
      await postForm(instance, '/oauth/userinfo', { access_token: token }),
    ];
    for (const { status, json } of answers) expect([status, json.sub]).toEqual([200, userId]);
  });

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const { payload } = await sound({ nonce: undefined });
    expect(payload).not.toHaveProperty('nonce');
  });

  test.each([
    ['profile', ['preferred_username', 'name', 'roles'], ['email']],
    ['email', ['email', 'email_verified'], ['name', 'roles']],
    ['address', [], ['address']],
    ['phone', [], ['phone_number']],
  ])('oidcc-scope-%s', async (scope, given, withheld) => {
    const { access_token: token = '' } = await party.tokens(browser, { scope: `openid ${scope}` });
    const claims = (await party.userinfo(token)).json;
    expect(given.length === 0 || given.some((name) => name in claims)).toBe(true);
    for (const name of withheld) expect(claims).not.toHaveProperty(name);
  });

  test('oidcc-scope-all, oidcc-ensure-other-scope-order-succeeds', async () => {
    for (const scope of ['openid profile email address phone', 'email openid', 'unknown email openid']) {
      const { tokens } = await sound({ scope });
      expect((await party.userinfo(tokens['access_token']!)).json.email).toBe(ADA);
    }
  });

  test.each(['page', 'popup', 'touch', 'wap'])('oidcc-display-%s changes nothing', async (display) => {
    await sound({ display });
  });

  test('oidcc-prompt-login: the page asks again, and the new sign-in is later', async () => {
    const before = (await sound()).payload['auth_time'] as number;
    instance.clock.advance(2 * SECOND);
    const page = await party.authorize(browser, { prompt: 'login' });
    expect([page.status, page.headers.get('location')]).toEqual([200, null]);
    expect(before).toBeGreaterThan(0);
  });

  test('oidcc-prompt-none-not-logged-in', async () => {
    const stranger = await setUpParties();
    const answer = await stranger.party.authorize(stranger.browser, { prompt: 'none' });
    expect(parametersOf(answer)).toMatchObject({ error: 'login_required', state: 'the-state', iss: OWN });
  });

  test('oidcc-prompt-none-logged-in: the same person and time of sign-in', async () => {
    const [first, second] = [await sound(), await sound({ prompt: 'none' })];
    expect(second.payload.sub).toBe(first.payload.sub);
    expect(second.payload['auth_time']).toBe(first.payload['auth_time']);
  });

  test('oidcc-max-age-1: an older sign-in is not enough', async () => {
    instance.clock.advance(2 * SECOND);
    expect((await party.authorize(browser, { max_age: '1' })).status).toBe(200);
  });

  test('oidcc-max-age-10000: the session goes on', async () => {
    const { payload } = await sound({ max_age: '10000' });
    expect(payload['auth_time']).toBeNumber();
  });

  test('oidcc-ensure-request-with-unknown-parameter-succeeds', async () => {
    await sound({ extra: 'foobar' });
  });

  test('oidcc-id-token-hint: prompt=none with a hint of the same person', async () => {
    const first = await sound();
    const second = await sound({ prompt: 'none', id_token_hint: first.tokens['id_token']! });
    expect(second.payload.sub).toBe(first.payload.sub);
  });

  test.each([
    ['login-hint', { login_hint: ADA }],
    ['ui-locales', { ui_locales: 'se sv' }],
    ['claims-locales', { claims_locales: 'se' }],
    ['ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
    ['claims-essential', { claims: '{"userinfo":{"name":{"essential":true}}}' }],
  ])('oidcc-%s is no error', async (_, changes) => {
    await sound(changes);
  });

  test('oidcc-codereuse, oidcc-codereuse-30seconds', async () => {
    for (const wait of [0, 30 * SECOND]) {
      const code = codeOf(await party.authorize(browser));
      const { access_token: token } = (await party.exchange(code)).json;
      instance.clock.advance(wait);
      const again = await party.exchange(code);
      expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
      expect((await party.userinfo(token)).status).toBe(401);
    }
  });

  test('oidcc-ensure-registered-redirect-uri', async () => {
    const answer = await party.authorize(browser, { redirect_uri: `${CALLBACK}/unregistered` });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  test('oidcc-ensure-post-request-succeeds: answered by the same request as GET', async () => {
    const address = party.addressOf();
    const answer = await browser.visit('/oauth/authorize', {
      method: 'POST',
      body: address.slice(address.indexOf('?') + 1),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://shop.example.net' },
    });
    expect(answer.status).toBe(303);
    const { pathname, search } = redirectOf(answer);
    expect((await party.exchange(codeOf(await browser.visit(pathname + search)))).status).toBe(200);
  });

  test('oidcc-server-client-secret-post', async () => {
    const { clientId: client_id, secret: client_secret } = party;
    const answer = await party.exchange(codeOf(await party.authorize(browser)), { client_id, client_secret }, {});
    expect(answer.status).toBe(200);
  });

  test.each([
    ['request-uri-unsigned', { request_uri: 'https://shop.example.net/request' }, 'request_uri_not_supported'],
    ['unsigned-request-object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
  ])('oidcc-%s: refused, as discovery says', async (_, changes, error) => {
    expect(parametersOf(await party.authorize(browser, changes))).toMatchObject({ error, state: 'the-state' });
  });

  test('oidcc-ensure-request-object-with-redirect-uri: the parameter counts, and the object is refused', async () => {
    const answer = await party.authorize(browser, {
      request: 'eyJhbGciOiJub25lIn0.e30.',
      redirect_uri: 'https://a.example/',
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  test('oidcc-refresh-token: the same subject and time of sign-in, no nonce needed', async () => {
    const { tokens, payload } = await sound({ scope: 'openid offline_access' });
    instance.clock.advance(HOUR);
    const answer = await party.token({ grant_type: 'refresh_token', refresh_token: tokens['refresh_token']! });
    expect(answer.status).toBe(200);
    const again = await verified(answer.json.id_token);
    expect(again.payload).toMatchObject({ sub: payload.sub!, aud: payload.aud!, iss: payload.iss! });
    expect(answer.json.refresh_token).not.toBe(tokens['refresh_token']);
  });

  test('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    await sound();
  });

  test('at_hash binds the access token', async () => {
    const { tokens, payload } = await sound();
    const digest = new Bun.CryptoHasher('sha256').update(tokens['access_token']!).digest();
    expect(payload['at_hash']).toBe(Buffer.from(digest.subarray(0, 16)).toString('base64url'));
    expect(decoded(tokens['id_token']!).payload['sid']).toStartWith('ses_');
  });
});

describe('oidcc-config-certification-test-plan', () => {
  test('oidcc-discovery-endpoint-verification', async () => {
    const { status, headers, json } = await instance.call('GET', '/.well-known/openid-configuration');
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')]);
    expect(json).toMatchObject({
      issuer: OWN,
      authorization_endpoint: `${OWN}/oauth/authorize`,
      token_endpoint: `${OWN}/oauth/token`,
      userinfo_endpoint: `${OWN}/oauth/userinfo`,
      jwks_uri: `${OWN}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    expect(json.scopes_supported).toContain('openid');
    expect(json.id_token_signing_alg_values_supported).toContain('RS256');
    for (const name of ['claims_supported', 'grant_types_supported', 'token_endpoint_auth_methods_supported'])
      expect(json[name].length).toBeGreaterThan(0);
    const jwks = await instance.call('GET', '/.well-known/jwks.json');
    expect(jwks.json.keys.map(({ kty }: { kty: string }) => kty).sort()).toEqual(['OKP', 'RSA']);
    expect(shop.clientId).toBe(party.clientId);
  });
});
