/** Sign-in by OpenID clients that we did not write, against the compiled binary. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { exportJWK, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { type EphemeralServer, request, startEphemeral } from '../support/binary.ts';
import { type PageVisitor, pageVisitor } from '../support/page-visitor.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const CALLBACK = 'http://127.0.0.1:9/callback';
const BYE = 'http://127.0.0.1:9/bye';
const ADA = 'ada@example.com';

let server: EphemeralServer;
let secret: string;
let visitor: PageVisitor;
let userId: string;

const manage = (method: string, path: string, body?: object) =>
  request(server, method, `/api/applications/${server.applicationId}${path}`, {
    token: server.workspaceKey,
    ...(body && { body }),
  });

async function setUpClient(settings: object = {}): Promise<void> {
  const body = {
    redirectUris: [CALLBACK],
    postLogoutRedirectUris: [BYE],
    clientType: 'confidential',
    jwks: null,
    ...settings,
  };
  const { status, text } = await manage('PUT', '/openid', body);
  if (status !== 200) throw new Error(`openid answered ${status}: ${text}`);
}

beforeAll(async () => {
  server = await startEphemeral([], { GATEHOUSE_OPENID_REGISTRATION: 'on' });
  await setUpClient();
  secret = (await manage('POST', '/rotate-secret')).json.data.clientSecret;
  visitor = pageVisitor(server);
  ({ userId } = await visitor.signIn(ADA, server.clientId));
});
afterAll(() => server.stop());

/** Follows a redirect of the server to the client. */
async function arrival(address: URL): Promise<URL> {
  const { status, headers, text } = await visitor.open(address);
  const location = headers.get('location');
  if (location === null) throw new Error(`no redirect but ${status}: ${text.slice(0, 2000)}`);
  return new URL(location);
}

describe('openid-client', () => {
  const discover = (authentication?: openid.ClientAuth) =>
    openid.discovery(new URL(server.url), server.clientId, secret, authentication, {
      execute: [openid.allowInsecureRequests],
    });

  async function signedIn(configuration: openid.Configuration, scope = 'openid profile email') {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const address = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: CALLBACK,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    });
    return openid.authorizationCodeGrant(configuration, await arrival(address), {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      idTokenExpected: true,
    });
  }

  test.each([
    ['client_secret_basic', () => openid.ClientSecretBasic(secret)],
    ['client_secret_post', () => openid.ClientSecretPost(secret)],
  ])('signs in, reads claims, and sees a ban at once, by %s', async (_, authentication) => {
    const configuration = await discover(authentication());
    const tokens = await signedIn(configuration);
    expect(tokens.claims()).toMatchObject({ iss: server.url, sub: userId, aud: server.clientId, email: ADA });
    const claims = await openid.fetchUserInfo(configuration, tokens.access_token, userId);
    expect(claims).toMatchObject({ sub: userId, email: ADA, email_verified: true, roles: ['user'] });
    const asked = await openid.tokenIntrospection(configuration, tokens.access_token);
    expect(asked).toMatchObject({ active: true, sub: userId });
    const verdict = await request(server, 'POST', '/api/v1/verify', {
      token: server.workspaceKey,
      body: { token: tokens.access_token },
    });
    expect(verdict.json.data).toMatchObject({ userId, email: ADA });

    await manage('POST', `/users/${userId}/ban`);
    await expect(openid.fetchUserInfo(configuration, tokens.access_token, userId)).rejects.toThrow();
    expect(await openid.tokenIntrospection(configuration, tokens.access_token)).toEqual({ active: false });
    await manage('POST', `/users/${userId}/unban`);
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await visitor.signIn(ADA, server.clientId);
  });

  test('refreshes, and a used refresh token ends both', async () => {
    const configuration = await discover();
    const tokens = await signedIn(configuration, 'openid offline_access');
    const next = await openid.refreshTokenGrant(configuration, tokens.refresh_token!);
    expect(next.claims()).toMatchObject({ sub: userId });
    await expect(openid.fetchUserInfo(configuration, tokens.access_token, userId)).rejects.toThrow();
    await expect(openid.refreshTokenGrant(configuration, tokens.refresh_token!)).rejects.toThrow();
    await expect(openid.refreshTokenGrant(configuration, next.refresh_token!)).rejects.toThrow();
  });

  test('signs in with EdDSA', async () => {
    await setUpClient({ idTokenAlg: 'EdDSA' });
    const configuration = await openid.discovery(
      new URL(server.url),
      server.clientId,
      { id_token_signed_response_alg: 'EdDSA', client_secret: secret },
      openid.ClientSecretBasic(secret),
      { execute: [openid.allowInsecureRequests] },
    );
    expect((await signedIn(configuration)).claims()).toMatchObject({ sub: userId });
    await setUpClient();
  });

  test('signs out, and comes back', async () => {
    const configuration = await discover();
    const tokens = await signedIn(configuration);
    const address = openid.buildEndSessionUrl(configuration, {
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri: BYE,
      state: 'bye',
    });
    expect((await arrival(address)).href).toBe(`${BYE}?state=bye`);
    expect(await openid.tokenIntrospection(configuration, tokens.access_token)).toEqual({ active: false });
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await visitor.signIn(ADA, server.clientId);
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  test.each(['public', 'private_key_jwt'])('signs in as a client that is %s', async (kind) => {
    const issuer = new URL(server.url);
    const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const pair = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'own', alg: 'ES256' };
    await setUpClient(
      kind === 'public' ? { clientType: 'public' } : { clientType: 'confidential', jwks: { keys: [jwk] } },
    );
    const client: oauth.Client = { client_id: server.clientId };
    const shown =
      kind === 'public' ? oauth.None() : oauth.PrivateKeyJwt({ key: pair.privateKey as CryptoKey, kid: 'own' });
    const verifier = oauth.generateRandomCodeVerifier();
    const address = new URL(as.authorization_endpoint!);
    const asked = {
      ...{ client_id: server.clientId, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid email' },
      ...{
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: 's',
      },
    };
    for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
    const parameters = oauth.validateAuthResponse(as, client, await arrival(address), 's');
    const answer = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      shown,
      parameters,
      CALLBACK,
      verifier,
      insecure,
    );
    const result = await oauth.processAuthorizationCodeResponse(as, client, answer, { requireIdToken: true });
    await oauth.validateApplicationLevelSignature(as, answer, insecure);
    expect(oauth.getValidatedIdTokenClaims(result)).toMatchObject({ sub: userId, email: ADA });
    const userinfo = await oauth.userInfoRequest(as, client, result.access_token, insecure);
    expect(await oauth.processUserInfoResponse(as, client, userId, userinfo)).toMatchObject({ email: ADA });
    await setUpClient();
  });
});

