/** Signing keys: made once, shared by all instances, replaced ahead of their end, and never confused. */
import { describe, expect, test } from 'bun:test';
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTHeaderParameters,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { adjustableClock, DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { instanceKey } from '@/core/instance-key.ts';
import { systemRandom } from '@/core/random.ts';
import { KEY_LIFETIME_MS, rotationJob, type SigningKeys, signingKeyService } from '@/modules/openid/keys.ts';
import { openBeside, openTestDatabase } from '../../support/database.ts';
import { ENGINE } from '../../support/engine.ts';
import { createInstance, START } from '../../support/instance.ts';

const ISSUER = 'https://auth.example.com';
const ALGORITHMS = ['RS256', 'EdDSA'] as const;

async function createScene() {
  const clock = adjustableClock({ now: () => START });
  const { db, sqlite, path } = await openTestDatabase(clock);
  const own = instanceKey(systemRandom.bytes(32));
  const keys = signingKeyService({ db, clock, instanceKey: own, baseUrl: () => ISSUER });
  const rows = () =>
    sqlite.query('SELECT id, alg, sealed_private_jwk FROM signing_keys ORDER BY id').all() as {
      id: string;
      alg: string;
      sealed_private_jwk: string;
    }[];
  /** Another instance on the database; on PostgreSQL with connections of its own. */
  async function sibling({ key = own, issuer = ISSUER } = {}): Promise<SigningKeys> {
    const beside = ENGINE === 'postgres' ? await openBeside(path, clock) : db;
    return signingKeyService({ db: beside, clock, instanceKey: key, baseUrl: () => issuer });
  }
  return { clock, keys, rows, sibling };
}

/** Verifies as a client does: with the published keys. @returns the id of the key. */
async function verified(token: string, keys: SigningKeys): Promise<string | undefined> {
  const { protectedHeader } = await jwtVerify(token, createLocalJWKSet((await keys.jwks()) as JSONWebKeySet), {
    issuer: ISSUER,
    currentDate: new Date(START),
  });
  return protectedHeader.kid;
}

const published = async (keys: SigningKeys, alg: string) =>
  (await keys.jwks()).keys.filter((key) => key.alg === alg).map(({ kid }) => kid);

describe.each(ALGORITHMS)('a token signed by %s', (alg) => {
  test('verifies with the published keys, and says its type, its key and who issued it', async () => {
    const { keys } = await createScene();
    const token = await keys.sign(alg, 'JWT', { sub: 'usr_1', iss: 'https://evil.example' });
    const [kid] = await published(keys, alg);
    expect(decodeProtectedHeader(token)).toEqual({ alg, typ: 'JWT', kid });
    expect(await verified(token, keys)).toBe(kid);
    expect(await keys.verifyOwn(token, 'JWT')).toEqual({ sub: 'usr_1', iss: ISSUER });
  });

  test('of one instance verifies at another, which signs with the same key', async () => {
    const { keys, sibling, rows } = await createScene();
    const other = await sibling();
    const [first, second] = [await keys.sign(alg, 'JWT', {}), await other.sign(alg, 'JWT', {})];
    expect(await verified(first, other)).toBe(await verified(second, keys));
    expect(await other.verifyOwn(first, 'JWT')).not.toBeNull();
    expect(rows()).toHaveLength(2);
  });

  test('needs the key of this instance: with another one nothing is signed, and no key is made', async () => {
    const { keys, sibling, rows } = await createScene();
    await keys.sign(alg, 'JWT', {});
    const stranger = await sibling({ key: instanceKey(systemRandom.bytes(32)) });
    await expect(stranger.sign(alg, 'JWT', {})).rejects.toThrow();
    expect(rows()).toHaveLength(1);
  });
});

describe('the keys', () => {
  test('are made once, however many calls and instances need the first', async () => {
    const { keys, sibling, rows } = await createScene();
    const other = await sibling();
    const tokens = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        (at % 2 === 0 ? keys : other).sign(ALGORITHMS[at % 3 === 0 ? 0 : 1], 'JWT', {}),
      ),
    );
    await Promise.all([keys.jwks(), other.jwks(), keys.jwks()]);
    expect(
      rows()
        .map((row) => row.alg)
        .sort(),
    ).toEqual(['EdDSA', 'RS256']);
    const ids = new Set(tokens.map((token) => decodeProtectedHeader(token).kid));
    expect([...ids].sort()).toEqual(rows().map(({ id }) => id));
  });

  test('do not exist before somebody needs them', async () => {
    const { keys, rows } = await createScene();
    await keys.rotate();
    expect(await keys.verifyOwn('nonsense', 'JWT')).toBeNull();
    expect(rows()).toEqual([]);
  });

  test('are stored sealed', async () => {
    const { keys, rows } = await createScene();
    await keys.jwks();
    for (const { sealed_private_jwk: sealed } of rows())
      expect(decodeProtectedHeader(sealed)).toMatchObject({ enc: 'A256GCM', typ: 'signing key' });
  });

  test('are found by an instance whose clock is behind, which makes none of its own', async () => {
    const { db } = await openTestDatabase({ now: () => START });
    const own = instanceKey(systemRandom.bytes(32));
    const at = (now: number) =>
      signingKeyService({ db, clock: { now: () => now }, instanceKey: own, baseUrl: () => ISSUER });
    const token = await at(START).sign('EdDSA', 'JWT', {});
    const late = await at(START - HOUR).sign('EdDSA', 'JWT', {});
    expect(decodeProtectedHeader(late).kid).toBe(decodeProtectedHeader(token).kid);
  });
});

