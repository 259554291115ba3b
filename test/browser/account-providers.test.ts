/** Connecting an identity provider on the account page, with a real provider. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, startEphemeral } from '../support/binary.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { type AccountPage, closeBrowser, later, openAccountPage, personAt } from './account-page.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

let provider: OpenIdProvider;
let server: EphemeralServer;
let page: AccountPage;

beforeAll(async () => {
  provider = await startOpenIdProvider({
    accounts: [{ login: 'ada', email: 'ada@elsewhere.example', name: 'Ada Lovelace' }],
  });
  server = await startEphemeral([], provider.environment);
});
afterAll(async () => {
  closeBrowser();
  await Promise.all([provider.stop(), server.stop()]);
});
beforeEach(async () => {
  page = await openAccountPage(server);
  await page.view.cdp('Storage.clearDataForOrigin', { origin: provider.issuer, storageTypes: 'all' });
});
afterEach(() => page.close());

async function expectSoundPage(): Promise<void> {
  // Ignores problems of the provider's own pages.
  expect(page.problems.filter((problem) => !problem.includes(provider.issuer))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

async function logIn(): Promise<void> {
  await page.untilVisible('input[name=login]');
  await page.fill('input[name=login]', 'ada');
  await leaving(page, () => page.view.press('Enter'));
}

test('a provider is connected, listed, and disconnected after a proof', async () => {
  const email = 'ada@example.com';
  const { token } = await personAt(server, email);
  await page.openAs(token, 'sign-in');
  await page.untilText('#providers', /No provider is connected/);
  const { href } = await page.address();
  await leaving(page, () => page.press('#connect-provider'));
  await logIn();
  await page.untilSaid(/^The provider was connected\.$/);
  expect((await page.address()).href).toBe(href);
  await page.untilText('#providers .row', /ada@elsewhere\.example\s· Added .+\s· last used/);
  await expectSoundPage();

  await later(server);
  await page.press('#providers .row .button');
  await page.press('#disconnect-provider-confirm');
  await page.prove(email);
  await page.untilSaid(/was disconnected\.$/);
  expect(await page.text('#providers')).toContain('No provider is connected.');
  expect((await request(server, 'GET', '/api/account/providers', { token })).json.data.items).toEqual([]);
  await expectSoundPage();
});

test('a person who cancels at the provider returns to the account page, still signed in, with a message', async () => {
  const { token } = await personAt(server, 'grace@example.com');
  await page.openAs(token, 'sign-in');
  await leaving(page, () => page.press('#connect-provider'));
  await page.untilVisible('button[name=cancel]');
  await leaving(page, () => page.view.click('button[name=cancel]'));
  await page.untilText('#provider-error', /^Nothing was connected, because you cancelled it\.$/);
  expect((await page.address()).hash).toBe('');
  await expectSoundPage();
});

test.each(['constructor', '__proto__', 'toString'])('a link with the error %s breaks nothing', async (code) => {
  const { token } = await personAt(server, 'linus@example.com');
  await page.openAs(token, 'profile');
  await page.open('about:blank');
  await page.open(`${server.url}/account/sign-in?clientId=${server.clientId}#error=${code}`);
  await page.untilText('#provider-error', /^Something went wrong/);
  await expectSoundPage();
});

test('a provider account that belongs to another person is not connected', async () => {
  const [first, second] = [await personAt(server, 'first@example.com'), await personAt(server, 'second@example.com')];
  await page.openAs(first.token, 'sign-in');
  await leaving(page, () => page.press('#connect-provider'));
  await logIn();
  await page.untilSaid(/connected/);
  await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
  await page.view.cdp('Storage.clearDataForOrigin', { origin: provider.issuer, storageTypes: 'all' });
  await page.openAs(second.token, 'sign-in');
  await leaving(page, () => page.press('#connect-provider'));
  await logIn();
  await page.untilText('#provider-error', /connected to somebody else’s here/);
  await expectSoundPage();
});
