/** ID tokens and logout tokens, as a client reads them. */
import { describe, expect, test } from 'bun:test';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { adjustableClock, DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { instanceKey } from '@/core/instance-key.ts';
import { systemRandom } from '@/core/random.ts';
import { atHash } from '@/modules/openid/claims.ts';
import { type IdTokenInput, openIdTokens } from '@/modules/openid/id-token.ts';
import { signingKeyService } from '@/modules/openid/keys.ts';
import { openTestDatabase } from '../../support/database.ts';
import { START } from '../../support/instance.ts';

const ISSUER = 'https://auth.example.com';
const ENVELOPE = { email: 'ada@example.com' } as IdTokenInput['subject']['envelope'];

async function createScene() {
  const clock = adjustableClock({ now: () => START });
  const { db } = await openTestDatabase(clock);
  const own = instanceKey(systemRandom.bytes(32));
  const keys = signingKeyService({ db, clock, instanceKey: own, baseUrl: () => ISSUER });
  const { idToken, logoutToken } = openIdTokens({ keys, clock });

  const sign = (changes: Partial<IdTokenInput> = {}) =>
    idToken({
      client: { clientId: 'cli_1', alg: 'EdDSA' },
      subject: { userId: 'usr_1', profileUserId: null, envelope: ENVELOPE },
      user: { emailVerifiedAt: START, locale: null, timezone: null },
      session: { id: 'ses_1', method: 'passkey', authenticatedAt: clock.now() - MINUTE, createdAt: clock.now() },
      nonce: 'n-1',
      accessToken: 'est_token',
      scope: 'openid',
      ...changes,
    });
  /** Checks a token with the published keys, at the time that the client's own clock shows. */
  async function read(token: string, at = START) {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      createLocalJWKSet((await keys.jwks()) as JSONWebKeySet),
      { issuer: ISSUER, audience: 'cli_1', currentDate: new Date(at) },
    );
    return { payload, typ: protectedHeader.typ, alg: protectedHeader.alg };
  }
  return { clock, keys, sign, read, logoutToken };
}

describe('an ID token', () => {
  test('tells the client who signed in, when and how, in which session', async () => {
    const { sign, read } = await createScene();
    expect(await read(await sign())).toEqual({
      typ: 'JWT',
      alg: 'EdDSA',
      payload: {
        iss: ISSUER,
        sub: 'usr_1',
        aud: 'cli_1',
        iat: START / SECOND,
        exp: (START + 5 * MINUTE) / SECOND,
        auth_time: (START - MINUTE) / SECOND,
        nonce: 'n-1',
        at_hash: atHash('EdDSA', 'est_token'),
        sid: 'ses_1',
        amr: ['pop', 'mfa'],
        acr: 'phr',
      },
    });
  });

  test('has the algorithm of its client, also in at_hash', async () => {
    const { sign, read } = await createScene();
    const { alg, payload } = await read(await sign({ client: { clientId: 'cli_1', alg: 'RS256' } }));
    expect([alg, payload['at_hash']]).toEqual(['RS256', atHash('RS256', 'est_token')]);
  });

  test('leaves out a nonce that was not sent, and methods that we do not know', async () => {
    const { sign, read, clock } = await createScene();
    const session = { id: 'ses_1', method: 'provider', authenticatedAt: null, createdAt: clock.now() };
    const { payload } = await read(await sign({ nonce: null, session }));
    expect(Object.keys(payload).sort()).toEqual(['at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'sid', 'sub']);
    expect(payload['auth_time']).toBe(START / SECOND);
  });

  test('returns the nonce as it was, and has the claims of the granted scope', async () => {
    const { sign, read } = await createScene();
    const nonce = '"}\\ü\u{1f511} %20+';
    const { payload } = await read(await sign({ nonce, scope: 'openid email' }));
    expect(payload).toMatchObject({ nonce, email: 'ada@example.com', email_verified: true });
  });

  test('has real times where this instance’s clock was moved, and the right age of the sign-in', async () => {
    const { sign, read, clock } = await createScene();
    clock.advance(10 * DAY);
    const session = { id: 'ses_1', method: 'otp', authenticatedAt: clock.now() - HOUR, createdAt: clock.now() };
    const { payload } = await read(await sign({ session }));
    expect([payload.iat, payload['auth_time']]).toEqual([START / SECOND, (START - HOUR) / SECOND]);
  });

  test('has expired after five minutes', async () => {
    const { sign, read } = await createScene();
    const token = await sign();
    await read(token, START + 5 * MINUTE - SECOND);
    await expect(read(token, START + 5 * MINUTE)).rejects.toThrow('exp');
  });
});

describe('a logout token', () => {
  const INPUT = {
    client: { clientId: 'cli_1', alg: 'RS256' },
    userId: 'usr_1',
    sessionId: 'ses_1',
    jti: 'dlv_1.1',
  } as const;

  test('names the person and the session, and is none of the other tokens (Back-Channel Logout 1.0 §2.4)', async () => {
    const { logoutToken, read } = await createScene();
    const { typ, alg, payload } = await read(await logoutToken(INPUT));
    expect([typ, alg]).toEqual(['logout+jwt', 'RS256']);
    // A nonce is forbidden: it would let the token pass as an ID token.
    expect(payload).toEqual({
      iss: ISSUER,
      sub: 'usr_1',
      aud: 'cli_1',
      iat: START / SECOND,
      exp: (START + 2 * MINUTE) / SECOND,
      jti: 'dlv_1.1',
      sid: 'ses_1',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
  });

  test('is no hint of whom to sign out here', async () => {
    const { logoutToken, keys, sign } = await createScene();
    expect(await keys.verifyOwn(await logoutToken(INPUT), 'JWT')).toBeNull();
    expect(await keys.verifyOwn(await sign(), 'JWT')).toMatchObject({ sub: 'usr_1', sid: 'ses_1', aud: 'cli_1' });
  });
});