describe('a rotation', () => {
  test('publishes the successor before it signs, and the predecessor until its tokens have expired', async () => {
    const { clock, keys } = await createScene();
    const old = await keys.sign('RS256', 'JWT', { sub: 'usr_1' });
    const [first] = await published(keys, 'RS256');

    clock.advance(KEY_LIFETIME_MS - 2 * DAY - 1);
    await keys.rotate();
    expect(await published(keys, 'RS256')).toEqual([first!]);

    clock.advance(1);
    await keys.rotate();
    const listed = await published(keys, 'RS256');
    expect(listed).toHaveLength(2);
    const next = listed.find((kid) => kid !== first);
    expect(await verified(await keys.sign('RS256', 'JWT', {}), keys)).toBe(first);

    clock.advance(2 * DAY - 1);
    const last = await keys.sign('RS256', 'JWT', {});
    expect(await verified(last, keys)).toBe(first);

    clock.advance(1);
    expect(await verified(await keys.sign('RS256', 'JWT', {}), keys)).toBe(next);
    expect(await verified(last, keys)).toBe(first);

    clock.advance(DAY);
    expect(await published(keys, 'RS256')).toEqual([next!]);
    expect(await keys.verifyOwn(old, 'JWT')).toMatchObject({ sub: 'usr_1' });
  });

  test('makes one successor for each algorithm, at however many instances it runs', async () => {
    const { clock, keys, sibling, rows } = await createScene();
    const other = await sibling();
    await keys.jwks();
    clock.advance(KEY_LIFETIME_MS - DAY);
    await Promise.all([keys.rotate(), other.rotate(), keys.rotate()]);
    await other.rotate();
    expect(rows()).toHaveLength(4);
  });

  test('changes the key at all instances at once', async () => {
    const { clock, keys, sibling } = await createScene();
    const other = await sibling();
    await keys.sign('EdDSA', 'JWT', {});
    await other.sign('EdDSA', 'JWT', {});
    for (let days = 0; days < 200; days += 1) {
      clock.advance(DAY);
      await other.rotate();
      const [here, there] = [await keys.sign('EdDSA', 'JWT', {}), await other.sign('EdDSA', 'JWT', {})];
      expect(decodeProtectedHeader(here).kid).toBe(decodeProtectedHeader(there).kid);
    }
    expect(await published(keys, 'EdDSA')).toHaveLength(1);
  });

  test('that was missed is made up for: after a long pause a new key signs at once', async () => {
    const { clock, keys } = await createScene();
    const [first] = [await keys.sign('EdDSA', 'JWT', {})].map((token) => decodeProtectedHeader(token).kid);
    clock.advance(3 * KEY_LIFETIME_MS);
    const token = await keys.sign('EdDSA', 'JWT', {});
    expect(await verified(token, keys)).not.toBe(first);
    expect(await published(keys, 'EdDSA')).toHaveLength(1);
  });

  test('runs as a job of one instance at a time', async () => {
    const { clock, keys, rows } = await createScene();
    const job = rotationJob(keys);
    expect([job.isExclusive, job.everyMs]).toEqual([true, HOUR]);
    await keys.jwks();
    clock.advance(KEY_LIFETIME_MS - DAY);
    await job.runOnce();
    expect(rows()).toHaveLength(4);
  });

  test('is among the jobs of a server', async () => {
    const instance = await createInstance();
    const kids = async () =>
      (await instance.call('GET', '/.well-known/jwks.json')).json.keys.map(({ kid }: { kid: string }) => kid);
    const before: string[] = await kids();
    instance.clock.advance(KEY_LIFETIME_MS - DAY);
    await instance.services.scheduler.runAll();
    const after: string[] = await kids();
    expect(after).toHaveLength(4);
    expect(after).toEqual(expect.arrayContaining(before));
  });
});

