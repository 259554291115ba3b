/** Sign-in through a third-party provider implementation: the whole flow as in a browser. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import { DAY, HOUR, systemClock } from '@/core/clock.ts';
import { guardedFetch } from '@/outbound/guarded-fetch.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.ts';
import { type Browser, createBrowser, fragmentOf, passProvider, pathOf } from './browser.ts';

const RETURN_TO = 'https://shop.example.com/welcome';
const CONSOLE = 'http://localhost:8080/console';
const ADA = {
  login: 'ada',
  email: 'Ada@Example.com',
  name: 'Ada Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
  picture: 'https://id.example.com/ada.png',
};

let provider: OpenIdProvider;

beforeAll(async () => {
  const owner = { login: 'owner', email: 'owner@example.com' };
  const eve = { login: 'eve', email: 'eve@example.com', email_verified: false };
  provider = await startOpenIdProvider({ accounts: [ADA, owner, eve] });
  provider.setRedirectUris(['http://localhost:8080/api/auth/google/callback']);
});

afterAll(() => provider.stop());

async function setUp(from = provider) {
  const outbound = guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: true });
  // The provider's tokens are dated in real time.
  const instance = await createInstance({
    mode: 'ephemeral',
    environment: from.environment,
    outbound,
    time: systemClock,
  });
  const application = await instance.createApplication({ returnUrls: [RETURN_TO] });
  return { instance, application, browser: createBrowser(instance) };
}

async function goThrough(browser: Browser, clientId: string, form: Record<string, string>, returnTo = RETURN_TO) {
  const query = new URLSearchParams({ clientId, returnTo });
  const started = await browser.visit(`/api/auth/google/start?${query}`);
  expect(started.status).toBe(302);
  const callback = await passProvider(browser, started.headers.get('location')!, form);
  return browser.visit(pathOf(callback));
}

const userRow = ({ sqlite }: Instance, email: string) =>
  sqlite.query('SELECT * FROM users WHERE email = ?').get(email) as Record<string, unknown>;

describe('a sign-in through a real provider', () => {
  test('ends at the return URL with a session in the fragment, for a new person with the provider’s data', async () => {
    const { instance, application, browser } = await setUp();
    const landed = await goThrough(browser, application.clientId, { login: 'ada' });
    expect(landed.status).toBe(302);
    expect(landed.headers.get('location')).toStartWith(`${RETURN_TO}#token=est_`);
    expect(landed.headers.get('referrer-policy')).toBe('no-referrer');
    expect(landed.headers.get('cache-control')).toBe('no-store');
    expect(landed.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual(['gatehouse-known']);
    const { token, expiresAt } = fragmentOf(landed);
    const session = await instance.call('POST', '/api/v1/session', { token: token! });
    expect(session.json).toMatchObject({
      ok: true,
      email: 'ada@example.com',
      fullName: 'Ada Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      avatarUrl: 'https://id.example.com/ada.png',
      roles: ['user'],
      expiresAt,
    });
    expect(instance.events(application.id)).toEqual([
      {
        type: 'user.signed_in',
        data: {
          userId: session.json.userId,
          sessionId: expect.any(String),
          method: 'provider',
          email: 'ada@example.com',
          isNewUser: true,
        },
      },
    ]);
    expect(userRow(instance, 'ada@example.com')['email_verified_at']).not.toBeNull();
  });

  test('works with the provider’s defaults: claims at the UserInfo endpoint, no account chooser', async () => {
    const strict = await startOpenIdProvider({ accounts: [ADA], isStrict: true });
    const { instance, application, browser } = await setUp(strict);
    const { token } = fragmentOf(await goThrough(browser, application.clientId, { login: 'ada' }));
    const session = await instance.call('POST', '/api/v1/session', { token: token! });
    expect(session.json).toMatchObject({ email: 'ada@example.com', fullName: 'Ada Lovelace' });
    await strict.stop();
  });

  test('finds the same person the second time, without another identity', async () => {
    const { instance, application, browser } = await setUp();
    const first = fragmentOf(await goThrough(browser, application.clientId, { login: 'ada' }));
    const again = fragmentOf(await goThrough(createBrowser(instance), application.clientId, { login: 'ada' }));
    const idOf = async (token: string) => (await instance.call('POST', '/api/v1/session', { token })).json.userId;
    expect(await idOf(again['token']!)).toBe(await idOf(first['token']!));
    expect(instance.sqlite.query('SELECT count(*) AS n FROM provider_identities').get()).toEqual({ n: 1 });
  });

  test.each([HOUR, 26 * HOUR, 400 * DAY])('works after the clock was moved by %d ms, repeatedly', async (ms) => {
    const { instance, application, browser } = await setUp();
    const people = [];
    for (let move = 0; move < 3; move += 1) {
      const { token } = fragmentOf(await goThrough(browser, application.clientId, { login: 'ada' }));
      const { json } = await instance.call('POST', '/api/v1/session', { token: token ?? 'none' });
      people.push(json.email);
      instance.clock.advance(ms);
    }
    expect(people).toEqual(Array(3).fill('ada@example.com'));
  });

  test('a console sign-in sets its cookie as well', async () => {
    const { instance, browser } = await setUp();
    await instance.signIn('console', 'owner@example.com');
    const landed = await goThrough(browser, 'console', { login: 'owner' }, CONSOLE);
    expect(landed.headers.get('location')).toStartWith(`${CONSOLE}#token=est_`);
    expect(landed.headers.getSetCookie()[0]).toStartWith(`gatehouse=${fragmentOf(landed)['token']}; `);
    expect((await browser.visit('/api/applications')).status).toBe(200);
  });

  test('a console sign-in by a person without a workspace returns gate_closed, without a cookie', async () => {
    const { browser } = await setUp();
    const landed = await goThrough(browser, 'console', { login: 'ada' }, CONSOLE);
    expect(landed.headers.get('location')).toBe(`${CONSOLE}#error=gate_closed`);
    expect(landed.headers.getSetCookie()).toEqual([]);
  });

  test('a cancelled sign-in returns access_denied', async () => {
    const { application, browser } = await setUp();
    const landed = await goThrough(browser, application.clientId, { cancel: '1' });
    expect(landed.headers.get('location')).toBe(`${RETURN_TO}#error=access_denied`);
  });

  test('an address that the provider has not verified returns email_unverified', async () => {
    const { instance, application, browser } = await setUp();
    const landed = await goThrough(browser, application.clientId, { login: 'eve' });
    expect(landed.headers.get('location')).toBe(`${RETURN_TO}#error=email_unverified`);
    expect(userRow(instance, 'eve@example.com')).toBeNull();
  });

  test('is announced by mail in a browser that had not signed the person in, and in that browser only once', async () => {
    const { instance, application, browser } = await setUp();
    const { clientId } = application;
    const announced = () =>
      instance.sqlite
        .query("SELECT count(*) AS n FROM mails WHERE recipient = 'ada@example.com' AND subject LIKE 'New sign-in%'")
        .get();
    for (let time = 0; time < 2; time += 1) await goThrough(browser, clientId, { login: 'ada' });
    expect(announced()).toEqual({ n: 0 });
    const other = createBrowser(instance);
    for (let time = 0; time < 2; time += 1) await goThrough(other, clientId, { login: 'ada' });
    expect(announced()).toEqual({ n: 1 });
  });

  test('keeps a shared browser known for everybody who has signed in there', async () => {
    const { instance, application, browser } = await setUp();
    for (const login of ['ada', 'owner', 'ada', 'owner']) await goThrough(browser, application.clientId, { login });
    expect(instance.sqlite.query("SELECT count(*) AS n FROM mails WHERE subject LIKE 'New sign-in%'").get()).toEqual({
      n: 0,
    });
  });

  test('a refused or cancelled sign-in in a new browser is not announced', async () => {
    const { instance, application, browser } = await setUp();
    await goThrough(browser, application.clientId, { login: 'ada' });
    const other = createBrowser(instance);
    await goThrough(other, application.clientId, { cancel: '1' });
    instance.sqlite.query("UPDATE application_users SET status = 'banned'").run();
    await goThrough(other, application.clientId, { login: 'ada' });
    expect(instance.sqlite.query("SELECT count(*) AS n FROM mails WHERE subject LIKE 'New sign-in%'").get()).toEqual({
      n: 0,
    });
  });

  test('sign-ins in several tabs all finish', async () => {
    const { application, browser } = await setUp();
    const query = new URLSearchParams({ clientId: application.clientId, returnTo: RETURN_TO });
    const starts = [
      await browser.visit(`/api/auth/google/start?${query}`),
      await browser.visit(`/api/auth/google/start?${query}`),
    ];
    for (const started of starts) {
      const callback = await passProvider(browser, started.headers.get('location')!, { login: 'ada' });
      expect(fragmentOf(await browser.visit(pathOf(callback)))['token']).toStartWith('est_');
    }
  });

  test('can be connected to an account with another address, and then signs in to that account', async () => {
    const { instance, application, browser } = await setUp();
    const { token, userId } = await instance.signIn(application.clientId, 'countess@example.com');
    const started = await browser.visit('/api/account/providers', {
      method: 'POST',
      token,
      body: { returnTo: RETURN_TO },
    });
    expect(started.status).toBe(200);
    const callback = await passProvider(browser, started.json.data.authorizationUrl, { login: 'ada' });
    const landed = await browser.visit(pathOf(callback));
    expect(landed.headers.get('location')).toBe(`${RETURN_TO}#linked=provider`);
    const signedIn = fragmentOf(await goThrough(createBrowser(instance), application.clientId, { login: 'ada' }));
    const session = await instance.call('POST', '/api/v1/session', { token: signedIn['token']! });
    expect(session.json).toMatchObject({ userId, email: 'countess@example.com' });
  });
});