describe('the OAuth client of the MCP SDK', () => {
  /** A client of the SDK that has no window: it notes where it would lead the person. */
  function ownProvider() {
    const kept: Record<string, any> = {};
    const provider: OAuthClientProvider = {
      redirectUrl: CALLBACK,
      clientMetadata: { client_name: 'Agent <b>', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      clientInformation: () => kept['client'],
      saveClientInformation: (client) => void (kept['client'] = client),
      tokens: () => kept['tokens'],
      saveTokens: (tokens) => void (kept['tokens'] = tokens),
      redirectToAuthorization: (address) => void (kept['address'] = address),
      saveCodeVerifier: (verifier) => void (kept['verifier'] = verifier),
      codeVerifier: () => kept['verifier'],
    };
    return { kept, provider };
  }

  test('finds out from /mcp whom to ask, registers, is allowed by an owner, and calls tools as them', async () => {
    const serverUrl = new URL('/mcp', server.url);
    const challenge = await request(server, 'POST', '/mcp', { body: {} });
    expect(challenge.status).toBe(401);
    expect(challenge.headers.get('www-authenticate')).toContain(
      `resource_metadata="${server.url}/.well-known/oauth-protected-resource`,
    );
    const { kept, provider } = ownProvider();
    expect(await auth(provider, { serverUrl })).toBe('REDIRECT');
    const owner = pageVisitor(server);
    await owner.signIn('owner@example.test', 'console');
    const page = await owner.open(kept['address']);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Agent &lt;b');
    const allowed = await owner.press(page, /Connect/);
    const code = new URL(allowed.headers.get('location')!).searchParams.get('code')!;
    expect(await auth(provider, { serverUrl, authorizationCode: code })).toBe('AUTHORIZED');
    expect(kept['tokens'].access_token).toStartWith('eak_');

    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }) as Transport);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(10);
    await client.close();
  });

  test('is denied without a code when the owner declines', async () => {
    const { kept, provider } = ownProvider();
    expect(await auth(provider, { serverUrl: new URL('/mcp', server.url) })).toBe('REDIRECT');
    const owner = pageVisitor(server);
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await owner.signIn('owner@example.test', 'console');
    const denied = await owner.press(await owner.open(kept['address']), /Deny|Decline|Cancel/);
    expect(new URL(denied.headers.get('location')!).searchParams.get('error')).toBe('access_denied');
  });
});
