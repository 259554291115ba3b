/** A person's language and time zone after their first sign-in, and the language of their account. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { textsFor } from '@/i18n/catalogue.ts';
import en from '@/i18n/locales/en.json';
import { ACCOUNT_PARTS } from '@/pages/account/parts.ts';
import { type EphemeralServer, outboxCode, request, startEphemeral } from '../support/binary.ts';
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
  provider = await startOpenIdProvider({ accounts: [{ login: 'olha', email: 'olha@example.com' }] });
  server = await startEphemeral([], provider.environment);
  shop = startShop();
});
afterAll(async () => {
  closeBrowser();
  await Promise.all([shop.stop(), provider.stop(), server.stop()]);
});
beforeEach(async () => {
  page = await openBrowserPage();
  for (const origin of [provider.issuer, server.url])
    await page.view.cdp('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await page.view.cdp('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Athens' });
});
afterEach(() => page.close());

const signInUrl = (locale: string) =>
  `${server.url}/sign-in?${new URLSearchParams({ clientId: server.clientId, returnTo: `${shop.url}/in`, locale })}`;

/** Returns the session as the application sees it. */
async function envelope() {
  const { hash } = await page.untilAddress(/\/in#token=est_/);
  const token = new URLSearchParams(hash.slice(1)).get('token')!;
  return { token, ...(await request(server, 'POST', '/api/v1/session', { token })).json };
}

async function byCode(locale: string, email: string) {
  await page.open(signInUrl(locale));
  await page.untilFocused('email');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await leaving(page, async () => page.pressKeys(await outboxCode(server, email)));
  return envelope();
}

test('a first sign-in by code keeps the page’s language and the browser’s time zone; a later one changes neither', async () => {
  expect(await byCode('uk', 'taras@example.com')).toMatchObject({ locale: 'uk', timezone: 'Europe/Athens' });
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });
  // Another browser of the same person.
  await page.view.cdp('Network.clearBrowserCookies');
  await page.view.cdp('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' });
  expect(await byCode('el', 'taras@example.com')).toMatchObject({ locale: 'uk', timezone: 'Europe/Athens' });
});

test('a first sign-in through a provider does the same', async () => {
  await page.open(signInUrl('uk'));
  await leaving(page, () => page.view.click('#provider'));
  await page.untilVisible('input[name=login]');
  await page.fill('input[name=login]', 'olha');
  await leaving(page, () => page.view.press('Enter'));
  expect(await envelope()).toMatchObject({ email: 'olha@example.com', locale: 'uk', timezone: 'Europe/Athens' });
});

test('the account page opens in the person’s language, not the browser’s', async () => {
  const localeOfPage = () =>
    page.evaluate<string>(`JSON.parse(document.querySelector('#page-data').textContent).props.locale`);
  await byCode('el', 'eleni@example.com');
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });
  // Another browser of the same person.
  await page.view.cdp('Network.clearBrowserCookies');
  await page.open(`${server.url}/account?clientId=${server.clientId}`);
  await page.untilVisible('#email-form');
  expect(await localeOfPage()).toBe('en');
  await page.fill('#email', 'eleni@example.com');
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(await outboxCode(server, 'eleni@example.com'));
  await page.untilVisible('main.account-part h1');
  expect(await localeOfPage()).toBe('el');
  expect(page.problems).toEqual([]);
});

/** Returns English sentences on the page, among our texts without placeholders. */
async function englishOn(): Promise<string[]> {
  const shown = await page.evaluate<string>('document.body.innerText');
  const sentences = Object.values(en).flatMap((texts) => Object.values<string>(texts));
  return sentences.filter((text) => text.includes(' ') && !text.includes('{') && shown.includes(text));
}

describe.each(['el', 'uk'] as const)('in %s', (locale) => {
  const text = textsFor(locale);

  async function expectPage(title: string): Promise<void> {
    await page.untilText('h1', new RegExp(RegExp.escape(title)));
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe(locale);
    expect(await englishOn()).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    expect(page.problems).toEqual([]);
  }

  async function toCode(email: string): Promise<void> {
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
  }

  test('a person signs in after mistyping the code, and opens each section of the account', async () => {
    const email = `${locale}@example.com`;
    await page.open(`${server.url}/account/profile?${new URLSearchParams({ clientId: server.clientId, locale })}`);
    await page.untilVisible('#email-form');
    await expectPage(text('account.signInTitle'));
    await page.fill('#email', 'nonsense');
    await page.view.press('Enter');
    expect(await page.untilText('#email-error', /\S/)).toBe(text('errors.invalid_request'));
    await toCode(email);
    await expectPage(text('signin.codeTitle'));
    const code = await outboxCode(server, email);
    await page.pressKeys(code === '000000' ? '000001' : '000000');
    expect(await page.untilText('#code-error', /\S/)).toBe(text('errors.code_invalid'));
    await page.pressKeys(code);
    await page.untilVisible('main.account-part h1');
    for (const part of ACCOUNT_PARTS) {
      await page.evaluate(`document.querySelector('nav a[href^="/account/${part}"]').click()`);
      await expectPage(text(`account.part.${part}`));
    }
  });

  test('a closed application says so and accepts an address for the waitlist', async () => {
    const token = server.workspaceKey;
    const { json } = await request(server, 'POST', '/api/applications', { token, body: { name: `Closed ${locale}` } });
    const { id, clientId } = json.data;
    for (const step of ['publish', 'go-live'])
      await request(server, 'POST', `/api/applications/${id}/${step}`, { token });
    await request(server, 'POST', `/api/applications/${id}/signin-gate`, { token, body: { gate: 'private_beta' } });
    const email = `waiting-${locale}@example.com`;
    await page.open(`${server.url}/sign-in?${new URLSearchParams({ clientId, locale })}`);
    await toCode(email);
    await page.pressKeys(await outboxCode(server, email));
    await page.untilVisible('#refused');
    await expectPage(text('signin.waitlistTitle'));
    await page.view.click('#interest');
    await page.untilText('h1', new RegExp(RegExp.escape(text('signin.requestedTitle'))));
    await expectPage(text('signin.requestedTitle'));
  });

  test('the device page asks for a code and reports a wrong one', async () => {
    await page.open(`${server.url}/device?locale=${locale}`);
    await expectPage(text('device.title'));
    await page.open(`${server.url}/device?locale=${locale}&code=BCDF-GHJK`);
    expect(await page.untilText('#user-code-error', /\S/)).toBe(text('device.codeUnknown'));
    expect(await englishOn()).toEqual([]);
  });
});
