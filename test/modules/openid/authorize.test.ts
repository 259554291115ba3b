/** The authorization endpoint: what it refuses, whom it takes a code for, and which page comes first. */
import { describe, expect, test } from 'bun:test';
import { COMMAND_LINE_CLIENT_ID, CONSOLE_CLIENT_ID } from '@/core/console.ts';
import { DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { pageBrowser } from '../../attack/page-browser.ts';
import * as given from '../../support/given.ts';
import type { Answer } from '../../support/instance.ts';
import { pathOf } from '../provider/browser.ts';
import { createScene as providerScene } from '../provider/scene.ts';
import {
  answerOf,
  authorizePath,
  type Changes,
  claimsIn,
  formOf,
  goOn,
  offeredAt,
  REDIRECT_URI,
  signInPageOf,
  STATE,
  submit,
} from './authorization-scene.ts';
import { consoleSceneOf, createScene, sceneOf } from './scene.ts';

const ISSUER = 'http://localhost:8080';
const DECISION = '/oauth/authorize/decision';

describe('a request that cannot be answered to its client', () => {
  const cases: [string, (path: string, clientId: string) => string, number][] = [
    ['without a client', (path) => path.replace(/client_id=[^&]*&/, ''), 404],
    ['of an unknown client', (path, clientId) => path.replace(clientId, 'nobody'), 404],
    ['that names its client twice', (path, clientId) => `${path}&client_id=${clientId}`, 404],
    ['without a redirect URI', (path) => path.replace(/redirect_uri=[^&]*&/, ''), 400],
    ['with two redirect URIs', (path) => `${path}&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`, 400],
    ['with a redirect URI below a registered one', (path) => path.replace('callback', 'callback%2Fmore'), 400],
    ['of 4,000 characters', (path) => `${path}&x=${'x'.repeat(4_000)}`, 400],
  ];
  test.each(cases)('%s is a page, and never a redirect', async (_name, change, status) => {
    const { clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    const answer = await browser.visit(change(authorizePath(clientId), clientId));
    expect([answer.status, answer.headers.get('location')]).toEqual([status, null]);
    expect(answer.headers.get('content-type')).toStartWith('text/html');
  });

  test('is that of an application that has not set OpenID up, or is archived', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    const other = await instance.createApplication({ name: 'Forum' });
    expect((await browser.visit(authorizePath(other.clientId))).status).toBe(404);
    await given.application(instance, application.id, { archivedAt: instance.clock.now() });
    const answer = await browser.visit(authorizePath(clientId));
    expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
    expect(answer.text).toContain('Shop');
  });

  test('does not take a return URL of the application, whose pages get tokens, for a redirect URI', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const body = { returnUrls: ['https://shop.example.com/in'] };
    await instance.call('PATCH', `/api/applications/${application.id}`, { token: instance.workspaceKey, body });
    const { browser } = await signIn('ada@example.com');
    const answer = await browser.visit(authorizePath(clientId, { redirect_uri: 'https://shop.example.com/in' }));
    expect(answer.status).toBe(400);
  });
});

