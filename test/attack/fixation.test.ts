/** Session fixation: nothing planted in a browser or begun in another's name becomes the other's session. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { createBrowser, fragmentOf } from '../modules/provider/browser.ts';
import { createScene, RETURN_TO } from '../modules/provider/scene.ts';
import { register, signInOptions, signInWith } from '../modules/passkeys/passkeys.ts';
import { usePasskey } from '../support/authenticator.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const OWNER = 'owner@example.com';
const VICTIM = 'victim@example.com';
const MALLORY = 'mallory@example.com';
const OWN_PAGE = { origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' };

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  return { instance, application };
}

const whoIs = async (instance: Instance, token: string) =>
  (await instance.call('POST', '/api/v1/session', { token })).json;

/** Signs in by code with the headers that an attacker has planted in the browser. */
async function signInWithHeaders(instance: Instance, clientId: string, email: string, headers: Record<string, string>) {
  const sent = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId }, headers });
  const { challengeId } = sent.json.data;
  const code = instance.codeFor(email);
  return instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code }, headers });
}

describe('a sign-in in a prepared browser', () => {
  test('a code creates a new session despite a planted cookie or bearer token, which stays separate', async () => {
    const { instance, application } = await setUp();
    const planted = await instance.signIn(application.clientId, MALLORY);
    const headers = { ...OWN_PAGE, cookie: `gatehouse=${planted.token}`, authorization: `Bearer ${planted.token}` };
    const { json } = await signInWithHeaders(instance, application.clientId, VICTIM, headers);
    expect(json.data.token).not.toBe(planted.token);
    expect(await whoIs(instance, json.data.token)).toMatchObject({ ok: true, email: VICTIM });
    expect(await whoIs(instance, planted.token)).toMatchObject({ ok: true, email: MALLORY });
  });

  test('a console sign-in overwrites the planted cookie', async () => {
    const { instance } = await setUp();
    const planted = `est_${'0'.repeat(49)}`;
    const headers = { ...OWN_PAGE, cookie: `gatehouse=${planted}` };
    const answer = await signInWithHeaders(instance, 'console', OWNER, headers);
    const written = answer.headers.getSetCookie().find((line) => line.startsWith('gatehouse='))!;
    expect(written).toStartWith(`gatehouse=${answer.json.data.token}; `);
    expect(written).not.toContain(planted);
    expect((await instance.call('GET', '/api/workspace', { headers })).status).toBe(401);
  });

  test('a passkey gives a session of its own as well', async () => {
    const { instance, application } = await setUp();
    const victim = await instance.signIn(application.clientId, VICTIM);
    const { passkey } = await register(instance, victim.token);
    const planted = await instance.signIn(application.clientId, MALLORY);
    const headers = { ...OWN_PAGE, cookie: `gatehouse=${planted.token}` };
    const { json } = await signInWith(instance, application.clientId, passkey, {}, headers);
    expect([victim.token, planted.token]).not.toContain(json.data.token);
    expect(await whoIs(instance, planted.token)).toMatchObject({ email: MALLORY });
  });

  test('https accepts no cookie that another host of the same domain could have set', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: 'https://id.example.com' } });
    const { json, headers } = await signInWithHeaders(instance, 'console', OWNER, {
      origin: 'https://id.example.com',
      'sec-fetch-site': 'same-origin',
    });
    const lines = headers.getSetCookie();
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).toStartWith('__Host-');
      expect(line).toContain('Secure');
      expect(line).toContain('Path=/');
      expect(line).not.toContain('Domain');
    }
    const { token } = json.data;
    const by = (cookie: string) => instance.call('GET', '/api/workspace', { headers: { cookie } });
    expect((await by(`gatehouse=${token}`)).status).toBe(401);
    expect((await by(`__Host-gatehouse=${token}`)).status).toBe(200);
  });
});

