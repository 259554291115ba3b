/** Wrong turns of a sign-in that must cost nothing: language, history, cursor, network, lockouts; at both widths. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type EphemeralServer,
  emptyFolder,
  eventually,
  outboxCode,
  request,
  type RunningServer,
  startEphemeral,
  startServer,
} from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { choose } from './account-reader.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
/** Allows one code per client address; an ephemeral server has no such limit. */
let strict: RunningServer;
let page: Page;
let people = 0;
const folder = emptyFolder();

beforeAll(async () => {
  server = await startEphemeral();
  strict = await startServer(folder.path, { GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1' }, ['--dev']);
});
afterAll(async () => {
  closeBrowser();
  await Promise.all([server.stop(), strict.stop()]);
  folder.remove();
});

const newAddress = () => `fragile${(people += 1)}@example.com`;
const signInUrl = () => `${server.url}/sign-in?clientId=${server.clientId}`;
const valueOf = (selector: string) => page.evaluate<string>(`document.querySelector('${selector}').value`);
const rectOf = (selector: string) =>
  page.evaluate<{ top: number; bottom: number; left: number; right: number }>(
    `document.querySelector('${selector}').getBoundingClientRect().toJSON()`,
  );
const slots = (mark: string) =>
  page.evaluate<number[]>(
    `[...document.querySelectorAll('.slot')].flatMap((slot, index) => slot.matches('[${mark}]') ? [index] : [])`,
  );

async function askForCode(email: string): Promise<string> {
  await page.untilVisible('#email-form');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.untilFocused('code');
  return outboxCode(server, email);
}

const setOffline = (offline: boolean) =>
  page.view.cdp('Network.emulateNetworkConditions', {
    offline,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });

describe.each([
  [360, 740],
  [1280, 800],
])('at %i px', (width, height) => {
  beforeEach(async () => {
    page = await openBrowserPage({ width, height });
    for (const origin of [server.url, strict.url])
      await page.view.cdp('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  });
  afterEach(() => page.close());

  test('another language at the code step keeps the step, and the code signs in', async () => {
    await page.open(signInUrl());
    const email = newAddress();
    const code = await askForCode(email);
    await leaving(page, () => choose(page, '#language', 'de'));
    await page.untilVisible('#code-form');
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('de');
    expect(await page.text('#lead')).toContain(email);
    expect((await page.address()).href).toBe(`${signInUrl()}&locale=de`);
    await page.untilFocused('code');
    await page.pressKeys(code);
    await page.untilVisible('#signed-in');
    expect(page.problems).toEqual([]);
  });

  test('another language at the first step keeps the address that was typed', async () => {
    await page.open(signInUrl());
    await page.fill('#email', 'half@exam');
    await leaving(page, () => choose(page, '#language', 'fr'));
    expect(await valueOf('#email')).toBe('half@exam');
    await page.open(signInUrl());
    expect(await valueOf('#email')).toBe('');
    expect(page.problems).toEqual([]);
  });

  test('Back leads from the code to the address, and Forward to the code again', async () => {
    await page.open(signInUrl());
    const email = newAddress();
    const code = await askForCode(email);
    for (const leave of ['history.back()', 'document.querySelector("#change-email").click()']) {
      await page.evaluate(leave);
      await page.untilVisible('#email-form');
      await page.evaluate('history.forward()');
      await page.untilVisible('#code-form');
      expect(await page.text('#lead')).toContain(email);
    }
    await page.untilFocused('code');
    await page.pressKeys(code);
    await page.untilVisible('#signed-in');
    expect(page.problems).toEqual([]);
  });

  test('the ring of the code field stands where the next digit goes', async () => {
    await page.open(signInUrl());
    const code = await askForCode(newAddress());
    const wrong = code === '000000' ? '000001' : '000000';
    expect(await slots('data-next')).toEqual([0]);
    await page.pressKeys(wrong.slice(0, 5));
    expect(await slots('data-next')).toEqual([5]);
    await page.view.press('ArrowLeft');
    await page.view.press('ArrowLeft');
    await eventually('the ring is on the fourth slot', async () => (await slots('data-next')).join() === '3');
    await page.view.press('Backspace');
    await eventually('the ring is on the third slot', async () => (await slots('data-next')).join() === '2');
    expect(await slots('data-selected')).toEqual([]);
    await page.view.press('End');
    await page.pressKeys(wrong.slice(4));
    await page.untilText('#code-error', /not right/);
    // All digits are selected: the next one replaces them.
    await eventually('all slots are marked', async () => (await slots('data-selected')).length === 6);
    expect(await slots('data-next')).toEqual([0]);
    await page.pressKeys(code);
    await page.untilVisible('#signed-in');
    expect(page.problems).toEqual([]);
  });

  test('after too many wrong codes a new one is announced without a word of the former', async () => {
    await page.open(signInUrl());
    const email = newAddress();
    const code = await askForCode(email);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await page.fill('#code', code === '000000' ? '000001' : '000000');
      await page.untilText('#code-error', attempt < 4 ? /not right/ : /wrong too many times/);
      await page.untilVisible('#code:not([readonly])');
      await page.evaluate('document.querySelector("#code-error").firstChild.data = ""');
    }
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await page.view.click('#resend');
    await page.untilText('#note', /^We sent a new code\.$/);
    await page.fill('#code', await outboxCode(server, email));
    await page.untilVisible('#signed-in');
  });

  test('the card does not move for a message, which covers nothing, at either step', async () => {
    await page.open(signInUrl());
    const { top } = await rectOf('.card');
    async function expectMessage(): Promise<void> {
      await page.untilText('#message', /could not be reached/);
      const [card, message, brand] = [await rectOf('.card'), await rectOf('#message'), await rectOf('.brand')];
      expect(card.top).toBe(top);
      expect(message.top).toBeGreaterThanOrEqual(0);
      expect(message.left).toBeGreaterThanOrEqual(0);
      expect(message.right).toBeLessThanOrEqual(width);
      if (width === 360) expect(message.top).toBeGreaterThanOrEqual(brand.bottom);
      else expect(message.bottom).toBeLessThanOrEqual(card.top);
      expect(await page.sidewaysScroll()).toBe(0);
    }
    await page.fill('#email', newAddress());
    await setOffline(true);
    await page.view.press('Enter');
    await expectMessage();
    await setOffline(false);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    expect(await page.text('#message')).toBe('');
    expect((await rectOf('.card')).top).toBe(top);
    await page.untilFocused('code');
    await setOffline(true);
    await page.pressKeys('123456');
    await expectMessage();
    await setOffline(false);
  });

  test('a limit that others in the network have reached is not held against the address', async () => {
    // The limit may be spent already by the test at another width.
    await request(strict, 'POST', '/api/v1/auth/otp/send', {
      body: { email: 'somebody@example.com', clientId: 'gatehouse-console' },
    });
    await page.open(`${strict.url}/sign-in`);
    await page.fill('#email', 'innocent@example.com');
    await page.view.press('Enter');
    expect(await page.untilText('#message', /\S/)).toMatch(
      /^Too many tries came from your network\. Try again in 1?\d min\.$/,
    );
    expect(await page.text('#email-error')).toBe('');
    expect(await page.evaluate('document.querySelector("#email").getAttribute("aria-invalid")')).toBeNull();
    expect(page.problems).toEqual([]);
  });
});