describe('a wrong request', () => {
  const cases: [string, Changes, string][] = [
    ['without a response type', { response_type: null }, 'invalid_request'],
    ['with a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['with the address of a request object', { request_uri: 'https://a.example/r' }, 'request_uri_not_supported'],
    ['with a registration', { registration: '{}' }, 'registration_not_supported'],
    ['for a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['for the hybrid flow', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['for an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['without a code challenge', { code_challenge: null }, 'invalid_request'],
    ['with a short code challenge', { code_challenge: 'x'.repeat(42) }, 'invalid_request'],
    ['with a plain code challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a challenge method, which means plain', { code_challenge_method: null }, 'invalid_request'],
    ['with an unknown prompt', { prompt: 'create' }, 'invalid_request'],
    ['with prompt=none and another', { prompt: 'none login' }, 'invalid_request'],
    ['with a negative age', { max_age: '-1' }, 'invalid_request'],
    ['with an age in words', { max_age: 'soon' }, 'invalid_request'],
    ['with a long nonce', { nonce: 'n'.repeat(1_025) }, 'invalid_request'],
    ['with NUL in the nonce', { nonce: 'n\0' }, 'invalid_request'],
    ['for a resource', { resource: `${ISSUER}/mcp` }, 'invalid_target'],
    ['with somebody’s made-up ID token', { id_token_hint: 'e30.e30.x' }, 'invalid_request'],
  ];
  test.each(cases)('%s is answered to its client', async (_name, changes, error) => {
    const { clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    const answer = await browser.visit(authorizePath(clientId, changes));
    expect(answerOf(answer)).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x7e]+$/),
      state: STATE,
      iss: ISSUER,
    });
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('that gives a parameter twice is refused, without a state that was given twice', async () => {
    const { clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    const twice = await browser.visit(`${authorizePath(clientId)}&nonce=other`);
    expect(answerOf(twice)).toMatchObject({ error: 'invalid_request', state: STATE });
    const states = answerOf(await browser.visit(`${authorizePath(clientId)}&state=other`));
    expect(states).toEqual({ error: 'invalid_request', error_description: expect.any(String), iss: ISSUER });
    const long = answerOf(await browser.visit(authorizePath(clientId, { state: 's'.repeat(1_025) })));
    expect(long).toEqual({ error: 'invalid_request', error_description: expect.any(String), iss: ISSUER });
  });

  test('is one with the ID token of another client, or with a logout token, as a hint', async () => {
    const { instance, clientId, flow } = await createScene();
    const forum = await sceneOf(instance, await instance.createApplication({ name: 'Forum' }));
    const { idToken } = await forum.flow();
    const { person, idToken: own } = await flow();
    const answer = await person.browser.visit(authorizePath(clientId, { id_token_hint: idToken }));
    expect(answerOf(answer)).toMatchObject({ error: 'invalid_request' });
    expect(answerOf(await person.browser.visit(authorizePath(clientId, { id_token_hint: own })))).toHaveProperty(
      'code',
    );
  });

  test('is not one with unknown parameters and scopes, which are ignored', async () => {
    const { clientId, signIn, exchange } = await createScene();
    const { browser } = await signIn('ada@example.com');
    const changes = { scope: 'openid phone email nothing', display: 'popup', claims: '{"x":1}', foo: 'bar' };
    const { code = '' } = answerOf(await browser.visit(authorizePath(clientId, changes)));
    expect((await exchange(code)).json).toMatchObject({ scope: 'openid email' });
  });
});

describe('a person who is signed in', () => {
  test('gets a code at once, which the client exchanges', async () => {
    const { clientId, signIn, exchange } = await createScene();
    const { browser, userId } = await signIn('ada@example.com');
    const answer = await browser.visit(authorizePath(clientId, { state: 'a b+c/ä&=' }));
    expect(answer.status).toBe(302);
    const { code = '', ...others } = answerOf(answer);
    expect(others).toEqual({ state: 'a b+c/ä&=', iss: ISSUER });
    const { json } = await exchange(code);
    expect(claimsIn(json.id_token)).toMatchObject({ sub: userId, nonce: 'n-0S6_WzA2Mj' });
  });

  test('gets a code with prompt=none as well', async () => {
    const { clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    expect(answerOf(await browser.visit(authorizePath(clientId, { prompt: 'none' })))).toHaveProperty('code');
  });

  test('gets only as many codes a minute as a session may make calls', async () => {
    const { instance, signIn, clientId } = await createScene({
      environment: { GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '2' },
    });
    const { browser } = await signIn('ada@example.com');
    const statuses = [];
    for (let turn = 0; turn < 3; turn += 1) statuses.push((await browser.visit(authorizePath(clientId))).status);
    expect(statuses).toEqual([302, 302, 429]);
    instance.clock.advance(MINUTE);
    expect(answerOf(await browser.visit(authorizePath(clientId)))).toHaveProperty('code');
  });

  test('is sent on from a form of another site, whose request has no cookies', async () => {
    const { clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    const path = authorizePath(clientId);
    const fields = Object.fromEntries(new URLSearchParams(path.split('?')[1]));
    const sent = await submit(browser, '/oauth/authorize', fields);
    expect(sent.status).toBe(303);
    expect(sent.headers.get('location')).toBe(path);
  });

  test('signs in again where the client wants a new proof, and gets the code only then', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const { browser, userId } = await signIn('ada@example.com');
    for (const changes of [{ prompt: 'login' }, { max_age: '0' }, { max_age: '59' }] as Changes[]) {
      instance.clock.advance(MINUTE);
      const page = await browser.visit(authorizePath(clientId, changes));
      expect(offeredAt(page)).toEqual([]);
      // Choosing the account that is signed in proves nothing.
      expect(offeredAt(await goOn(browser, page, userId))).toEqual([]);
      const isSilent = !('prompt' in changes);
      if (isSilent)
        expect(answerOf(await browser.visit(authorizePath(clientId, { ...changes, prompt: 'none' })))).toMatchObject({
          error: 'login_required',
        });
      instance.clock.advance(MINUTE);
      await browser.signIn(application, 'ada@example.com', 'account');
      expect(answerOf(await goOn(browser, page, userId))).toHaveProperty('code');
    }
  });

  test('with a recent proof satisfies a longer age', async () => {
    const { instance, clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    instance.clock.advance(HOUR);
    expect(answerOf(await browser.visit(authorizePath(clientId, { max_age: '3600' })))).toHaveProperty('code');
    instance.clock.advance(SECOND);
    expect(offeredAt(await browser.visit(authorizePath(clientId, { max_age: '3600' })))).toEqual([]);
  });

  test.each(['select_account', 'consent'])('chooses the account with prompt=%s', async (prompt) => {
    const { instance, application, clientId, signIn } = await createScene();
    const { browser, userId } = await signIn('ada@example.com');
    instance.clock.advance(SECOND);
    const page = await browser.visit(authorizePath(clientId, { prompt }));
    expect(offeredAt(page)).toEqual(['ada@example.com']);
    const { continueAt = '' } = signInPageOf(page).authorization ?? {};
    expect(offeredAt(await browser.visit(continueAt))).toEqual(['ada@example.com']);
    expect((await browser.continueAs(application, userId, { page: 'account' })).status).toBe(200);
    expect(answerOf(await goOn(browser, page, userId))).toHaveProperty('code');
  });

  test('signs in anew shortly before the session ends, or if its method is switched off', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    await given.application(instance, application.id, { signinMethods: ['passkey'] });
    expect(offeredAt(await browser.visit(authorizePath(clientId)))).toEqual([]);
    await given.application(instance, application.id, { signinMethods: ['otp'] });
    instance.clock.advance(30 * DAY - 30 * SECOND);
    expect(offeredAt(await browser.visit(authorizePath(clientId)))).toEqual([]);
    expect(answerOf(await browser.visit(authorizePath(clientId, { prompt: 'none' })))).toMatchObject({
      error: 'login_required',
    });
  });

  test('is refused where the application lets nobody like them in any more', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const { browser } = await signIn('ada@example.com');
    await given.application(instance, application.id, { signinGate: 'private_beta' });
    for (const prompt of [null, 'none'])
      expect(answerOf(await browser.visit(authorizePath(clientId, { prompt })))).toEqual({
        error: 'access_denied',
        state: STATE,
        iss: ISSUER,
      });
  });

  test('who was banned or signed out gets no code', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const ada = await signIn('ada@example.com');
    const path = `/api/applications/${application.id}/users/${ada.userId}/ban`;
    expect((await instance.call('POST', path, { token: instance.workspaceKey, body: {} })).status).toBe(200);
    expect(offeredAt(await ada.browser.visit(authorizePath(clientId)))).toEqual([]);
    const bob = await signIn('bob@example.com');
    await bob.browser.signOut(application);
    expect(offeredAt(await bob.browser.visit(authorizePath(clientId)))).toEqual([]);
  });

  test('other than the one of the client’s hint has to sign in, or to choose that account', async () => {
    const { instance, application, clientId, flow } = await createScene();
    const { person: ada, idToken } = await flow('ada@example.com');
    const path = authorizePath(clientId, { id_token_hint: idToken });
    const { browser } = ada;
    instance.clock.advance(MINUTE);
    const bob = (await browser.signIn(application, 'bob@example.com', 'account')).json.data.userId;
    const silent = authorizePath(clientId, { id_token_hint: idToken, prompt: 'none' });
    expect(answerOf(await browser.visit(silent))).toMatchObject({ error: 'login_required' });
    const page = await browser.visit(path);
    expect(offeredAt(page)).toEqual(['ada@example.com']);
    // The client asked for another person than the one who goes on.
    expect(answerOf(await goOn(browser, page, bob))).toMatchObject({ error: 'login_required' });
    await browser.continueAs(application, ada.userId, { page: 'account' });
    expect(answerOf(await goOn(browser, page, ada.userId))).toHaveProperty('code');
  });
});

describe('a person who is not signed in to the application', () => {
  test('signs in on the hosted page, and no page holds a token', async () => {
    const { instance, application, clientId, verdict, exchange } = await createScene();
    const browser = pageBrowser(instance);
    const page = await browser.visit(authorizePath(clientId, { login_hint: 'ada@example.com' }));
    expect(signInPageOf(page)).toMatchObject({ email: 'ada@example.com', accounts: [], returnTo: null });
    const { json } = await browser.signIn(application, 'ada@example.com', 'account');
    expect(await verdict(json.data.token)).not.toBe('ok');
    const { code = '' } = answerOf(await goOn(browser, page, json.data.userId));
    expect((await exchange(code)).status).toBe(200);
  });

  test('is not asked with prompt=none', async () => {
    const { instance, clientId } = await createScene();
    const browser = pageBrowser(instance);
    expect(answerOf(await browser.visit(authorizePath(clientId, { prompt: 'none' })))).toEqual({
      error: 'login_required',
      state: STATE,
      iss: ISSUER,
    });
  });

  test('continues as an account of another application by a press, never silently', async () => {
    const { instance, application, clientId } = await createScene();
    const forum = await sceneOf(instance, await instance.createApplication({ name: 'Forum' }));
    const { browser, userId } = await forum.signIn('ada@example.com');
    expect(answerOf(await browser.visit(authorizePath(clientId, { prompt: 'none' })))).toMatchObject({
      error: 'interaction_required',
    });
    const page = await browser.visit(authorizePath(clientId));
    expect(signInPageOf(page).accounts).toEqual([
      { userId, email: 'ada@example.com', isCurrent: false, isNewElsewhere: false },
    ]);
    expect(offeredAt(await goOn(browser, page, userId))).toEqual(['ada@example.com']);
    const { json } = await browser.continueAs(application, userId, { page: 'account' });
    expect(json.data.session).toBeNull();
    expect(answerOf(await goOn(browser, page, userId))).toHaveProperty('code');
  });

  test('gets the error back at the client where the sign-in is refused', async () => {
    const { instance, clientId } = await createScene();
    const page = await pageBrowser(instance).visit(authorizePath(clientId));
    const { deniedAt = '' } = signInPageOf(page).authorization ?? {};
    expect(Object.fromEntries(new URL(deniedAt).searchParams)).toEqual({
      error: 'access_denied',
      state: STATE,
      iss: ISSUER,
    });
  });

  test('reads the page in the first language that the client asks for, and with a passkey first if it wants one', async () => {
    const { instance, clientId } = await createScene();
    const browser = pageBrowser(instance);
    const changes = { ui_locales: 'xx fr de', acr_values: 'phr' };
    const page = await browser.visit(authorizePath(clientId, changes), { headers: { 'accept-language': 'es' } });
    expect(signInPageOf(page)).toMatchObject({ locale: 'fr', isPasskeyFirst: true });
    const chosen = await browser.visit(`${authorizePath(clientId, changes)}&locale=tr`);
    expect(signInPageOf(chosen).locale).toBe('tr');
  });

  test('resumes only the request that the sign-in was for, and for half an hour', async () => {
    const { instance, application, clientId, signIn } = await createScene();
    const { browser, userId } = await signIn('ada@example.com');
    const page = await browser.visit(authorizePath(clientId, { prompt: 'login' }));
    const { continueAt = '' } = signInPageOf(page).authorization ?? {};
    instance.clock.advance(MINUTE);
    await browser.signIn(application, 'ada@example.com', 'account');
    // Another request with the same ticket is asked for a proof of its own.
    expect(offeredAt(await browser.visit(continueAt.replace(STATE, 'another')))).toEqual([]);
    instance.clock.advance(30 * MINUTE);
    expect(offeredAt(await goOn(browser, page, userId))).toEqual([]);
  });
});

describe('a client of the console', () => {
  const path = (changes: Changes = {}) =>
    authorizePath(COMMAND_LINE_CLIENT_ID, {
      redirect_uri: 'http://127.0.0.1:51004/callback',
      scope: null,
      nonce: null,
      ...changes,
    });
  const REDIRECT = 'http://127.0.0.1:51004/callback';

  async function signedInOwner() {
    const { instance } = await createScene();
    const steps = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID, REDIRECT);
    const browser = pageBrowser(instance);
    const { userId } = (await browser.signIn(steps.console, 'owner@example.com')).json.data;
    return { instance, browser, userId, ...steps };
  }

  test('is asked for by a consent page each time, and gets a key of the person', async () => {
    const { browser, instance, exchange } = await signedInOwner();
    const page = await browser.visit(path({ resource: `${ISSUER}/mcp` }));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Gatehouse command line');
    expect(page.text).toContain('127.0.0.1:51004');
    expect(page.text).toContain('owner@example.com');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain(`form-action 'self' http://127.0.0.1:51004;`);
    expect(policy).toContain(`frame-ancestors 'none'`);
    const answer = await submit(browser, DECISION, { ...formOf(page), decision: 'allow' });
    expect(answer.status).toBe(303);
    const { code = '', ...others } = answerOf(answer, REDIRECT);
    expect(others).toEqual({ state: STATE, iss: ISSUER });
    const { json } = await exchange(code);
    expect(json.access_token).toStartWith('eak_');
    const me = await instance.call('GET', '/api/applications', { token: json.access_token });
    expect(me.status).toBe(200);
    expect(instance.auditKinds()).toContain('device.approved');
    expect((await browser.visit(path())).text).toContain('id="consent"');
  });

  test('that is denied is told, and gets nothing', async () => {
    const { browser, instance } = await signedInOwner();
    const page = await browser.visit(path());
    const answer = await submit(browser, DECISION, { ...formOf(page), decision: 'deny' });
    expect(answerOf(answer, REDIRECT)).toEqual({ error: 'access_denied', state: STATE, iss: ISSUER });
    expect(instance.auditKinds()).toContain('device.denied');
    expect(instance.sqlite.query('SELECT code_hash FROM oauth_codes').all()).toEqual([]);
  });

  test('gets no code by a decision that this browser was not shown', async () => {
    const { browser, instance } = await signedInOwner();
    const form = formOf(await browser.visit(path()));
    const changed = { ...form, request: form['request']?.replace(STATE, 'another') ?? '' };
    const made = { ...form, confirmation: 'x'.repeat(43) };
    const { console: consoleApplication } = await consoleSceneOf(instance, COMMAND_LINE_CLIENT_ID);
    const bob = pageBrowser(instance);
    await bob.signIn(consoleApplication, 'owner@example.com');
    const tries = [
      await submit(browser, DECISION, { ...changed, decision: 'allow' }),
      await submit(browser, DECISION, { ...made, decision: 'allow' }),
      await submit(bob, DECISION, { ...form, decision: 'allow' }),
      await submit(pageBrowser(instance), DECISION, { ...form, decision: 'allow' }),
    ];
    for (const { status, headers } of tries) {
      expect(status).toBe(303);
      expect(headers.get('location')).toStartWith('/oauth/authorize?');
    }
    expect(instance.sqlite.query('SELECT code_hash FROM oauth_codes').all()).toEqual([]);
  });

  test('gets nothing from a session of an application, which could put its token into a cookie itself', async () => {
    const { application, instance } = await createScene();
    const { token } = await instance.signIn(application.clientId, 'owner@example.com');
    const browser = pageBrowser(instance);
    browser.cookies.set('gatehouse', token);
    const page = await browser.visit(path());
    expect(page.text).not.toContain('id="consent"');
    expect(signInPageOf(page).application.clientId).toBe(CONSOLE_CLIENT_ID);
    const silent = answerOf(await browser.visit(path({ prompt: 'none' })), REDIRECT);
    expect(silent).toMatchObject({ error: 'login_required' });
  });

  test('needs a sign-in of the last ten minutes, when it is asked and when it is allowed', async () => {
    const { browser, instance, console: consoleApplication, userId } = await signedInOwner();
    const form = formOf(await browser.visit(path()));
    instance.clock.advance(10 * MINUTE);
    const late = await submit(browser, DECISION, { ...form, decision: 'allow' });
    expect(late.headers.get('location')).toStartWith('/oauth/authorize?');
    const page = await browser.visit(path());
    expect(offeredAt(page)).toEqual([]);
    await browser.signIn(consoleApplication, 'owner@example.com');
    expect((await goOn(browser, page, userId)).text).toContain('id="consent"');
  });

  test('is refused silently, and for other resources', async () => {
    const { browser } = await signedInOwner();
    expect(answerOf(await browser.visit(path({ prompt: 'none' })), REDIRECT)).toMatchObject({
      error: 'interaction_required',
    });
    const other = await browser.visit(path({ resource: 'https://elsewhere.example/mcp' }));
    expect(answerOf(other, REDIRECT)).toMatchObject({ error: 'invalid_target' });
  });

  test('offers another account on the consent page, by a sign-in', async () => {
    const { browser } = await signedInOwner();
    const page = await browser.visit(path());
    const [, another = ''] = /id="change-account" href="([^"]*)"/.exec(page.text) ?? [];
    expect(offeredAt(await browser.visit(another.replaceAll('&amp;', '&')))).toEqual([]);
  });

  test('asks no stranger for consent', async () => {
    const { instance } = await createScene();
    const page = await pageBrowser(instance).visit(path());
    expect(signInPageOf(page).application.clientId).toBe(CONSOLE_CLIENT_ID);
    expect(answerOf(await pageBrowser(instance).visit(path({ prompt: 'none' })), REDIRECT)).toMatchObject({
      error: 'login_required',
    });
  });
});

