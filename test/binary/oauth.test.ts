/** Discovery, introspection and revocation by OAuth clients that we did not write. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const insecure = { [oauth.allowInsecureRequests]: true };

let server: EphemeralServer;
/** Two applications of one server, each with its secret. */
let shop: { clientId: string; secret: string };
let other: { clientId: string; secret: string };

async function secretOf(applicationId: string): Promise<string> {
  const token = server.workspaceKey;
  const { json } = await request(server, 'POST', `/api/applications/${applicationId}/rotate-secret`, { token });
  return json.data.clientSecret;
}

beforeAll(async () => {
  server = await startEphemeral([], { GATEHOUSE_LOG_LEVEL: 'info' });
  shop = { clientId: server.clientId, secret: await secretOf(server.applicationId) };
  const made = await request(server, 'POST', '/api/applications', {
    token: server.workspaceKey,
    body: { name: 'Other' },
  });
  other = { clientId: made.json.data.clientId, secret: await secretOf(made.json.data.id) };
});
afterAll(() => server.stop());

/** Gets a key for this person by the device grant. */
async function deviceKey(configuration: openid.Configuration, person: { token: string }): Promise<string> {
  const begun = await openid.initiateDeviceAuthorization(configuration, {});
  const body = { user_code: begun.user_code };
  await request(server, 'POST', '/api/account/device/approve', { token: person.token, body });
  return (await openid.pollDeviceAuthorizationGrant(configuration, begun)).access_token;
}

describe('oauth4webapi', () => {
  const METHODS = [
    ['client_secret_basic', oauth.ClientSecretBasic],
    ['client_secret_post', oauth.ClientSecretPost],
  ] as const;

  async function discover() {
    const issuer = new URL(server.url);
    return oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
  }

  test('discovers the endpoints and authentication methods', async () => {
    expect(await discover()).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      jwks_uri: `${server.url}/.well-known/jwks.json`,
      device_authorization_endpoint: `${server.url}/api/v1/device/code`,
      introspection_endpoint: `${server.url}/api/v1/introspect`,
      revocation_endpoint: `${server.url}/api/v1/revoke`,
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'Bearer'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
  });

  test.each(METHODS)('introspects and revokes a session, authenticated by %s', async (method, authentication) => {
    const as = await discover();
    expect(as.introspection_endpoint_auth_methods_supported).toContain(method);
    const person = await signIn(server, `${method}@example.com`, shop.clientId);
    const client = ({ clientId, secret }: typeof shop) => {
      const asking: oauth.Client = { client_id: clientId };
      const shown = authentication(secret);
      return {
        introspect: async (token: string) =>
          oauth.processIntrospectionResponse(
            as,
            asking,
            await oauth.introspectionRequest(as, asking, shown, token, insecure),
          ),
        revoke: async (token: string) =>
          oauth.processRevocationResponse(await oauth.revocationRequest(as, asking, shown, token, insecure)),
      };
    };
    const [mine, theirs] = [client(shop), client(other)];
    expect(await mine.introspect(person.token)).toMatchObject({
      active: true,
      sub: person.userId,
      client_id: shop.clientId,
      aud: shop.clientId,
      iss: server.url,
      token_type: 'Bearer',
      email: `${method}@example.com`,
      roles: ['user'],
    });
    expect(await theirs.introspect(person.token)).toEqual({ active: false });
    const refused = await theirs.revoke(person.token).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(oauth.ResponseBodyError);
    expect((refused as oauth.ResponseBodyError).error).toBe('invalid_grant');
    expect(await mine.introspect(person.token)).toMatchObject({ active: true });
    expect(await mine.revoke(person.token)).toBeUndefined();
    expect(await mine.introspect(person.token)).toEqual({ active: false });
    expect(await mine.revoke(person.token)).toBeUndefined();
    expect(await mine.revoke('nonsense')).toBeUndefined();
    expect((await request(server, 'POST', '/api/v1/session', { token: person.token })).status).toBe(401);
  });

  test.each(METHODS)('gets a WWW-Authenticate challenge for a wrong secret, by %s', async (_, authentication) => {
    const as = await discover();
    for (const client_id of [shop.clientId, 'cli_nobody']) {
      const client: oauth.Client = { client_id };
      const answer = await oauth.introspectionRequest(as, client, authentication(other.secret), 'x', insecure);
      expect(await answer.clone().json()).toMatchObject({ error: 'invalid_client' });
      const error = await oauth.processIntrospectionResponse(as, client, answer).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
      const [challenge] = (error as oauth.WWWAuthenticateChallengeError).cause;
      expect(challenge).toMatchObject({ scheme: 'basic', parameters: { realm: 'gatehouse' } });
    }
  });

  test('introspects with an API key as a bearer token', async () => {
    const as = await discover();
    const client: oauth.Client = { client_id: shop.clientId };
    const person = await signIn(server, 'key@example.com', shop.clientId);
    const bearer: oauth.ClientAuth = (_as, _client, _body, headers) =>
      headers.set('authorization', `Bearer ${server.workspaceKey}`);
    const answer = await oauth.introspectionRequest(as, client, bearer, person.token, insecure);
    expect(await oauth.processIntrospectionResponse(as, client, answer)).toMatchObject({ active: true });
  });
});

describe('openid-client', () => {
  const configure = ({ clientId, secret }: typeof shop, authentication?: openid.ClientAuth) =>
    openid.discovery(new URL(server.url), clientId, secret, authentication, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });

  test('introspects and revokes the token of a device grant', async () => {
    const configuration = await configure(shop);
    const person = await signIn(server, 'device@example.com', shop.clientId);
    const key = await deviceKey(configuration, person);
    const theirs = await configure(other, openid.ClientSecretBasic(other.secret));
    const told = await openid.tokenIntrospection(configuration, key, { token_type_hint: 'access_token' });
    expect(told).toMatchObject({ active: true, sub: person.userId, email: 'device@example.com' });
    expect(await openid.tokenIntrospection(theirs, key)).toEqual({ active: false });
    await openid.tokenRevocation(configuration, key);
    expect(await openid.tokenIntrospection(configuration, key)).toEqual({ active: false });
    expect((await request(server, 'GET', '/api/me/roles', { token: key })).status).toBe(401);
    expect((await openid.tokenIntrospection(configuration, person.token)).active).toBe(true);
  });

  test('is refused with another secret', async () => {
    const configuration = await configure({ ...shop, secret: other.secret });
    for (const ask of [openid.tokenIntrospection, openid.tokenRevocation]) {
      const error = await ask(configuration, 'x').then(String, (error: unknown) => error);
      expect(error).toBeInstanceOf(openid.WWWAuthenticateChallengeError);
    }
  });
});

test('the server writes no secret or token to its files and log', async () => {
  const written = server.stdout.text() + server.stderr.text();
  expect(written).toContain('"route":"/api/v1/introspect","status":401');
  for (const secret of [shop.secret, other.secret]) expect(written).not.toContain(secret);
  expect(written).not.toMatch(/e[cs][st]_\w{20}/);
});
