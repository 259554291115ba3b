/** Authentication of clients at the token endpoint. A client that is let in is refused its made-up code alone. */
import { describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { MINUTE, SECOND } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import type { Answer } from '../../support/instance.ts';
import { basic, sendForm } from '../oauth/scene.ts';
import { createScene, type Scene, sceneOf, TOKEN } from './scene.ts';

const CODE = { grant_type: 'authorization_code', code: 'eac_made_up' };
const ISSUER = 'http://localhost:8080';
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const outcomeOf = ({ status, json, headers }: Answer) => [status, json.error, headers.get('www-authenticate')];
const LET_IN = [400, 'invalid_grant', null];
const REFUSED_IN_HEADER = [401, 'invalid_client', 'Basic realm="gatehouse"'];
const REFUSED = [400, 'invalid_client', null];

describe('a confidential client', () => {
  test('is authenticated by its secret, in a header or in the form', async () => {
    const { token, shown } = await createScene();
    expect(outcomeOf(await token(CODE, basic(shown)))).toEqual(LET_IN);
    const fields = { ...CODE, client_id: shown.clientId, client_secret: shown.secret };
    expect(outcomeOf(await token(fields, {}))).toEqual(LET_IN);
  });

  test('is refused with a wrong secret, with an empty one, and with none', async () => {
    const { token, shown } = await createScene();
    const { clientId } = shown;
    for (const secret of [mintSecret('clientSecret', systemRandom), 'guess', ''])
      expect(outcomeOf(await token(CODE, basic({ clientId, secret })))).toEqual(REFUSED_IN_HEADER);
    expect(outcomeOf(await token({ ...CODE, client_id: clientId, client_secret: 'guess' }, {}))).toEqual(REFUSED);
    expect(outcomeOf(await token({ ...CODE, client_id: clientId }, {}))).toEqual(REFUSED);
  });

  test('gives one credential, and names one client', async () => {
    const { token, shown } = await createScene();
    for (const fields of [
      { client_secret: shown.secret },
      { client_id: 'cli_another' },
      { client_assertion_type: ASSERTION_TYPE, client_assertion: 'x.y.z' },
    ] as Record<string, string>[]) {
      const { status, json } = await token({ ...CODE, ...fields }, basic(shown));
      expect([status, json.error]).toEqual([400, 'invalid_request']);
    }
  });

  test('is unknown until its application has set OpenID up', async () => {
    const { instance, token } = await createScene();
    const bare = await instance.createApplication({ name: 'Without OpenID' });
    const { json } = await instance.call('POST', `/api/applications/${bare.id}/rotate-secret`, {
      token: instance.workspaceKey,
    });
    const shown = { clientId: bare.clientId, secret: json.data.clientSecret };
    expect(outcomeOf(await token(CODE, basic(shown)))).toEqual(REFUSED_IN_HEADER);
  });

  test('is refused with any other scheme of the header', async () => {
    const { instance, token, shown } = await createScene();
    for (const authorization of [
      `Digest ${shown.secret}`,
      'Basic',
      `Basic ${btoa('no colon')}`,
      `Bearer ${instance.workspaceKey}`,
    ])
      expect(outcomeOf(await token({ ...CODE, client_id: shown.clientId }, { authorization }))).toEqual(
        REFUSED_IN_HEADER,
      );
  });
});

describe('a public client', () => {
  test('says only who it is, also by an empty secret', async () => {
    const { token, configure, clientId } = await createScene();
    await configure({ clientType: 'public' });
    expect(outcomeOf(await token({ ...CODE, client_id: clientId }, {}))).toEqual(LET_IN);
    expect(outcomeOf(await token(CODE, basic({ clientId, secret: '' })))).toEqual(LET_IN);
  });

  test('is refused with a secret, right or wrong', async () => {
    const { token, configure, shown } = await createScene();
    await configure({ clientType: 'public' });
    expect(outcomeOf(await token(CODE, basic(shown)))).toEqual(REFUSED_IN_HEADER);
    expect(outcomeOf(await token({ ...CODE, client_id: shown.clientId, client_secret: shown.secret }, {}))).toEqual(
      REFUSED,
    );
  });

  test('is refused if it is unknown', async () => {
    const { token } = await createScene();
    expect(outcomeOf(await token({ ...CODE, client_id: 'cli_nobody' }, {}))).toEqual(REFUSED);
    expect(outcomeOf(await token(CODE, {}))).toEqual(REFUSED);
  });
});

describe('a client with a key of its own', () => {
  /** @param alg of a new key pair whose public key the client registers. */
  async function withKey(scene: Scene, alg = 'ES256', kid?: string) {
    const pair = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(pair.publicKey)), ...(kid && { kid }) };
    const sign = (claims: JWTPayload = {}, header: Record<string, string> = {}) => {
      const now = Math.floor(scene.instance.clock.real() / SECOND);
      const { clientId } = scene;
      return new SignJWT({
        iss: clientId,
        sub: clientId,
        aud: ISSUER,
        exp: now + 60,
        iat: now,
        jti: crypto.randomUUID(),
        ...claims,
      })
        .setProtectedHeader({ alg, ...(kid && { kid }), ...header })
        .sign(pair.privateKey);
    };
    return { jwk, sign };
  }

  const withAssertion = async (scene: Scene, assertion: string, fields: Record<string, string> = {}) =>
    outcomeOf(
      await scene.token({ ...CODE, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion, ...fields }, {}),
    );

  test.each(['ES256', 'RS256', 'PS256', 'EdDSA'])('is authenticated by an assertion signed with %s', async (alg) => {
    const scene = await createScene();
    const { jwk, sign } = await withKey(scene, alg);
    expect((await scene.configure({ jwks: { keys: [jwk] } })).status).toBe(200);
    expect(await withAssertion(scene, await sign())).toEqual(LET_IN);
    expect(await withAssertion(scene, await sign({ aud: `${ISSUER}/oauth/token` }))).toEqual(LET_IN);
    expect(await withAssertion(scene, await sign(), { client_id: scene.clientId })).toEqual(LET_IN);
  });

  test('may have several keys, with or without ids', async () => {
    const scene = await createScene();
    const [one, other] = [await withKey(scene), await withKey(scene)];
    await scene.configure({ jwks: { keys: [one.jwk, other.jwk] } });
    expect(await withAssertion(scene, await other.sign())).toEqual(LET_IN);
    const [old, young] = [await withKey(scene, 'ES256', 'old'), await withKey(scene, 'ES256', 'young')];
    await scene.configure({ jwks: { keys: [old.jwk, young.jwk] } });
    expect(await withAssertion(scene, await young.sign())).toEqual(LET_IN);
    expect(await withAssertion(scene, await one.sign())).toEqual(REFUSED);
  });

  test('is refused with its secret, and without any credential', async () => {
    const scene = await createScene();
    const { jwk } = await withKey(scene);
    await scene.configure({ jwks: { keys: [jwk] } });
    expect(outcomeOf(await scene.token(CODE, basic(scene.shown)))).toEqual(REFUSED_IN_HEADER);
    expect(outcomeOf(await scene.token({ ...CODE, client_id: scene.clientId }, {}))).toEqual(REFUSED);
  });

  test('is refused with an assertion for somebody else, an old one, a long one, and one without an id', async () => {
    const scene = await createScene();
    const { jwk, sign } = await withKey(scene);
    await scene.configure({ jwks: { keys: [jwk] } });
    const now = Math.floor(scene.instance.clock.real() / SECOND);
    expect(await withAssertion(scene, await sign())).toEqual(LET_IN);
    for (const claims of [
      { aud: 'https://elsewhere.example' },
      { iss: 'cli_another' },
      { sub: 'cli_another' },
      { iss: 'cli_another', sub: 'cli_another' },
      { exp: now - MINUTE / SECOND },
      { exp: now + 3600 },
      { exp: undefined },
      { jti: undefined },
      { nbf: now + 3600 },
      // PostgreSQL compares no number with a text.
      { iss: 5, sub: 5 },
      { iss: null, sub: null },
    ] as unknown as JWTPayload[])
      expect([claims, await withAssertion(scene, await sign(claims))]).toEqual([claims, REFUSED]);
    expect(await withAssertion(scene, await sign(), { client_id: 'cli_another' })).toEqual(REFUSED);
  });

  test('is refused with another key, no signature, and a symmetric one made with the public key', async () => {
    const scene = await createScene();
    const [own, foreign] = [await withKey(scene), await withKey(scene)];
    await scene.configure({ jwks: { keys: [own.jwk] } });
    const [header, payload] = (await own.sign()).split('.');
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const symmetric = await new SignJWT(JSON.parse(Buffer.from(payload!, 'base64url').toString()))
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(JSON.stringify(own.jwk)));
    for (const assertion of [
      await foreign.sign(),
      `${part({ alg: 'none' })}.${payload}.`,
      `${header}.${payload}.`,
      symmetric,
      'nonsense',
    ])
      expect(await withAssertion(scene, assertion)).toEqual(REFUSED);
  });

  test('is refused an ID token of ours as its assertion', async () => {
    const scene = await createScene();
    const { jwk } = await withKey(scene);
    const { idToken } = await scene.flow();
    await scene.configure({ jwks: { keys: [jwk] } });
    expect(await withAssertion(scene, idToken)).toEqual(REFUSED);
  });

  test('uses an assertion once: neither it nor another one with its id comes through again, on any instance', async () => {
    const scene = await createScene();
    const { jwk, sign } = await withKey(scene);
    await scene.configure({ jwks: { keys: [jwk] } });
    const assertion = await sign({ jti: 'one' });
    expect(await withAssertion(scene, assertion)).toEqual(LET_IN);
    expect(await withAssertion(scene, assertion)).toEqual(REFUSED);
    expect(await withAssertion(scene, await sign({ jti: 'one', aud: `${ISSUER}/oauth/token` }))).toEqual(REFUSED);
    expect(await withAssertion(scene, await sign({ jti: 5 } as unknown as JWTPayload))).toEqual(REFUSED);
    const fields = { ...CODE, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion };
    const sibling = await scene.instance.sibling();
    expect(outcomeOf(await sendForm(sibling, TOKEN, fields))).toEqual(REFUSED);
    expect(await withAssertion(scene, await sign({ jti: 'other' }))).toEqual(LET_IN);
  });

  test('lets one of two concurrent uses of an assertion through', async () => {
    const scene = await createScene();
    const { jwk, sign } = await withKey(scene);
    await scene.configure({ jwks: { keys: [jwk] } });
    const assertion = await sign();
    const outcomes = await Promise.all([withAssertion(scene, assertion), withAssertion(scene, assertion)]);
    expect(outcomes.map(([, error]) => error).sort()).toEqual(['invalid_client', 'invalid_grant']);
  });

  test('shares its ids with no other client', async () => {
    const scene = await createScene();
    const other = await sceneOf(scene.instance, await scene.instance.createApplication({ name: 'Wiki' }));
    for (const one of [scene, { ...other, instance: scene.instance }] as Scene[]) {
      const { jwk, sign } = await withKey(one);
      await one.configure({ jwks: { keys: [jwk] } });
      expect(await withAssertion(one, await sign({ jti: 'one' }))).toEqual(LET_IN);
    }
  });

  test('gives the one type of assertion, with the assertion', async () => {
    const scene = await createScene();
    const { jwk, sign } = await withKey(scene);
    await scene.configure({ jwks: { keys: [jwk] } });
    const wrong = { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' };
    expect(await withAssertion(scene, await sign(), wrong)).toEqual([400, 'invalid_request', null]);
    expect(await withAssertion(scene, '')).toEqual([400, 'invalid_request', null]);
    expect(await withAssertion(scene, await sign(), { client_secret: 'x' })).toEqual([400, 'invalid_request', null]);
  });
});

describe('wrong credentials', () => {
  test('are limited by client address, and past the limit right ones are refused there too', async () => {
    const scene = await createScene({ environment: { GATEHOUSE_LIMIT_WRONG_CLIENTS_PER_MINUTE: '2' } });
    const { instance, token, shown } = scene;
    const publicOne = await sceneOf(instance, await instance.createApplication({ name: 'App' }));
    await publicOne.configure({ clientType: 'public' });
    const wrong = basic({ clientId: shown.clientId, secret: 'guess' });
    const statuses = [];
    for (const _ of [1, 2, 3]) statuses.push((await token(CODE, wrong)).status);
    expect(statuses).toEqual([401, 401, 429]);
    const locked = await token(CODE);
    expect([locked.status, locked.json.error, locked.headers.has('retry-after')]).toEqual([429, 'rate_limited', true]);
    // A public client has nothing to guess.
    expect((await token({ ...CODE, client_id: publicOne.clientId }, {})).status).toBe(400);
    instance.peer = '198.51.100.1';
    expect((await token(CODE)).status).toBe(400);
  });
});
