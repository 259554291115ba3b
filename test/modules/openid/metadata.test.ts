/** The documents by which clients find the provider. */
import { describe, expect, test } from 'bun:test';
import { providerMetadata } from '@/modules/openid/metadata.ts';
import { createInstance } from '../../support/instance.ts';

const URL = 'http://localhost:8080';

describe('the metadata of the provider', () => {
  test('is one document at both well-known addresses', async () => {
    const instance = await createInstance();
    const [openid, oauth] = await Promise.all(
      ['openid-configuration', 'oauth-authorization-server'].map((name) =>
        instance.call('GET', `/.well-known/${name}`),
      ),
    );
    expect([openid!.status, oauth!.status]).toEqual([200, 200]);
    expect(openid!.headers.get('content-type')).toStartWith('application/json');
    expect(openid!.json).toEqual(oauth!.json);
    expect(openid!.json).toEqual(providerMetadata(URL, { isRegistrationOn: false }));
  });

  test('has what Discovery 1.0 §3 requires, and forbids what we do not support', () => {
    const metadata = providerMetadata('https://auth.example.com', { isRegistrationOn: false });
    expect(metadata).toMatchObject({
      issuer: 'https://auth.example.com',
      authorization_endpoint: 'https://auth.example.com/oauth/authorize',
      token_endpoint: 'https://auth.example.com/oauth/token',
      userinfo_endpoint: 'https://auth.example.com/oauth/userinfo',
      end_session_endpoint: 'https://auth.example.com/oauth/end-session',
      jwks_uri: 'https://auth.example.com/.well-known/jwks.json',
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      subject_types_supported: ['public'],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
    expect(metadata.scopes_supported).toContain('openid');
    expect(metadata.id_token_signing_alg_values_supported).toContain('RS256');
    const offered = JSON.stringify(metadata);
    for (const algorithm of ['"HS256"', '"plain"', '"token"', '"fragment"', '"implicit"'])
      expect(offered).not.toContain(algorithm);
    expect(metadata.id_token_signing_alg_values_supported).not.toContain('none');
  });

  test('names a registration endpoint only where clients may register themselves', () => {
    expect(providerMetadata(URL, { isRegistrationOn: false })).not.toHaveProperty('registration_endpoint');
    expect(providerMetadata(URL, { isRegistrationOn: true }).registration_endpoint).toBe(`${URL}/oauth/register`);
  });
});

describe('the metadata of the protected resource', () => {
  test.each(['', '/mcp'])('names the MCP endpoint and its authorization server%s (RFC 9728)', async (path) => {
    const instance = await createInstance();
    const { status, json } = await instance.call('GET', `/.well-known/oauth-protected-resource${path}`);
    expect([status, json]).toEqual([
      200,
      {
        resource: `${URL}/mcp`,
        authorization_servers: [URL],
        bearer_methods_supported: ['header'],
        resource_name: 'Gatehouse',
      },
    ]);
  });

  test('exists for no other resource', async () => {
    const instance = await createInstance();
    const { status } = await instance.call('GET', '/.well-known/oauth-protected-resource/api');
    expect(status).toBe(404);
  });
});

describe('the published keys', () => {
  test('are one for each algorithm, with public members only, and may be cached', async () => {
    const instance = await createInstance();
    const { status, json, headers } = await instance.call('GET', '/.well-known/jwks.json', {
      headers: { origin: 'https://app.example.com' },
    });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const keys: Record<string, string>[] = json.keys;
    expect(keys.map(({ kty, alg, use }) => [kty, alg, use]).sort()).toEqual([
      ['OKP', 'EdDSA', 'sig'],
      ['RSA', 'RS256', 'sig'],
    ]);
    for (const key of keys) {
      expect(key['kid']).toMatch(/^sgk_/);
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret);
    }
  });

  test('are the same at every instance on a database', async () => {
    const instance = await createInstance();
    const sibling = await instance.sibling();
    const [first, second] = [
      await instance.call('GET', '/.well-known/jwks.json'),
      await sibling.call('GET', '/.well-known/jwks.json'),
    ];
    expect(second.json).toEqual(first.json);
  });
});