describe('a token that we did not issue so', () => {
  const CLAIMS = { iss: ISSUER, sub: 'usr_1', aud: 'cli_1' };

  async function createAttack() {
    const scene = await createScene();
    const { keys } = scene;
    const own = await keys.sign('RS256', 'JWT', CLAIMS);
    const set = (await keys.jwks()).keys;
    const key = (alg: string): JWK => set.find((one) => one.alg === alg) as JWK;
    const refused = async (token: string) => expect(await keys.verifyOwn(token, 'JWT')).toBeNull();
    return { ...scene, own, key, refused };
  }

  const signed = (header: JWTHeaderParameters, secret: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT(CLAIMS).setProtectedHeader(header).sign(secret);

  test('is refused unsigned, with or without the id of a key', async () => {
    const { own, key, refused } = await createAttack();
    const unsecured = new UnsecuredJWT(CLAIMS).encode();
    await refused(unsecured);
    const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT', kid: key('RS256').kid })).toString(
      'base64url',
    );
    await refused(`${header}.${unsecured.split('.')[1]}.`);
    await refused(`${header}.${unsecured.split('.')[1]}.${own.split('.')[2]}`);
    await refused(own.split('.').slice(0, 2).join('.'));
    await refused(`${own.split('.').slice(0, 2).join('.')}.`);
  });

  test('is refused with a MAC under the public key', async () => {
    const { key, refused } = await createAttack();
    const rsa = key('RS256');
    const pem = await exportSPKI((await importJWK(rsa, 'RS256')) as CryptoKey);
    const header = { alg: 'HS256', typ: 'JWT', kid: rsa.kid! };
    for (const secret of [pem, pem.trim(), JSON.stringify(rsa), rsa.n!])
      await refused(await signed(header, new TextEncoder().encode(secret)));
    await refused(
      await signed({ ...header, kid: key('EdDSA').kid! }, new Uint8Array(Buffer.from(key('EdDSA').x!, 'base64url'))),
    );
  });

  test('is refused under the key of another instance, whatever id it names', async () => {
    const { key, refused } = await createAttack();
    const other = await createScene();
    await refused(await other.keys.sign('RS256', 'JWT', CLAIMS));
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const kid = key('RS256').kid!;
    await refused(await signed({ alg: 'RS256', typ: 'JWT', kid }, privateKey));
    const jwk = await exportJWK(publicKey);
    await refused(await signed({ alg: 'RS256', typ: 'JWT', kid, jwk }, privateKey));
    await refused(await signed({ alg: 'RS256', typ: 'JWT', jwk }, privateKey));
    await refused(await signed({ alg: 'PS256', typ: 'JWT', kid }, (await generateKeyPair('PS256')).privateKey));
  });

  test('is refused as another type, both ways', async () => {
    const { keys } = await createScene();
    const [id, logout] = [await keys.sign('EdDSA', 'JWT', CLAIMS), await keys.sign('EdDSA', 'logout+jwt', CLAIMS)];
    expect([await keys.verifyOwn(id, 'JWT'), await keys.verifyOwn(logout, 'logout+jwt')]).toEqual([CLAIMS, CLAIMS]);
    expect([await keys.verifyOwn(logout, 'JWT'), await keys.verifyOwn(id, 'logout+jwt')]).toEqual([null, null]);
  });

  test('is refused with the address of a copy of this instance, which has the same keys', async () => {
    const { sibling, own } = await createAttack();
    const copy = await sibling({ issuer: 'https://staging.example.com' });
    expect(await copy.verifyOwn(own, 'JWT')).toBeNull();
  });

  test('is refused if a single part was changed', async () => {
    const { own, key, refused } = await createAttack();
    const [header, , signature] = own.split('.');
    const changed = Buffer.from(JSON.stringify({ ...CLAIMS, sub: 'usr_2' })).toString('base64url');
    await refused(`${header}.${changed}.${signature}`);
    const renamed = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'JWT', kid: key('EdDSA').kid })).toString(
      'base64url',
    );
    await refused(`${renamed}.${own.split('.')[1]}.${signature}`);
  });

  test('is refused as any other text', async () => {
    const { refused, own } = await createAttack();
    const kid = (value: unknown) => Buffer.from(JSON.stringify({ alg: 'RS256', kid: value })).toString('base64url');
    const texts = ['', '.', '..', 'a.b.c', 'est_1', `${own}.${own}`, `${kid(1)}.e30.AA`, `${kid(null)}.e30.AA`];
    for (const text of [...texts, `${kid({})}.e30.AA`, `${kid("' OR 1=1")}.e30.AA`, `${kid('a\0b')}.e30.AA`])
      await refused(text);
  });

  test('is accepted however old it is: its end is the caller’s decision', async () => {
    const { keys, clock } = await createScene();
    const claims = { ...CLAIMS, iat: START / SECOND, exp: (START + MINUTE) / SECOND };
    const token = await keys.sign('EdDSA', 'JWT', claims);
    clock.advance(300 * DAY);
    expect(await keys.verifyOwn(token, 'JWT')).toEqual(claims);
  });
});
