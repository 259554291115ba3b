/** One sign-in for all pages of a server: from the sign-in to the account, to another application, and back. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type Shop, startShop } from '../support/shop.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let shop: Shop;
let page: Page;
/** A second application, Harbour, of the same server. */
let harbour: string;
let people = 0;

beforeAll(async () => {
  server = await startEphemeral();
  shop = startShop();
  const { id, ...made } = await manage('/api/applications', {
    name: 'Harbour',
    returnUrls: ['https://harbour.example/app'],
  });
  harbour = made.clientId;
  for (const step of ['publish', 'go-live']) await manage(`/api/applications/${id}/${step}`);
});
afterAll(async () => {
  closeBrowser();
  await shop.stop();
  await server.stop();
});

async function manage(path: string, body?: unknown) {
  const { status, text, json } = await request(server, 'POST', path, { token: server.workspaceKey, body });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return json.data;
}

const newAddress = () => `one${(people += 1)}@example.com`;
const addressOf = (path: string, clientId: string, more: Record<string, string> = {}) =>
  `${server.url}${path}?${new URLSearchParams({ clientId, ...more })}`;
const account = (email: string) => `[data-account=${JSON.stringify(email)}]`;

describe.each([
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
])('at $width pixels', (size) => {
  beforeEach(async () => {
    page = await openBrowserPage(size);
    await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
  });
  afterEach(async () => {
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    page.close();
  });

  async function typeCode(email: string): Promise<void> {
    await page.untilVisible('#email');
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, email));
  }

  const openMenu = async () => {
    await page.untilVisible('#account-menu');
    await page.view.click('#account-menu');
    await page.untilVisible('#account-menu-items');
  };
  const emailShown = () => page.evaluate<string>(`document.querySelector('#account-menu').getAttribute('aria-label')`);

  test('who signed in for an application is signed in to their account there, and goes back to it', async () => {
    const email = newAddress();
    await page.open(addressOf('/sign-in', harbour));
    await typeCode(email);
    await page.untilVisible('#signed-in');
    await page.view.click('#account');
    await page.untilVisible('main.account-part h1');
    expect(await emailShown()).toBe(`Your account: ${email}`);
    const back = `document.querySelector('#back')`;
    expect(await page.evaluate<string>(`${back}.href`)).toBe('https://harbour.example/');
    expect(await page.text('#back .visually-hidden')).toBe('Back to Harbour');
    const heights = await page.evaluate<number[]>(
      `['#back', '#account-menu'].map((one) => document.querySelector(one).getBoundingClientRect().height)`,
    );
    for (const height of heights) expect(height).toBeGreaterThanOrEqual(40);
  });

  test('a signed-out visit asks the server for no account, and shows the form at once', async () => {
    await page.open(addressOf('/account', harbour));
    await page.untilVisible('#email-form');
    await page.untilFocused('email');
    expect(page.requested.filter((url) => url.includes('/api/account'))).toEqual([]);
  });

  test('another application is entered with one press, and its own page gets its token', async () => {
    const email = newAddress();
    await page.open(addressOf('/sign-in', harbour));
    await typeCode(email);
    await page.untilVisible('#signed-in');

    await page.open(addressOf('/sign-in', server.clientId, { returnTo: `${shop.url}/in` }));
    await page.untilVisible('#accounts');
    expect(await page.text(account(email))).toBe(`Continue as ${email}`);
    expect(await page.isVisible('#email-form')).toBe(false);
    await page.view.click(account(email));
    const { hash } = await page.untilAddress(/\/in#/);
    const token = new URLSearchParams(hash.slice(1)).get('token') ?? '';
    const session = await request(server, 'POST', '/api/v1/session', { token });
    expect(session.json).toMatchObject({ ok: true, email });

    await page.open(addressOf('/account', server.clientId));
    await page.untilVisible('main.account-part h1');
    expect(await emailShown()).toBe(`Your account: ${email}`);
  });

  test('the account of another application is entered with one press as well', async () => {
    const email = newAddress();
    await page.open(addressOf('/account/devices', harbour));
    await typeCode(email);
    await page.untilVisible('main.account-part h1');
    await page.open(addressOf('/account/devices', server.clientId));
    await page.untilVisible('#accounts');
    await page.view.click(account(email));
    await page.untilVisible('main.account-part h1');
    expect(await page.text('h1')).toBe('Devices');
  });

  test('another account signs in beside the first; the menu switches, and a sign-out leaves the other', async () => {
    const [ada, bob] = [newAddress(), newAddress()];
    await page.open(addressOf('/sign-in', harbour));
    await typeCode(ada);
    await page.untilVisible('#signed-in');
    await page.open(addressOf('/sign-in', harbour));
    await page.untilVisible('#accounts');
    await page.view.click('#another-account');
    await page.untilVisible('#email-form');
    await page.evaluate('history.back()');
    await page.untilVisible('#accounts');
    await page.view.click('#another-account');
    await typeCode(bob);
    await page.untilVisible('#signed-in');

    await page.open(addressOf('/account', harbour));
    await page.untilVisible('main.account-part h1');
    expect(await emailShown()).toBe(`Your account: ${bob}`);
    await openMenu();
    await page.view.press('Escape');
    await page.untilVisible('body:has(#account-menu-items[hidden])');
    await page.untilFocused('account-menu');
    await openMenu();
    await page.view.click(account(ada));
    await page.untilVisible(`#account-menu[aria-label=${JSON.stringify(`Your account: ${ada}`)}]`);

    await openMenu();
    await page.view.click('#another-account');
    await page.untilVisible('#email-form');
    await page.evaluate('history.back()');
    await page.untilVisible(`#account-menu[aria-label=${JSON.stringify(`Your account: ${ada}`)}]`);

    await openMenu();
    await page.view.click('#sign-out');
    await page.untilVisible('#accounts');
    expect(await page.isVisible(account(ada))).toBe(false);
    expect(await page.text(account(bob))).toBe(`Continue as ${bob}`);
    await page.view.click(account(bob));
    await page.untilVisible(`#account-menu[aria-label=${JSON.stringify(`Your account: ${bob}`)}]`);
  });
});
