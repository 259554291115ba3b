/** Signs in through a real identity provider. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { type Shop, startShop } from '../support/shop.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

let provider: OpenIdProvider;
let server: EphemeralServer;
let shop: Shop;
let page: Page;

beforeAll(async () => {
  provider = await startOpenIdProvider({
    accounts: [
      { login: 'ada', email: 'ada@example.com', name: 'Ada Lovelace' },
      { login: 'eve', email: 'eve@example.com', email_verified: false },
    ],
  });
  server = await startEphemeral([], provider.environment);
  shop = startShop();
});
afterAll(async () => {
  closeBrowser();
  await Promise.all([shop.stop(), provider.stop(), server.stop()]);
});

beforeEach(async () => {
  page = await openBrowserPage();
  for (const url of [provider.issuer, server.url])
    await page.view.cdp('Storage.clearDataForOrigin', { origin: url, storageTypes: 'all' });
});
afterEach(() => page.close());

const returnTo = () => `${shop.url}/signed-in?from=gatehouse`;
const signInUrl = (parameters: Record<string, string> = {}) =>
  `${server.url}/sign-in?${new URLSearchParams({ clientId: server.clientId, ...parameters })}`;

/** Ignores problems of the provider's own pages. */
const ownProblems = () => page.problems.filter((problem) => !problem.includes(provider.issuer));

async function logIn(login: string): Promise<void> {
  await page.untilVisible('input[name=login]');
  await page.fill('input[name=login]', login);
  await leaving(page, () => page.view.press('Enter'));
}

test('a person signs in at the provider and returns to the application with a valid token', async () => {
  await page.open(signInUrl({ returnTo: returnTo() }));
  expect(await page.text('#provider')).toBe('Continue with 127.0.0.1');
  expect(await page.sidewaysScroll()).toBe(0);
  await leaving(page, () => page.view.click('#provider'));
  await logIn('ada');
  const address = await page.untilAddress(/\/signed-in\?from=gatehouse#token=est_/);
  const token = new URLSearchParams(address.hash.slice(1)).get('token')!;
  const session = await request(server, 'POST', '/api/v1/session', { token });
  expect(session.json).toMatchObject({ ok: true, email: 'ada@example.com', name: 'Ada Lovelace' });
  expect(ownProblems()).toEqual([]);
});

test('without a return URL the page says that the person is signed in, and its own URL has no token', async () => {
  await page.open(signInUrl());
  await leaving(page, () => page.view.click('#provider'));
  await logIn('ada');
  await page.untilVisible('#signed-in');
  const { href } = await page.address();
  expect(href).toBe(signInUrl());
  expect(await page.evaluate<string>('history.state')).toBeNull();
  expect(ownProblems()).toEqual([]);
});

test('a link signs nobody in to another account after a sign-in at the provider', async () => {
  const { token } = await signIn(server, 'mallory@example.com', server.clientId);
  await page.open(signInUrl({ returnTo: returnTo() }));
  await leaving(page, () => page.view.click('#provider'));
  await logIn('ada');
  await page.untilAddress(/\/signed-in\?from=gatehouse#token=est_/);
  const account = `${server.url}/account/profile?clientId=${server.clientId}`;
  await page.open(`${account}#token=${token}&expiresAt=2999-01-01T00:00:00.000Z`);
  await page.untilVisible('#account-menu[aria-label="Your account: ada@example.com"]');
  expect((await page.address()).href).toBe(account);
  expect(ownProblems()).toEqual([]);
});

test('a sign-in at the provider started from the account page returns there, signed in', async () => {
  const account = `${server.url}/account/profile?clientId=${server.clientId}`;
  await page.open(account);
  await page.untilVisible('#email-form');
  await leaving(page, () => page.view.click('#provider'));
  await logIn('ada');
  await page.untilVisible('main.account-part h1');
  expect(new URL((await page.address()).href).hash).toBe('');
  expect(ownProblems()).toEqual([]);
});

test('a person who cancels at the provider returns to the page with the other methods', async () => {
  await page.open(signInUrl({ returnTo: returnTo() }));
  await leaving(page, () => page.view.click('#provider'));
  await page.untilVisible('button[name=cancel]');
  await leaving(page, () => page.view.click('button[name=cancel]'));
  await page.untilText('#message', /The sign-in was cancelled/);
  expect(await page.isVisible('#email-form')).toBe(true);
  expect((await page.address()).href).toBe(signInUrl({ returnTo: returnTo() }));
  expect(ownProblems()).toEqual([]);
});

test('an address that the provider has not verified is refused with an explanation', async () => {
  await page.open(signInUrl({ returnTo: returnTo() }));
  await leaving(page, () => page.view.click('#provider'));
  await logIn('eve');
  await page.untilText('#message', /is not confirmed/);
  expect((await page.address()).hash).toBe('');
  expect(ownProblems()).toEqual([]);
});

test.each([
  ['waitlist', '#refused h1', 'You are not on the list yet'],
  ['gate_closed', '#refused h1', 'Test application takes no new sign-ups'],
  ['provider_failed', '#message', 'The other service did not answer'],
  ['forbidden', '#message', 'switched off'],
  ['<img src=x onerror=alert(1)>', '#message', 'Something went wrong'],
])('a returned error (%s) is shown in plain words', async (code, where, words) => {
  // Sets the matching gate, since the page follows the application's state.
  const gate = { waitlist: 'private_beta', gate_closed: 'closed' }[code] ?? 'public';
  const path = `/api/applications/${server.applicationId}/signin-gate`;
  await request(server, 'POST', path, { token: server.workspaceKey, body: { gate } });
  await page.open('about:blank');
  await page.open(`${signInUrl({ returnTo: returnTo() })}#error=${encodeURIComponent(code)}`);
  expect(await page.untilText(where, /./)).toContain(words);
  expect((await page.address()).hash).toBe('');
  expect(ownProblems()).toEqual([]);
});
