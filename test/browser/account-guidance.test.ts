/** Guidance in the account: usernames, time zones, telephone numbers and headings, at both widths. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { textsFor } from '@/i18n/catalogue.ts';
import { ACCOUNT_PARTS } from '@/pages/account/parts.ts';
import { type EphemeralServer, eventually, startEphemeral } from '../support/binary.ts';
import { type AccountPage, closeBrowser, later, openAccountPage, personAt } from './account-page.ts';
import { asked, choose } from './account-reader.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: AccountPage;
let people = 0;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

async function openAs(part: string): Promise<string> {
  const email = `guided${(people += 1)}@example.com`;
  await page.openAs((await personAt(server, email)).token, part);
  return email;
}

async function fill(selector: string, text: string): Promise<void> {
  await page.press(selector);
  await page.fill(selector, text);
}

const optionsOf = (selector: string) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('${selector} option')].map(({ label }) => label)`);

describe.each([
  [360, 740],
  [1280, 800],
])('at %i px', (width, height) => {
  beforeEach(async () => {
    page = await openAccountPage(server, { width, height });
  });
  afterEach(async () => {
    expect(await page.sidewaysScroll()).toBe(0);
    expect(page.problems).toEqual([]);
    page.close();
  });

  test('a refused username says why, and offers one that can be used', async () => {
    const email = await openAs('profile');
    const wanted = `Àda Lovelace ${width}`;
    await fill('#username', 'admin');
    await page.untilText('#username-error', /^admin is reserved\. Choose another one\.$/);
    expect(await page.isVisible('#username-suggestion')).toBe(false);
    await fill('#username', wanted);
    await page.untilText('#username-error', /^This does not follow the rule above\.$/);
    await page.untilText('#username-suggestion', new RegExp(`^Use ada-lovelace-${width}$`));
    await page.press('#username-suggestion');
    await page.untilText('#username-verdict', new RegExp(`ada-lovelace-${width} is free`));
    expect(await page.text('#username-error')).toBe('');
    await page.press('#username-save');
    await page.untilSaid(/^Saved\.$/);
    await later(server);
    expect((await asked(server, email, '/api/account')).username).toBe(`ada-lovelace-${width}`);
  });

  test('time zones have a city, a name in the reader’s language and an offset, with the browser’s first', async () => {
    await page.view.cdp('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Athens' });
    const email = await openAs('profile');
    await leaving(page, () => choose(page, '#language', 'de'));
    await page.untilVisible('#timezone');
    const zones = await eventually('all zones are named', async () => {
      const options = await optionsOf('#timezone');
      return options.some((zone) => zone.startsWith('Vienna –')) ? options : null;
    });
    expect(zones[1]).toMatch(/^Athens – Osteuropäische Zeit \(GMT\+[23]\)$/);
    expect(zones.filter((zone) => zone.startsWith('Athens –'))).toHaveLength(1);
    expect(zones.filter((zone) => !/ \(GMT/.test(zone))).toEqual([zones[0]!]);
    expect(zones).toContain('Rio Gallegos – Argentinische Normalzeit (GMT-3)');
    expect(zones.filter((zone) => /^\w+[/_]|Truk|Calcutta/.test(zone))).toEqual([]);
    await choose(page, '#timezone', 'Asia/Kolkata');
    await page.press('#locale-save');
    await page.untilSaid(/\S/);
    await later(server);
    expect((await asked(server, email, '/api/account')).identity.timezone).toBe('Asia/Kolkata');
    await page.view.reload();
    await page.untilVisible('#timezone');
    expect(await page.evaluate<string>(`document.querySelector('#timezone').value`)).toBe('Asia/Kolkata');
  });

  test('the example of a telephone number is one of the reader’s country', async () => {
    await openAs('addresses');
    await leaving(page, () => choose(page, '#language', 'sv'));
    await page.press('#address-add');
    await page.untilVisible('#address-dialog');
    for (const [field, text] of Object.entries({ recipient: 'Ada', line1: 'Gatan 1', city: 'Lund', phone: 'none' }))
      await fill(`#address-${field}`, text);
    await choose(page, '#address-country', 'SE');
    await fill('#address-postalCode', '222 22');
    await page.press('#address-save');
    await page.untilText('#address-phone-error', /\+46 8 465 004 10/);
    await fill('#address-phone', '+46 8 465 004 10');
    await page.press('#address-save');
    await page.untilSaid(/\S/);
  });

  test('no part has its heading twice, and an account is deleted by one word', async () => {
    await openAs('profile');
    for (const part of ACCOUNT_PARTS) {
      await page.evaluate(`document.querySelector('nav a[href^="/account/${part}"]').click()`);
      await page.untilText('main h1', new RegExp(RegExp.escape(textsFor('en')(`account.part.${part}`))));
      await page.untilVisible('main .settings');
      const headings = await page.evaluate<string[]>(
        `[...document.querySelectorAll('main :is(h1, h2)')].map(({ innerText }) => innerText)`,
      );
      expect([part, new Set(headings).size]).toEqual([part, headings.length]);
    }
    expect(await page.text('main')).not.toMatch(/clos/i);
    await page.press('#close-account');
    await page.untilVisible('#close-dialog');
    expect(await page.text('#close-dialog')).toMatch(/^Delete your account for good\?/);
    expect(await page.text('#close-dialog')).not.toMatch(/clos/i);
  });
});