describe('a sign-in at an identity provider', () => {
  async function atProvider(environment: Record<string, string> = {}) {
    const scene = await providerScene({ environment });
    const { instance, application, browser, provider } = scene;
    await instance.call('PUT', `/api/applications/${application.id}/openid`, {
      token: instance.workspaceKey,
      body: { redirectUris: [REDIRECT_URI] },
    });
    const start = async (changes: Changes = {}) => {
      const page = await browser.visit(authorizePath(application.clientId, changes));
      const { startUrl = '' } = signInPageOf(page).methods.provider ?? {};
      return browser.visit(pathOf(startUrl));
    };
    return { ...scene, start, provider };
  }
  const landing = ({ headers }: Answer) => headers.get('location') ?? '';

  test('leads back to the client, and puts no token into an address that redirects', async () => {
    const { browser, provider, start, comeBack } = await atProvider();
    const long = { state: 's'.repeat(1_024), nonce: 'n'.repeat(1_024) };
    const landed = await comeBack(await provider.agree(landing(await start(long))));
    expect(landing(landed)).toStartWith(`${ISSUER}/oauth/authorize?`);
    expect(landing(landed)).not.toContain('#');
    const answer = answerOf(await browser.visit(pathOf(landing(landed))));
    expect(answer).toEqual({ code: expect.any(String), state: long.state, iss: ISSUER });
  });

  test('counts as the proof that the client wanted', async () => {
    const { instance, browser, provider, start, comeBack } = await atProvider();
    await comeBack(await provider.agree(landing(await start())));
    instance.clock.advance(MINUTE);
    const landed = await comeBack(await provider.agree(landing(await start({ prompt: 'login' }))));
    expect(answerOf(await browser.visit(pathOf(landing(landed))))).toHaveProperty('code');
  });

  test('that fails is shown on the page of the same request', async () => {
    const { browser, start, comeBack } = await atProvider();
    const state = new URL(landing(await start())).searchParams.get('state') ?? '';
    const landed = await comeBack({ state, error: 'access_denied' });
    expect(landing(landed)).toEndWith('#error=access_denied');
    expect(offeredAt(await browser.visit(pathOf(landing(landed))))).toEqual([]);
  });

  test('returns to no request of another application, and to no other page of the provider', async () => {
    // Test instances accept any address on loopback, also their own.
    const own = 'https://id.example.com';
    const { instance, application, browser } = await atProvider({ GATEHOUSE_BASE_URL: own });
    const other = await instance.createApplication({ name: 'Forum' });
    const returns = [
      `${own}${authorizePath(other.clientId)}`,
      `${own}${authorizePath(application.clientId)}&client_id=${other.clientId}`,
      `${own}/oauth/authorize`,
      `${own}/oauth/authorize/decision?client_id=${application.clientId}`,
      `${own}/oauth/end-session?client_id=${application.clientId}`,
    ];
    for (const returnTo of returns) {
      const query = new URLSearchParams({ clientId: application.clientId, returnTo });
      expect((await browser.visit(`/api/auth/google/start?${query}`)).status).toBe(400);
    }
    const right = new URLSearchParams({
      clientId: application.clientId,
      returnTo: own + authorizePath(application.clientId),
    });
    expect((await browser.visit(`/api/auth/google/start?${right}`)).status).toBe(302);
  });
});
