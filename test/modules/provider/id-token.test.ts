import { beforeAll, describe, expect, test } from 'bun:test';
import { exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
import en from '@/i18n/locales/en.json';
import { START } from '../../support/instance.ts';
import { fragmentOf } from './browser.ts';
import { createScene, type Scene } from './scene.ts';

const NOW = START / 1000;

/** Expects the page of a failed provider, nothing stored, and nobody signed in. */
async function expectRefused(scene: Scene, claims: Record<string, unknown>, reason: string): Promise<void> {
  const { logLines } = scene.instance;
  const logged = logLines.length;
  const { status, headers, text } = await scene.signIn(claims);
  expect([status, headers.get('location')]).toEqual([502, null]);
  expect(text).toContain(en.errors.provider_failed);
  expect(logLines.slice(logged).join('').replaceAll('\\"', '"')).toContain(reason);
  expect([scene.count('sessions'), scene.count('provider_identities')]).toEqual([0, 0]);
}

const isSignedIn = async (scene: Scene, claims: Record<string, unknown>) =>
  fragmentOf(await scene.signIn(claims))['token'] !== undefined;

const ALGORITHM_REFUSED = 'unexpected JWT "alg" header parameter';

describe('an id_token', () => {
  /** One scene for all tests that change nothing. */
  let refusing: Scene;
  beforeAll(async () => {
    refusing = await createScene();
  });

  const long = 'x'.repeat(256);
  test.each([
    ['no issuer', { iss: undefined }, '"iss" (issuer) claim missing'],
    ['another issuer', { iss: 'https://accounts.google.com' }, '"iss" (issuer) claim value'],
    ['an issuer that is a list', { iss: ['https://accounts.google.com'] }, '"iss" (issuer) claim type'],
    ['no audience', { aud: undefined }, '"aud" (audience) claim missing'],
    ['another client as audience', { aud: 'someone-else' }, '"aud" (audience) claim value'],
    ['an empty list of audiences', { aud: [] }, '"aud" (audience) claim value'],
    ['several audiences and no azp', { aud: ['gatehouse', 'other'] }, 'untrusted audiences'],
    ['several audiences and another azp', { aud: ['gatehouse', 'other'], azp: 'other' }, 'azp'],
    ['another azp', { azp: 'other' }, 'azp'],
    ['no expiry', { exp: undefined }, '"exp" (expiration time) claim missing'],
    ['an expiry that has passed', { exp: NOW - 31 }, '"exp" (expiration time) claim value'],
    ['an expiry that is text', { exp: String(NOW + 300) }, '"exp" (expiration time) claim type'],
    ['no time of issue', { iat: undefined }, '"iat" (issued at) claim missing'],
    ['a time of issue to come', { iat: NOW + 31, exp: NOW + 600 }, '"iat" claim timestamp check failed'],
    ['a time of issue long ago', { iat: NOW - 631 }, '"iat" claim timestamp check failed'],
    ['a time from which it holds to come', { nbf: NOW + 31 }, '"nbf" (not before) claim value'],
    ['no nonce', { nonce: undefined }, '"nonce" (nonce) claim missing'],
    ['another nonce', { nonce: 'x'.repeat(43) }, '"nonce" claim value'],
    ['an empty nonce', { nonce: '' }, '"nonce" claim value'],
    ['a nonce that is a list', { nonce: ['x'] }, '"nonce" claim value'],
    ['no subject', { sub: undefined }, '"sub" (subject) claim missing'],
    ['an empty subject', { sub: '' }, 'sub is not usable'],
    ['a subject that is a number', { sub: 1 }, '"sub" (subject) claim type'],
    ['a subject that is too long', { sub: long }, 'sub is not usable'],
    ['a subject with NUL', { sub: 'a\0b' }, 'sub is not usable'],
    ['a subject that no UTF-8 can encode', { sub: 'a\ud800' }, 'sub is not usable'],
  ])('an id_token with %s is refused', async (_, claims, reason) => {
    await expectRefused(refusing, claims, reason);
  });

  test('is checked in real time with 30 seconds of tolerance, even if this server’s clock was moved', async () => {
    const scene = await createScene();
    scene.instance.clock.advance(3 * DAY);
    expect(await isSignedIn(scene, { exp: NOW - 29 })).toBe(true);
    expect(await isSignedIn(scene, { iat: NOW + 29 })).toBe(true);
    expect(await isSignedIn(scene, { iat: NOW - 600 })).toBe(true);
    expect(await isSignedIn(scene, { aud: ['gatehouse'] })).toBe(true);
    expect(await isSignedIn(scene, { aud: ['gatehouse', 'other'], azp: 'gatehouse' })).toBe(true);
    expect(await isSignedIn(scene, { sub: 'x'.repeat(255), email: 'x@example.com' })).toBe(true);
  });

  test('an id_token without a signature is refused', async () => {
    const scene = await createScene();
    scene.provider.sign = async (claims) => new UnsecuredJWT(claims).encode();
    await expectRefused(scene, {}, ALGORITHM_REFUSED);
    for (const header of ['{"alg":"none"}', '{"alg":"None"}', '{"alg":""}', '{}']) {
      scene.provider.sign = async (claims) =>
        `${Buffer.from(header).toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
      await expectRefused(scene, {}, ALGORITHM_REFUSED);
    }
  });

  test('signed with the public key as a shared secret is refused', async () => {
    const scene = await createScene();
    const jwk = scene.provider.publicKey();
    const spki = await exportSPKI((await importJWK(jwk, 'RS256', { extractable: true })) as CryptoKey);
    for (const secret of [spki, JSON.stringify(jwk), jwk.n!, '']) {
      scene.provider.sign = async (claims) => {
        const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const signed = `${encode({ alg: 'HS256', kid: jwk.kid })}.${encode(claims)}`;
        const mac = new Bun.CryptoHasher('sha256', secret).update(signed).digest('base64url');
        return `${signed}.${mac}`;
      };
      await expectRefused(scene, {}, ALGORITHM_REFUSED);
    }
  });

  test('an id_token with a symmetric signature is refused even if the provider publishes such algorithms', async () => {
    const scene = await createScene();
    scene.provider.metadata = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] };
    const { sign } = scene.provider;
    for (const alg of ['none', 'HS256']) {
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      scene.provider.sign = async (claims) => `${encode({ alg })}.${encode(claims)}.`;
      await expectRefused(scene, {}, 'Unsupported "alg" value for a JSON Web Key Set');
    }
    scene.provider.sign = sign;
    expect(await isSignedIn(scene, {})).toBe(true);
  });

  test('signed with a key that it contains is refused', async () => {
    const scene = await createScene();
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)) } as Record<string, unknown>;
    const header = {
      alg: 'RS256',
      kid: scene.provider.publicKey().kid!,
      jwk: jwk as never,
      jku: 'https://evil.example',
    };
    scene.provider.sign = (claims) => new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
    await expectRefused(scene, {}, 'id_token: signature verification failed');
  });

  test.each([
    ['', 'must not be empty'],
    ['x', 'Invalid JWT'],
    ['a.b', 'Invalid JWT'],
    ['a.b.c', 'failed to parse JWT Header'],
    ['a.b.c.d.e', 'JWE decryption is not configured'],
    ['{"sub":"1"}', 'Invalid JWT'],
    ['ey..', 'failed to parse JWT Header'],
  ])('an id_token of the form %j is refused', async (text, reason) => {
    const scene = await createScene();
    scene.provider.sign = async () => text;
    await expectRefused(scene, {}, reason);
  });
});

describe('the provider’s keys', () => {
  test('are fetched once, and again after ten minutes', async () => {
    const scene = await createScene();
    await Promise.all([scene.signIn(), scene.signIn(), scene.signIn()]);
    expect(scene.provider.asked).toMatchObject({ discovery: 1, keys: 1 });
    scene.instance.clock.advance(10 * MINUTE);
    expect(await isSignedIn(scene, {})).toBe(true);
    expect(scene.provider.asked).toMatchObject({ discovery: 1, keys: 2 });
    scene.instance.clock.advance(50 * MINUTE);
    expect(await isSignedIn(scene, {})).toBe(true);
    expect(scene.provider.asked).toMatchObject({ discovery: 2, keys: 3 });
  });

  test('are fetched again for a token with a new key, and the sign-in succeeds', async () => {
    const scene = await createScene();
    expect(await isSignedIn(scene, {})).toBe(true);
    await scene.provider.rotate();
    scene.instance.clock.advance(30 * SECOND);
    expect(await isSignedIn(scene, {})).toBe(true);
    expect(scene.provider.asked.keys).toBe(2);
  });

  test('are fetched at most twice a minute, however many tokens name unknown keys', async () => {
    const scene = await createScene();
    await scene.provider.rotate(false);
    for (let attempt = 0; attempt < 5; attempt += 1)
      await expectRefused(scene, {}, 'id_token: no applicable key found');
    expect(scene.provider.asked.keys).toBe(1);
    scene.instance.clock.advance(30 * SECOND);
    for (let attempt = 0; attempt < 5; attempt += 1)
      await expectRefused(scene, {}, 'id_token: no applicable key found');
    expect(scene.provider.asked.keys).toBe(2);
  });
});
