/** The device grant by OAuth clients that we did not write, over HTTP. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { type EphemeralServer, eventually, request, signIn, startEphemeral } from '../support/binary.ts';

// One client waits for its interval in real time.
setDefaultTimeout(120_000);

let server: EphemeralServer;
let person: { token: string; userId: string };
beforeAll(async () => {
  server = await startEphemeral();
  person = await signIn(server, 'ada@example.com', server.clientId);
});
afterAll(() => server.stop());

const advance = (seconds: number) => request(server, 'POST', '/test/clock', { body: { advanceMs: seconds * 1000 } });

const decide = async (decision: 'approve' | 'deny', user_code: string) => {
  // Approval needs a sign-in within the last ten minutes, and the test moves the clock.
  person = await signIn(server, 'ada@example.com', server.clientId);
  const { token } = person;
  const { status } = await request(server, 'POST', `/api/account/device/${decision}`, { token, body: { user_code } });
  expect(status).toBe(200);
};

async function expectPersonalKey(token: string): Promise<void> {
  expect(token).toStartWith('eak_');
  const roles = await request(server, 'GET', '/api/me/roles', { token });
  expect([roles.status, roles.json.data]).toEqual([200, { roles: ['user'] }]);
  const { json } = await request(server, 'POST', '/api/v1/verify', { token: server.workspaceKey, body: { token } });
  expect([json.success, json.data.userId]).toEqual([true, person.userId]);
}

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const none = oauth.None();

  async function start() {
    const issuer = new URL(server.url);
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const as = await oauth.processDiscoveryResponse(issuer, discovered);
    const client: oauth.Client = { client_id: server.clientId };
    const begin = async () =>
      oauth.processDeviceAuthorizationResponse(
        as,
        client,
        await oauth.deviceAuthorizationRequest(as, client, none, { scope: 'anything' }, insecure),
      );
    const poll = async (deviceCode: string) =>
      oauth.processDeviceCodeResponse(
        as,
        client,
        await oauth.deviceCodeGrantRequest(as, client, none, deviceCode, insecure),
      );
    /** Returns the error of a refused poll, as the client reports it. */
    const refusal = (deviceCode: string) =>
      poll(deviceCode).then(
        () => 'none',
        (error: unknown) => (error instanceof oauth.ResponseBodyError ? error.error : String(error)),
      );
    return { begin, poll, refusal };
  }

  test('completes the grant, and understands every response', async () => {
    const { begin, poll, refusal } = await start();
    const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } = await begin();
    expect({ verification_uri, verification_uri_complete, expires_in, interval }).toEqual({
      verification_uri: `${server.url}/device`,
      verification_uri_complete: `${server.url}/device?code=${user_code}`,
      expires_in: 900,
      interval: 5,
    });
    expect(await refusal(device_code)).toBe('authorization_pending');
    expect(await refusal(device_code)).toBe('slow_down');
    await advance(10);
    expect(await refusal(device_code)).toBe('authorization_pending');
    await decide('approve', user_code);
    await advance(10);
    const { access_token, token_type } = await poll(device_code);
    expect(token_type).toBe('bearer');
    await expectPersonalKey(access_token);
    expect(await refusal(device_code)).toBe('expired_token');
  });

  test('gets the errors for a declined, an expired and an unknown code', async () => {
    const { begin, refusal } = await start();
    const [declined, late] = [await begin(), await begin()];
    await decide('deny', declined.user_code);
    expect(await refusal(declined.device_code)).toBe('access_denied');
    await advance(900);
    expect(await refusal(late.device_code)).toBe('expired_token');
    expect(await refusal('made up')).toBe('invalid_grant');
  });
});

describe('openid-client', () => {
  const configure = (clientId: string) =>
    openid.discovery(new URL(server.url), clientId, undefined, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });

  test('completes the grant by its own polling', async () => {
    const configuration = await configure(server.clientId);
    const begun = await openid.initiateDeviceAuthorization(configuration, { device_name: 'A client of its own' });
    await decide('approve', begun.user_code);
    const { access_token } = await openid.pollDeviceAuthorizationGrant(configuration, begun);
    await expectPersonalKey(access_token);
    const { json } = await request(server, 'GET', '/api/account/devices', { token: person.token });
    expect(json.data.items[0]).toMatchObject({ name: 'A client of its own' });
    const mail = await eventually('the notice is mailed', async () => {
      const outbox = await request(server, 'GET', '/test/outbox?to=ada@example.com');
      return outbox.json.data.items.find(({ text }: { text: string }) => text.includes('A client of its own'));
    });
    expect(mail.code).toBeNull();
  });

  test('gets the error for an unknown client', async () => {
    const configuration = await configure('nobody');
    const error = await openid.initiateDeviceAuthorization(configuration, {}).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(openid.ResponseBodyError);
    expect((error as openid.ResponseBodyError).error).toBe('invalid_client');
  });
});
