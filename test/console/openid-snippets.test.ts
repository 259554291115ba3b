/** The settings of products that sign in through this server, filled in with an application's values. */
import { describe, expect, test } from 'bun:test';
import {
  exampleAddress,
  PRODUCT_NAMES,
  productAddress,
  productOf,
  type Product,
} from '@/console/views/settings/openid-snippets.ts';
import { redirectProblem } from '@/modules/openid/redirect-uris.ts';

const ISSUER = 'https://id.example.org';
const CLIENT = 'cli_01kat1h5ppe3bv2d9g3wq5r1xm';
const ADDRESS = 'https://product.test:8443';

function filled(name: string, address = ADDRESS): Product {
  const product = productOf(name, address, { issuer: ISSUER, clientId: CLIENT });
  if (!product) throw new Error(`${name} is unknown`);
  return product;
}

const textOf = ({ settings, note = '' }: Product) =>
  [...('values' in settings ? [...settings.values, ...settings.choices].flat() : [settings.code]), note].join('\n');

const blockOf = (name: string, address?: string) => {
  const { settings } = filled(name, address);
  if (!('code' in settings)) throw new Error(`${name} has a form`);
  return settings.code;
};

describe.each(PRODUCT_NAMES)('%s', (name) => {
  test('has the issuer and the client id, and nothing of an example', () => {
    const text = textOf(filled(name));
    // Traefik has them in the oauth2-proxy beside it.
    if (name !== 'Traefik') {
      expect(text).toContain(ISSUER);
      expect(text).toContain(CLIENT);
    }
    expect(text + filled(name).redirectUris.join()).not.toContain('example.com');
  });

  test('asks for redirect URIs at its own address that the server takes', () => {
    for (const address of [ADDRESS, exampleAddress(name)])
      for (const uri of filled(name, address).redirectUris) {
        expect([uri, redirectProblem(uri, { isLoopbackAllowed: false })]).toEqual([uri, null]);
        if (!uri.startsWith('app.immich:')) expect(uri).toStartWith(address);
      }
  });

  test('links to its documentation', () => {
    expect(URL.parse(filled(name).docs)?.protocol).toBe('https:');
  });
});

test('the switch that makes a product send PKCE is on', () => {
  const switches: Readonly<Record<string, string>> = {
    Authlib: '"code_challenge_method": "S256"',
    Grafana: 'use_pkce = true',
    Headscale: "method: 'S256'",
    mod_auth_openidc: 'OIDCPKCEMethod S256',
    'oauth2-proxy': 'code_challenge_method = "S256"',
    'Open WebUI': 'OAUTH_CODE_CHALLENGE_METHOD=S256',
    'Paperless-ngx': '"OAUTH_PKCE_ENABLED":true',
    Vaultwarden: 'SSO_PKCE=true',
  };
  for (const [name, line] of Object.entries(switches)) expect(blockOf(name)).toContain(line);
  // Outline reads the discovery document, and only then sends PKCE.
  expect(blockOf('Outline')).toContain(`OIDC_ISSUER_URL=${ISSUER}\n`);
});

test('what is read by a parser is well formed', () => {
  const [, json = ''] = /PROVIDERS=(.*)$/m.exec(blockOf('Paperless-ngx')) ?? [];
  expect(JSON.parse(json).openid_connect.APPS[0]).toMatchObject({
    client_id: CLIENT,
    settings: { server_url: ISSUER },
  });
  expect(Bun.TOML.parse(blockOf('oauth2-proxy'))).toMatchObject({ oidc_issuer_url: ISSUER });
  for (const name of ['Headscale', 'Home Assistant', 'Traefik'])
    expect(Object.keys(Bun.YAML.parse(blockOf(name)) as object)).toHaveLength(1);
});

test('a typed address is taken without its slash, and only as one that ends no string of a settings file', () => {
  expect(productAddress(' https://wiki.example.com/ ')).toBe('https://wiki.example.com');
  expect(productAddress('http://192.168.1.4:2283/photos//')).toBe('http://192.168.1.4:2283/photos');
  expect(productAddress('https://[::1]:8443')).toBe('https://[::1]:8443');
  for (const text of [
    '',
    'wiki.example.com',
    'javascript:alert(1)',
    'https://wiki.example.com/"',
    "https://wiki.example.com/'; rm -rf ~",
    'https://wiki.example.com\nclient_secret = x',
    'https://wiki.example.com/?a=b',
    'https://wiki.example.com/#top',
    'https://wiki.example.com/$(id)',
    'https://ada@wiki.example.com',
    'https://wiki.example.com:port',
  ])
    expect([text, productAddress(text)]).toEqual([text, null]);
});

test('an unknown product has no settings', () => {
  expect(productOf('Gitea', ADDRESS, { issuer: ISSUER, clientId: CLIENT })).toBeUndefined();
  expect(productOf('constructor', ADDRESS, { issuer: ISSUER, clientId: CLIENT })).toBeUndefined();
});
