/** The exchange of authorization codes. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { COMMAND_LINE_CLIENT_ID } from '@/core/console.ts';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import * as given from '../../support/given.ts';
import { type Answer, createInstance } from '../../support/instance.ts';
import { basic } from '../oauth/scene.ts';
import { CHALLENGE, claimsIn, REDIRECT_URI, VERIFIER } from './authorization-scene.ts';
import { consoleSceneOf, createScene, sceneOf } from './scene.ts';

const errorOf = ({ status, json }: Answer) => [status, json.error];
const INVALID_GRANT = [400, 'invalid_grant'];

describe('an authorization code', () => {
  test('is exchanged for a session of the application, an ID token and a refresh token', async () => {
    const { instance, flow, verdict, clientId, application } = await createScene();
    const { person, answer, accessToken, idToken } = await flow();
    expect(answer.json).toEqual({
      access_token: expect.stringMatching(/^est_/),
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      scope: 'openid profile email roles groups offline_access',
      id_token: expect.any(String),
      refresh_token: expect.stringMatching(/^ert_/),
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await verdict(accessToken)).toBe('ok');
    expect(claimsIn(idToken)).toMatchObject({
      iss: 'http://localhost:8080',
      sub: person.userId,
      aud: clientId,
      nonce: 'n-0S6_WzA2Mj',
      email: 'ada@example.com',
      email_verified: true,
      amr: ['otp'],
    });
    const introspected = await instance.call('POST', '/api/v1/introspect', {
      token: instance.workspaceKey,
      body: { token: accessToken },
    });
    // The session id of the ID token is the one of introspection and of webhooks.
    expect(introspected.json).toMatchObject({ active: true, client_id: clientId, jti: claimsIn(idToken)['sid'] });
    expect(instance.events(application.id).filter(({ type }) => type === 'user.signed_in')).toHaveLength(2);
  });

  test('lasts as long as a sign-in at the moment of the proof would', async () => {
    const { instance, signIn, authorize, exchange } = await createScene();
    const person = await signIn('ada@example.com');
    instance.clock.advance(DAY);
    const { json } = await exchange(await authorize(person));
    expect(json.expires_in).toBe((29 * DAY) / SECOND);
    expect(claimsIn(json.id_token)['auth_time']).toBeLessThan(instance.clock.now() / SECOND);
  });

  test('records the address of the person, and never that of the client’s server', async () => {
    const { instance, signIn, authorize, exchange } = await createScene();
    instance.peer = '198.51.100.77';
    const code = await authorize(await signIn('ada@example.com'));
    instance.peer = '203.0.113.200';
    const { json } = await exchange(code);
    const row = instance.sqlite.query('SELECT ip FROM sessions WHERE id = ?');
    expect(row.get(String(claimsIn(json.id_token)['sid']))).toEqual({ ip: '198.51.100.77' });
  });

  test('gives no ID token without the scope openid, and no refresh token without offline_access', async () => {
    const { flow } = await createScene();
    const { answer } = await flow('ada@example.com', { scope: '' });
    expect(Object.keys(answer.json).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type']);
    const second = await flow('ada@example.com', { scope: 'openid', nonce: null });
    expect(Object.keys(second.answer.json).sort()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'scope',
      'token_type',
    ]);
    expect(claimsIn(second.idToken)).not.toHaveProperty('nonce');
  });

  test('is stored as a hash, as are the tokens that it gives', async () => {
    const { instance, signIn, authorize, exchange } = await createScene();
    const code = await authorize(await signIn('ada@example.com'));
    const { json } = await exchange(code);
    for (const table of [
      'oauth_codes',
      'oauth_grants',
      'oauth_refresh_tokens',
      'sessions',
      'audit_records',
      'events',
    ]) {
      const rows = JSON.stringify(instance.sqlite.query(`SELECT * FROM ${table}`).all());
      for (const secret of [code, json.access_token, json.refresh_token]) expect(rows).not.toContain(secret);
    }
    for (const line of instance.logLines) expect(line).not.toContain(code);
  });

  test.each([
    ['another redirect URI', { redirect_uri: `${REDIRECT_URI}/` }],
    ['no redirect URI', { redirect_uri: '' }],
    ['another verifier', { code_verifier: `${VERIFIER}x` }],
    ['no verifier', { code_verifier: '' }],
    ['the challenge as its verifier', { code_verifier: CHALLENGE }],
  ])('is refused with %s, and used up', async (_, fields) => {
    const { signIn, authorize, exchange } = await createScene();
    const code = await authorize(await signIn('ada@example.com'));
    expect(errorOf(await exchange(code, fields))).toEqual(INVALID_GRANT);
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
  });

  test('is refused to another client, and used up', async () => {
    const scene = await createScene();
    const other = await sceneOf(scene.instance, await scene.instance.createApplication({ name: 'Other' }));
    const code = await scene.authorize(await scene.signIn('ada@example.com'));
    expect(errorOf(await other.exchange(code))).toEqual(INVALID_GRANT);
    expect(errorOf(await scene.exchange(code))).toEqual(INVALID_GRANT);
  });

  test('is good for a minute', async () => {
    const { instance, signIn, authorize, exchange } = await createScene();
    const person = await signIn('ada@example.com');
    const [early, late] = [await authorize(person), await authorize(person)];
    instance.clock.advance(MINUTE - 1);
    expect((await exchange(early)).status).toBe(200);
    instance.clock.advance(1);
    expect(errorOf(await exchange(late))).toEqual(INVALID_GRANT);
  });

  test('is refused if it was never issued, or is no code at all', async () => {
    const { exchange } = await createScene();
    for (const code of [mintSecret('authorizationCode', systemRandom), 'nonsense', mintSecret('session', systemRandom)])
      expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
  });

  test('ends the session that it gave when its client uses it again, and says so in the activity', async () => {
    const scene = await createScene();
    const { instance, signIn, authorize, exchange, verdict, refresh } = scene;
    const code = await authorize(await signIn('ada@example.com'));
    const { json } = await exchange(code);
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
    expect(await verdict(json.access_token)).toBe('revoked');
    expect(errorOf(await refresh(json.refresh_token))).toEqual(INVALID_GRANT);
    await exchange(code);
    expect(instance.auditKinds(scene.application.id).filter((kind) => kind === 'signin.code_replayed')).toHaveLength(1);
    expect(instance.events(scene.application.id).at(-1)).toMatchObject({
      type: 'user.session_revoked',
      data: { reason: 'code_replayed' },
    });
  });

  test('leaves the session alone when another client replays it', async () => {
    const scene = await createScene();
    const other = await sceneOf(scene.instance, await scene.instance.createApplication({ name: 'Other' }));
    const code = await scene.authorize(await scene.signIn('ada@example.com'));
    const { json } = await scene.exchange(code);
    expect(errorOf(await other.exchange(code))).toEqual(INVALID_GRANT);
    expect(await scene.verdict(json.access_token)).toBe('ok');
  });

  test('gives at most one session to concurrent exchanges', async () => {
    const { instance, signIn, authorize, exchange } = await createScene();
    const person = await signIn('ada@example.com');
    const code = await authorize(person);
    const answers = await Promise.all([exchange(code), exchange(code), exchange(code)]);
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const grants = instance.sqlite.query('SELECT count(*) AS n FROM oauth_grants').get() as { n: number };
    expect(grants.n).toBe(1);
  });

  test('is void once the person has signed out of the pages, even if an application has their token', async () => {
    const { signIn, authorize, exchange, application } = await createScene();
    const person = await signIn('ada@example.com', 'sign-in');
    const code = await authorize(person);
    await person.browser.signOut(application);
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
  });

  test.each(['ban', 'pause'] as const)('is void after a %s', async (act) => {
    const { instance, application, signIn, authorize, exchange } = await createScene();
    const person = await signIn('ada@example.com');
    const code = await authorize(person);
    await instance.services.users.act(SYSTEM_ACTOR, application, person.userId, act);
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
  });

  test('is void where the method of the sign-in is switched off since, and the answer says why', async () => {
    const { instance, application, signIn, authorize, exchange } = await createScene();
    const code = await authorize(await signIn('ada@example.com'));
    await given.application(instance, application.id, { signinMethods: ['passkey'] });
    const answer = await exchange(code);
    expect(errorOf(answer)).toEqual(INVALID_GRANT);
    expect(instance.auditKinds(application.id)).toContain('signin.refused');
  });

  test('is void where sessions last too short by now', async () => {
    const { instance, application, signIn, authorize, exchange } = await createScene();
    const person = await signIn('ada@example.com');
    instance.clock.advance(DAY);
    const code = await authorize(person);
    await given.application(instance, application.id, { sessionTtlSeconds: 300 });
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
  });

  test('is refused to the client of an archived application', async () => {
    const { instance, application, signIn, authorize, exchange } = await createScene();
    const code = await authorize(await signIn('ada@example.com'));
    await given.application(instance, application.id, { archivedAt: instance.clock.now() });
    expect(errorOf(await exchange(code))).toEqual([401, 'invalid_client']);
  });
});

describe('the token endpoint', () => {
  test.each([
    ['without a grant type', { code: 'eac_x' }, 'invalid_request', 'grant_type'],
    ['with an empty grant type', { grant_type: '' }, 'invalid_request', 'grant_type'],
    ['with an unknown grant type', { grant_type: 'password' }, 'unsupported_grant_type', null],
    ['without a code', { grant_type: 'authorization_code' }, 'invalid_request', 'code'],
    ['without a refresh token', { grant_type: 'refresh_token' }, 'invalid_request', 'refresh_token'],
  ] as [string, Record<string, string>, string, string | null][])(
    'refuses a request %s',
    async (_, fields, error, field) => {
      const { token } = await createScene();
      const { status, json } = await token(fields);
      expect([status, json.error]).toEqual([400, error]);
      if (field !== null) expect(json.error_description).toStartWith(`${field}: `);
    },
  );

  test('may be called from pages of any origin, and by GET not at all', async () => {
    const { instance, token, shown } = await createScene();
    const answer = await token({ grant_type: 'password' }, { ...basic(shown), origin: 'https://app.example.com' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect((await instance.call('GET', '/oauth/token')).status).toBe(405);
  });

  test('redeems a device code, as the device endpoint does', async () => {
    const { instance, token, clientId } = await createScene();
    const ada = await instance.signIn(clientId, 'ada@example.com');
    const { json: codes } = await instance.call('POST', '/api/v1/device/code', { body: { client_id: clientId } });
    const fields = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: codes.device_code,
      client_id: clientId,
    };
    expect(errorOf(await token(fields, {}))).toEqual([400, 'authorization_pending']);
    for (const path of ['', '/approve'])
      await instance.call(
        path === '' ? 'GET' : 'POST',
        `/api/account/device${path || `?user_code=${codes.user_code}`}`,
        {
          token: ada.token,
          ...(path !== '' && { body: { user_code: codes.user_code } }),
        },
      );
    instance.clock.advance(MINUTE);
    const { status, json } = await token(fields, {});
    expect([status, json]).toEqual([200, { access_token: expect.stringMatching(/^eak_/), token_type: 'Bearer' }]);
  });
});

describe('a code of a console client', () => {
  test('is exchanged for a personal key that manages as its person does', async () => {
    const instance = await createInstance();
    const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const owner = await signIn('owner@example.com');
    const answer = await exchange(await issueCodeDirectly(owner));
    expect([answer.status, answer.json]).toEqual([
      200,
      { access_token: expect.stringMatching(/^eak_/), token_type: 'Bearer' },
    ]);
    expect((await instance.call('GET', '/api/applications', { token: answer.json.access_token })).status).toBe(200);
    expect(instance.auditKinds()).toContain('apikey.created');
  });

  test.each([
    ['Command line on laptop', 'Command line on laptop'],
    [undefined, 'Gatehouse command line'],
  ])('names the key of the command line by the machine: %p', async (given, name) => {
    const instance = await createInstance();
    const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const code = await issueCodeDirectly(await signIn('owner@example.com'));
    const { json } = await exchange(code, given === undefined ? {} : { device_name: given });
    const me = await instance.call('GET', '/api/me', { token: json.access_token });
    expect(me.json.data.key.name).toBe(name);
  });

  test('is refused with a name that is no line, and stays unused', async () => {
    const instance = await createInstance();
    const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const code = await issueCodeDirectly(await signIn('owner@example.com'));
    const { status, json } = await exchange(code, { device_name: 'two\nlines' });
    expect([status, json.error]).toEqual([400, 'invalid_request']);
    expect((await exchange(code)).status).toBe(200);
  });

  test('ends the key when it is used again', async () => {
    const instance = await createInstance();
    const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const code = await issueCodeDirectly(await signIn('owner@example.com'));
    const { json } = await exchange(code);
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
    expect((await instance.call('GET', '/api/applications', { token: json.access_token })).status).toBe(401);
    expect(instance.auditKinds()).toEqual(expect.arrayContaining(['device.revoked', 'signin.code_replayed']));
  });

  test('is void once the session of the console has ended', async () => {
    const instance = await createInstance();
    const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const owner = await signIn('owner@example.com');
    const code = await issueCodeDirectly(owner);
    const { sessions } = instance.services;
    const applicationId = instance.services.workspaces.consoleId();
    await sessions.signOut({ userId: owner.userId, applicationId, sessionId: owner.pageSessionId }, SYSTEM_ACTOR);
    expect(errorOf(await exchange(code))).toEqual(INVALID_GRANT);
  });
});