describe('a session token', () => {
  test('is ignored in a query, body or form, so that a link cannot plant one', async () => {
    const { instance } = await setUp();
    const { token } = await instance.signIn('console', OWNER);
    for (const name of ['token', 'access_token', 'session', 'gatehouse', 'sid'])
      expect((await instance.call('GET', `/api/account?${name}=${token}`)).status).toBe(401);
    const body = new URLSearchParams({ token, access_token: token }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await instance.call('POST', '/api/account/leave', { body, headers })).status).toBe(401);
    const page = await instance.call('GET', `/sign-in?token=${token}&gatehouse=${token}`);
    expect(page.headers.getSetCookie().join()).not.toContain(token);
    expect(page.text).not.toContain(token);
  });

  test('is not revived by a sign-in if it was signed out or never issued', async () => {
    const { instance, application } = await setUp();
    const first = await instance.signIn(application.clientId, VICTIM);
    await instance.call('DELETE', '/api/v1/session', { token: first.token });
    instance.clock.advance(MINUTE);
    const second = await instance.signIn(application.clientId, VICTIM);
    expect(second.token).not.toBe(first.token);
    expect((await whoIs(instance, first.token)).ok).toBe(false);
  });

  test('is not refreshed by a proof that the person gives in another session', async () => {
    const { instance, application } = await setUp();
    const stolen = await instance.signIn(application.clientId, VICTIM);
    instance.clock.advance(11 * MINUTE);
    const own = await instance.signIn(application.clientId, VICTIM);
    const asked = await instance.call('POST', '/api/account/proof', { token: own.token });
    const { challengeId } = asked.json.data;
    const code = instance.codeFor(VICTIM);
    // The thief cannot submit the person's proof either.
    const handedIn = await instance.call('POST', '/api/account/proof/confirm', {
      token: stolen.token,
      body: { challengeId, code },
    });
    expect(handedIn.status).toBe(400);
    const given = await instance.call('POST', '/api/account/proof/confirm', {
      token: own.token,
      body: { challengeId, code },
    });
    expect(given.status).toBe(200);
    const options = (token: string) => instance.call('POST', '/api/account/passkeys/options', { token });
    expect((await options(own.token)).status).toBe(200);
    expect((await options(stolen.token)).json.error).toBe('reauthentication_required');
  });
});

describe('a sign-in begun by another person', () => {
  test('a code gives one session, to the caller with the code; knowing the challenge gives nothing', async () => {
    const { instance, application } = await setUp();
    const { clientId } = application;
    const begun = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: VICTIM, clientId } });
    const { challengeId } = begun.json.data;
    instance.clock.advance(MINUTE);
    const own = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: VICTIM, clientId } });
    const code = instance.codeFor(VICTIM);
    const give = (id: string) => instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId: id, code } });
    expect((await give(own.json.data.challengeId)).status).toBe(200);
    for (const id of [challengeId, own.json.data.challengeId]) {
      const again = await give(id);
      expect([again.status >= 400, again.text.includes('est_')]).toEqual([true, false]);
    }
    expect(instance.sqlite.query('SELECT count(*) AS n FROM sessions').get()).toEqual({ n: 1 });
  });

  test('a challenge of one application gives no session of another', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const begun = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: VICTIM, clientId: other.clientId },
    });
    const body = { challengeId: begun.json.data.challengeId, code: instance.codeFor(VICTIM) };
    const swapped = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { ...body, clientId: application.clientId },
    });
    expect(swapped.status).toBe(400);
    const { json } = await instance.call('POST', '/api/v1/auth/otp/verify', { body });
    expect(json.data.applicationId).toBe(other.id);
  });

  test('a passkey’s answer is accepted once, so that an intercepted answer is worthless', async () => {
    const { instance, application } = await setUp();
    const { token } = await instance.signIn(application.clientId, VICTIM);
    const { passkey } = await register(instance, token);
    const { challengeId, options } = (await signInOptions(instance, application.clientId)).json.data;
    const credential = usePasskey(passkey, options);
    const give = (id: string) =>
      instance.call('POST', '/api/v1/auth/passkey/verify', { body: { challengeId: id, credential } });
    expect((await give(challengeId)).status).toBe(200);
    expect((await give(challengeId)).status).toBe(409);
    const other = (await signInOptions(instance, application.clientId)).json.data.challengeId;
    expect((await give(other)).json.error).toBe('passkey_invalid');
  });

  test('a provider flow ends only in the browser it began in: a callback sent as a link is refused', async () => {
    const scene = await createScene();
    scene.provider.claims = { sub: 'mallory', email: MALLORY };
    const query = await scene.begin();
    const victim = createBrowser(scene.instance);
    const landed = await scene.comeBack(query, victim);
    expect([landed.status, landed.headers.get('location')]).toEqual([400, null]);
    expect(landed.headers.getSetCookie()).toEqual([]);
    // The victim's own flow in the same browser does not help the attacker's.
    await victim.visit(
      `/api/auth/google/start?${new URLSearchParams({ clientId: scene.application.clientId, returnTo: RETURN_TO })}`,
    );
    expect((await scene.comeBack(query, victim)).status).toBe(400);
    expect(fragmentOf(await scene.comeBack(query))['token']).toStartWith('est_');
  });

  test('a device is approved only by a person who enters its code and confirms, as themselves', async () => {
    const { instance, application } = await setUp();
    const begun = await instance.call('POST', '/api/v1/device/code', { body: { client_id: application.clientId } });
    const { device_code } = begun.json;
    await instance.signIn(application.clientId, VICTIM);
    const poll = await instance.call('POST', '/api/v1/device/token', {
      body: {
        client_id: application.clientId,
        device_code,
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      },
    });
    expect([poll.status, poll.json.error]).toEqual([400, 'authorization_pending']);
  });
});
