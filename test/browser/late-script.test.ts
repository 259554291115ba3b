/** Pages whose script is late, lost or switched off, and an account whose server is away, at both widths. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { later } from './account-page.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { mayLeave, settled } from './leaving.ts';

setDefaultTimeout(120_000);

const SCRIPTS = /^\/assets\/.*\.js$/;
/** The note appears six seconds after the page. */
const NOTE_MS = 30_000;

let server: EphemeralServer;
let proxy: FaultyProxy;
let page: Page;
let people = 0;

beforeAll(async () => {
  server = await startEphemeral();
  proxy = startFaultyProxy(server.url);
});
afterAll(async () => {
  closeBrowser();
  await proxy.stop();
  await server.stop();
});

const newAddress = () => `late${(people += 1)}@example.com`;
const addressOf = (path: string) => `${proxy.url}${path}?clientId=${server.clientId}`;
const isReady = () => page.evaluate<boolean>(`document.documentElement.dataset.ready === ''`);
const topOf = (selector: string) =>
  page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().top`);

/** Begins to load a page, whose load event may wait for what is held back. */
async function begin(url: string): Promise<void> {
  void mayLeave(() => page.view.navigate(url)).catch(() => {});
  await eventually('the address is open', async () => (await page.address().catch(() => null))?.href === url);
}

/** Returns the milliseconds until the first paint of something visible. */
const firstPaint = () =>
  eventually('something is painted', () =>
    page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`).catch(() => 0),
  );

async function askForCode(email: string): Promise<string> {
  await page.untilVisible('#email-form');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  return outboxCode(server, email);
}

describe.each([
  [360, 740],
  [1280, 800],
])('at %i px', (width, height) => {
  beforeEach(async () => {
    proxy.treat(null);
    page = await openBrowserPage({ width, height });
    for (const origin of [server.url, proxy.url])
      await page.view.cdp('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await page.view.cdp('Network.setCacheDisabled', { cacheDisabled: true });
  });
  afterEach(() => {
    proxy.release();
    page.close();
  });

  test('the form is painted while its script is held back, and keeps what was typed before', async () => {
    proxy.treat({ of: SCRIPTS, as: 'held' });
    await begin(addressOf('/sign-in'));
    await firstPaint();
    await page.untilVisible('#email-form');
    expect(await isReady()).toBe(false);
    await page.fill('#email', 'early@example.com');
    expect(await page.isVisible('#script-late a')).toBe(true);
    expect(await page.evaluate('getComputedStyle(document.querySelector("#script-late")).visibility')).toBe('hidden');

    proxy.release();
    await page.untilReady();
    expect(await page.evaluate<string>('document.querySelector("#email").value')).toBe('early@example.com');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    expect(await page.text('#lead')).toContain('early@example.com');
    expect(page.problems.filter((problem) => !problem.includes('502'))).toEqual([]);
  });

  test.each(['/sign-in', '/account', '/device'])(
    '%s says when its script is lost, and can be loaded again',
    async (path) => {
      proxy.treat({ of: SCRIPTS, as: 'lost' });
      await begin(addressOf(path));
      await firstPaint();
      await page.untilVisible('.card');
      const top = await topOf('.card');
      await eventually(
        'the note is visible',
        () =>
          page.evaluate<boolean>(`getComputedStyle(document.querySelector('#script-late')).visibility === 'visible'`),
        NOTE_MS,
      );
      expect(await page.text('#script-late')).toBe('This page did not load fully. Load it again');
      expect(await topOf('.card')).toBe(top);
      expect(await page.sidewaysScroll()).toBe(0);

      proxy.treat(null);
      await page.view.click('#script-late a');
      await page.untilReady();
      expect((await page.address()).href).toBe(addressOf(path));
      expect(await page.isVisible('#script-late')).toBe(false);
    },
  );

  test('a page that continues with a code shows no e-mail form meanwhile', async () => {
    await page.open(addressOf('/sign-in'));
    const code = await askForCode(newAddress());
    proxy.treat({ of: SCRIPTS, as: 'held' });
    void mayLeave(() => page.view.reload()).catch(() => {});
    await eventually('the page loads again', () =>
      isReady().then(
        (ready) => !ready,
        () => false,
      ),
    );
    // Before the stylesheet is there, nothing is painted and everything counts as visible.
    await firstPaint();
    await page.untilVisible('.card .brand');
    expect(await page.evaluate('getComputedStyle(document.querySelector("#email")).visibility')).toBe('hidden');
    proxy.release();
    await page.untilVisible('#code-form');
    await page.pressKeys(code);
    await page.untilVisible('#signed-in');
    expect(await page.evaluate<string>('document.cookie')).not.toContain('gatehouse.step');
  });

  test('without JavaScript nothing is asked or promised that cannot follow', async () => {
    await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: true });
    for (const path of ['/sign-in', '/account', '/device']) {
      await page.open(addressOf(path));
      expect(await page.isVisible('noscript .note')).toBe(true);
      for (const selector of ['#lead', '.loading', '#script-late', 'form'])
        expect([path, selector, await page.isVisible(selector)]).toEqual([path, selector, false]);
    }
  });

  test('an account whose server is away is not signed out, and opens at “Try again”', async () => {
    await page.open(addressOf('/account'));
    const email = newAddress();
    const code = await askForCode(email);
    // The code is right, but the account cannot be loaded yet: no second code is needed.
    proxy.treat({ of: /^\/api\/account$/, as: 'away' });
    await page.pressKeys(code);
    await page.untilText('#away h1', /^Your account cannot be reached right now$/);
    proxy.treat(null);
    await page.view.click('#retry');
    await page.untilVisible('main.account-part h1');

    proxy.treat({ of: /^\/api\//, as: 'away' });
    await page.view.reload();
    await settled(page);
    await page.untilText('#away', /The server is busy/);
    expect(await page.isVisible('#email-form')).toBe(false);
    await page.view.click('#retry');
    await page.untilVisible('#away');
    proxy.treat(null);
    await page.view.click('#retry');
    await page.untilVisible('main.account-part h1');
    expect(page.problems.filter((problem) => !problem.includes('502'))).toEqual([]);
  });

  test('a person who is banned while signed in sees it at the next load, and at the next press', async () => {
    const email = newAddress();
    await later(server);
    await page.open(addressOf('/account'));
    await page.pressKeys(await askForCode(email));
    await page.untilVisible('main.account-part h1');
    const token = server.workspaceKey;
    const users = `/api/applications/${server.applicationId}/users`;
    const { json } = await request(server, 'GET', users, { token });
    const { userId } = json.data.items.find((user: { email: string }) => user.email === email);
    expect((await request(server, 'POST', `${users}/${userId}/ban`, { token, body: {} })).status).toBe(200);

    await page.evaluate(`document.querySelector('nav a[href^="/account/devices"]').click()`);
    await page.untilText('#refused h1', /^Your account is blocked$/);
    expect(await page.text('#refused')).not.toContain(email);
    await page.view.reload();
    await page.untilText('#refused h1', /^Your account is blocked$/);
    expect(await page.sidewaysScroll()).toBe(0);
    // The server renders this step, whose button does nothing until the script is there.
    await page.untilReady();
    await page.view.click('#refused-change-email');
    await page.untilVisible('#email-form');
    expect(page.problems).toEqual([]);
  });
});
