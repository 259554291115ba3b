/** Setting an application up for OpenID Connect from the command line. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { exportJWK, generateKeyPair } from 'jose';
import { oneServer } from './scene.ts';

const CALLBACK = 'https://wiki.example.com/callback';

async function oneWiki() {
  const { instance, person } = await oneServer();
  const wiki = await instance.createApplication({ slug: 'wiki' });
  const set = (...flags: string[]) => person.manage(['openid', 'set', 'wiki', ...flags]);
  const settings = async () => (await person.manage(['openid', 'show', '--json'])).json();
  return { instance, person, wiki, set, settings };
}

describe('openid', () => {
  test('is shown before it is set up, with the next step', async () => {
    const { person, wiki } = await oneWiki();
    const { out } = await person.manage(['openid', 'show']);
    expect(out).toContain(`Client id            ${wiki.clientId}\n`);
    expect(out).toContain('Discovery            http://localhost:8080/.well-known/openid-configuration\n');
    expect(out).toEndWith('\n\nNext: gatehouse openid set wiki --redirect-uris https://…\n');
  });

  test('is set, and omitted settings keep their values', async () => {
    const { set, settings } = await oneWiki();
    const made = await set('--redirect-uris', `${CALLBACK}, https://wiki.example.com/other`, '--id-token-alg', 'EdDSA');
    expect(made.out).toContain(`Redirect URIs        ${CALLBACK}, https://wiki.example.com/other\n`);
    expect(made.out).toEndWith('\n\nNext: gatehouse openid secret wiki\n');
    await set('--backchannel-logout', 'https://wiki.example.com/logout', '--post-logout-redirect-uris', CALLBACK);
    expect(await settings()).toMatchObject({
      redirectUris: [CALLBACK, 'https://wiki.example.com/other'],
      postLogoutRedirectUris: [CALLBACK],
      clientType: 'confidential',
      idTokenAlg: 'EdDSA',
      backchannelLogoutUri: 'https://wiki.example.com/logout',
      backchannelStatus: 'active',
    });
    await set('--backchannel-logout', '', '--post-logout-redirect-uris', '', '--client-type', 'public');
    expect(await settings()).toMatchObject({
      redirectUris: [CALLBACK, 'https://wiki.example.com/other'],
      postLogoutRedirectUris: [],
      clientType: 'public',
      backchannelLogoutUri: null,
      backchannelStatus: null,
    });
  });

  test('gives the client a secret once, after the name was typed', async () => {
    const { person, set, settings } = await oneWiki();
    await set('--redirect-uris', CALLBACK);
    const doubtful = await person.manage(['openid', 'secret'], { answers: ['wkii'] });
    expect([doubtful.exitCode, (await settings()).hasSecret]).toEqual([1, false]);
    const made = await person.manage(['openid', 'secret', 'wiki'], { answers: ['wiki'] });
    const [, secret] = /^Client secret {2}(\S+)\n/.exec(made.out) ?? [];
    expect(made.err).toEndWith('\nThe secret is shown this once.\n');
    const { out } = await person.manage(['openid', 'show']);
    expect(out).toContain('Client               confidential, by its secret\n');
    expect(out).not.toContain(secret!);
    expect(out).not.toContain('Next:');
  });

  test('takes the public keys of a client from a file, and a removal', async () => {
    const { person, set, settings } = await oneWiki();
    const { publicKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
    const file = `${person.home}/jwks.json`;
    writeFileSync(file, JSON.stringify({ keys: [jwk] }));
    const made = await set('--redirect-uris', CALLBACK, '--jwks', file);
    expect(made.out).toContain('Client               confidential, by private_key_jwt\n');
    expect((await settings()).jwks).toEqual({ keys: [jwk] });
    await set('--jwks', '');
    expect((await settings()).jwks).toBeNull();
    writeFileSync(file, '{');
    expect((await set('--jwks', file)).err).toBe(`gatehouse: ${file} is no JSON.\n`);
    expect((await set('--jwks', `${file}.missing`)).err).toContain(`There is no file ${file}.missing.`);
  });

  test('is switched off once the name was typed', async () => {
    const { person, set, settings } = await oneWiki();
    await set('--redirect-uris', CALLBACK);
    const doubtful = await person.manage(['openid', 'off', 'wiki'], { answers: ['wkii'] });
    expect([doubtful.exitCode, (await settings()).redirectUris]).toEqual([1, [CALLBACK]]);
    const off = await person.manage(['openid', 'off', 'wiki'], { answers: ['wiki'] });
    expect([off.exitCode, off.out]).toEqual([0, 'OpenID is off for wiki.\n']);
    expect((await settings()).updatedAt).toBeNull();
  });

  test.each([
    [[], 2, 'Say what to change. See "gatehouse help openid set".'],
    [['--client-type', 'secret'], 2, '--client-type must be confidential or public.'],
    [['--redirect-uris', 'http://wiki.example.com/callback'], 1, 'redirectUris.0'],
    [['--redirect-uris', CALLBACK, '--backchannel-logout', 'https://10.0.0.1/logout'], 1, 'backchannelLogoutUri'],
  ])('refuses %j', async (flags, exitCode, words) => {
    const { set, settings } = await oneWiki();
    const ran = await set(...flags);
    expect([ran.exitCode, ran.err]).toEqual([exitCode, expect.stringContaining(words)]);
    expect((await settings()).updatedAt).toBeNull();
  });
});
