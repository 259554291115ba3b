/** OpenID settings of an application, as those who manage it read and change them. */
import { describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair } from 'jose';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { createScene, REDIRECT_URI } from './scene.ts';

const ISSUER = 'http://localhost:8080';

async function createBareScene() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const path = `/api/applications/${application.id}/openid`;
  const get = (token = instance.workspaceKey) => instance.call('GET', path, { token });
  const put = (body: unknown, token = instance.workspaceKey) => instance.call('PUT', path, { token, body });
  return { instance, application, path, get, put };
}

describe('OpenID settings', () => {
  test('have defaults before OpenID is set up', async () => {
    const { get, application } = await createBareScene();
    const { status, json } = await get();
    expect([status, json.data]).toEqual([
      200,
      {
        redirectUris: [],
        postLogoutRedirectUris: [],
        clientType: 'confidential',
        idTokenAlg: 'RS256',
        jwks: null,
        backchannelLogoutUri: null,
        issuer: ISSUER,
        clientId: application.clientId,
        hasSecret: false,
        backchannelStatus: null,
        endpoints: {
          discovery: `${ISSUER}/.well-known/openid-configuration`,
          authorization: `${ISSUER}/oauth/authorize`,
          token: `${ISSUER}/oauth/token`,
          userinfo: `${ISSUER}/oauth/userinfo`,
          endSession: `${ISSUER}/oauth/end-session`,
          jwks: `${ISSUER}/.well-known/jwks.json`,
        },
        updatedAt: null,
      },
    ]);
  });

  test('are set, and keep what a later change leaves out', async () => {
    const { instance, get, put, application } = await createBareScene();
    const { publicKey } = await generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] };
    const settings = {
      redirectUris: [REDIRECT_URI, 'com.example.wiki:/callback'],
      postLogoutRedirectUris: ['https://wiki.example.com/'],
      clientType: 'confidential',
      idTokenAlg: 'EdDSA',
      jwks,
      backchannelLogoutUri: 'https://wiki.example.com/logout',
    };
    const { status, json } = await put(settings);
    const updatedAt = new Date(instance.clock.now()).toISOString();
    expect([status, json.data]).toMatchObject([200, { ...settings, backchannelStatus: 'active', updatedAt }]);
    expect((await get()).json.data).toEqual(json.data);
    const changed = await put({ redirectUris: [REDIRECT_URI] });
    expect(changed.json.data).toMatchObject({ ...settings, redirectUris: [REDIRECT_URI] });
    const emptied = await put({ redirectUris: [], jwks: null, backchannelLogoutUri: null, postLogoutRedirectUris: [] });
    expect(emptied.json.data).toMatchObject({
      redirectUris: [],
      postLogoutRedirectUris: [],
      jwks: null,
      backchannelLogoutUri: null,
      backchannelStatus: null,
    });
    const kinds = instance.auditKinds(application.id).filter((kind) => kind === 'application.openid_changed');
    expect(kinds).toHaveLength(3);
  });

  test('show whether the application has a secret, and never the secret', async () => {
    const { instance, settingsPath, shown } = await createScene();
    const { json, text } = await instance.call('GET', settingsPath, { token: instance.workspaceKey });
    expect(json.data.hasSecret).toBe(true);
    expect(text).not.toContain(shown.secret);
  });

  test.each([
    ['an unknown field', { redirectUris: [], more: 1 }, 'more'],
    ['no redirect URIs', {}, 'redirectUris'],
    ['a relative redirect URI', { redirectUris: [REDIRECT_URI, '/callback'] }, 'redirectUris.1'],
    ['plain http', { redirectUris: ['http://wiki.example.com/callback'] }, 'redirectUris.0'],
    ['loopback for a client on a server', { redirectUris: ['http://127.0.0.1/callback'] }, 'redirectUris.0'],
    ['a wildcard', { redirectUris: ['https://*.example.com/'] }, 'redirectUris.0'],
    ['a script', { redirectUris: ['javascript:alert(1)'] }, 'redirectUris.0'],
    ['the same URI twice', { redirectUris: [REDIRECT_URI, REDIRECT_URI] }, 'redirectUris'],
    ['too many', { redirectUris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) }, 'redirectUris'],
    [
      'a fragment after sign-out',
      { redirectUris: [], postLogoutRedirectUris: ['https://a.example/#x'] },
      'postLogoutRedirectUris.0',
    ],
    ['an unknown kind of client', { redirectUris: [], clientType: 'registered' }, 'clientType'],
    ['an unknown algorithm', { redirectUris: [], idTokenAlg: 'HS256' }, 'idTokenAlg'],
    [
      'a private address for logouts',
      { redirectUris: [], backchannelLogoutUri: 'https://10.0.0.1/' },
      'backchannelLogoutUri',
    ],
    ['no keys', { redirectUris: [], jwks: { keys: [] } }, 'jwks'],
    ['a symmetric key', { redirectUris: [], jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, 'jwks.keys.0'],
    [
      'an unknown curve',
      { redirectUris: [], jwks: { keys: [{ kty: 'EC', crv: 'P-521', x: 'x', y: 'y' }] } },
      'jwks.keys.0',
    ],
    [
      'a point off the curve',
      { redirectUris: [], jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AQ', y: 'AQ' }] } },
      'jwks.keys.0',
    ],
    ['a short RSA key', { redirectUris: [], jwks: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }] } }, 'jwks.keys.0'],
  ])('refuse %s', async (_, body, field) => {
    const { put, get } = await createBareScene();
    const { status, json } = await put(body);
    expect([status, json.error, json.fields?.[0]?.path]).toEqual([400, 'invalid_request', field]);
    expect((await get()).json.data.updatedAt).toBeNull();
  });

  test('refuse a private key, and any key of a public client', async () => {
    const { put } = await createBareScene();
    const pair = await generateKeyPair('ES256', { extractable: true });
    const secret = await put({ redirectUris: [], jwks: { keys: [await exportJWK(pair.privateKey)] } });
    expect(secret.json.fields[0].path).toBe('jwks.keys.0');
    const keys = [await exportJWK(pair.publicKey)];
    expect((await put({ redirectUris: [], jwks: { keys } })).status).toBe(200);
    const open = await put({ redirectUris: [], clientType: 'public' });
    expect(open.json.fields[0].path).toBe('jwks');
    expect((await put({ redirectUris: [], clientType: 'public', jwks: null })).status).toBe(200);
  });

  test('take loopback addresses for a program on the person’s own device', async () => {
    const { put } = await createBareScene();
    const { status } = await put({ redirectUris: ['http://127.0.0.1/callback'], clientType: 'public' });
    expect(status).toBe(200);
  });

  test('are read with any access, and changed with full access only', async () => {
    const { instance, application, get, put } = await createBareScene();
    const { token } = await instance.createKey(application.id, { access: 'read' });
    expect((await get(token)).status).toBe(200);
    const { status, json } = await put({ redirectUris: [] }, token);
    expect([status, json.error]).toEqual([403, 'admin_scope_required']);
  });

  test('are nobody else’s to read or change', async () => {
    const { instance, application, path, get, put } = await createBareScene();
    const tenant = await given.tenant(instance);
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    expect([
      (await get(tenant.workspaceKey)).status,
      (await put({ redirectUris: [] }, tenant.workspaceKey)).status,
    ]).toEqual([404, 404]);
    expect([(await get(ada.token)).status, (await put({ redirectUris: [] }, ada.token)).status]).toEqual([403, 403]);
    expect((await instance.call('GET', path)).status).toBe(401);
    expect((await instance.call('PUT', path, { body: { redirectUris: [] } })).status).toBe(401);
    expect((await get()).json.data.updatedAt).toBeNull();
  });
});
