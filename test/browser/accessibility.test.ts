/** Every state of the hosted pages under axe-core; the pages by keyboard, without scripts and over slow lines. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { outboxCode } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { forgetEverything, type Scene, setScene } from '../shots/scene.ts';
import { CONTINUED, STATES } from '../shots/states.ts';
import { expectAccessible, findings, look } from './axe.ts';

setDefaultTimeout(120_000);

/** Total compressed size. */
const SIGN_IN_BYTES = 36 * 1024;
const ACCOUNT_BYTES = 60 * 1024;

let scene: Scene;
let page: Page;

beforeAll(async () => {
  scene = await setScene('en');
  page = await openBrowserPage({ width: 1280, height: 900 });
});
afterAll(async () => {
  page.close();
  closeBrowser();
  await scene.stop();
});

describe('no accessibility violation in any theme at', () => {
  test.each(STATES.map((state, index) => [state.name, state, index] as const))('%s', async (name, { reach }, index) => {
    await look(page, 'light', 1280);
    if (!CONTINUED.has(name)) await forgetEverything(page, scene);
    page.problems.length = page.requested.length = 0;
    await reach(page, scene);
    await expectAccessible(page, index);
    expect(page.problems).toEqual([]);
    const own = [scene.server.url, scene.ownUrl, scene.fresh.url, 'about:', 'data:'];
    expect(page.requested.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
  });
});

test('an accessibility violation is reported', async () => {
  await page.open(scene.address('/device'));
  await page.evaluate(`void document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="data:,">')`);
  expect((await findings(page)).join()).toContain('image-alt');
});

describe('with the keyboard alone', () => {
  const press = (key: string) => page.view.press(key as never);
  const focused = () => page.evaluate<string>('document.activeElement?.id ?? ""');

  /** Presses Tab until the element has the focus. */
  async function tabTo(id: string): Promise<void> {
    const passed: string[] = [];
    for (let steps = 0; steps < 25 && (await focused()) !== id; steps += 1) {
      await press('Tab');
      passed.push(await focused());
      const isSeen = await page.evaluate<boolean>(
        `document.activeElement === document.body || document.activeElement.matches(':focus-visible')`,
      );
      expect([await focused(), isSeen]).toEqual([await focused(), true]);
    }
    expect([passed, await focused()]).toEqual([passed, id]);
  }

  const type = async (text: string) => {
    for (const key of text) await press(key);
  };

  async function toCode(email: string): Promise<void> {
    await page.untilFocused('email');
    await page.view.type(email);
    await press('Enter');
    await page.untilFocused('code');
  }

  beforeAll(async () => {
    await look(page, 'light', 1280);
  });

  test('a person corrects the address, mistypes the code, requests another and signs in', async () => {
    await forgetEverything(page, scene);
    const { clientId } = await scene.application();
    await page.open(scene.address('/sign-in', { clientId }));
    await page.evaluate(`localStorage.setItem('gatehouse.passkey-offered', 'before')`);
    await toCode(scene.newEmail('mistyped'));
    await page.evaluate('document.activeElement.blur()');
    await tabTo('change-email');
    await press('Enter');
    await page.untilFocused('email');
    await page.evaluate('document.activeElement.select()');
    const email = scene.newEmail();
    await toCode(email);
    const code = await outboxCode(scene.server, email);
    await type(code === '000000' ? '000001' : '000000');
    await page.untilText('#code-error', /\S/);
    await page.untilFocused('code');
    await type(code);
    await page.untilVisible('#signed-in');
  });

  test('a person on the waitlist requests access, then uses another address', async () => {
    await forgetEverything(page, scene);
    const { clientId } = await scene.application('private_beta');
    await page.open(scene.address('/sign-in', { clientId }));
    const email = scene.newEmail();
    await toCode(email);
    await type(await outboxCode(scene.server, email));
    await page.untilVisible('#refused');
    await tabTo('interest');
    await press('Enter');
    await page.untilVisible('#refused:not(:has(#interest))');
    await tabTo('refused-change-email');
    await press('Enter');
    await page.untilFocused('email');
  });
});

describe('without JavaScript', () => {
  beforeAll(async () => void (await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: true })));
  afterAll(async () => void (await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: false })));

  test.each(['/sign-in', '/device', '/account'])('%s says that JavaScript is required', async (path) => {
    await page.open(scene.address(path));
    expect(await page.text('noscript .note')).toContain('JavaScript');
    expect(await page.isVisible('noscript .note')).toBe(true);
  });
});

/** Opens a page and returns the compressed bytes of its document and assets. */
async function transferred(address: string): Promise<number> {
  const before = page.requested.length;
  await page.open(address);
  const loaded = [...new Set(page.requested.slice(before))].filter(
    (url) => url === address || url.includes('/assets/'),
  );
  expect(loaded.length).toBeGreaterThan(3);
  const sizes = await Promise.all(
    loaded.map(async (url) => {
      const response = await fetch(url, { headers: { 'accept-encoding': 'gzip, br' }, decompress: false });
      return (await response.arrayBuffer()).byteLength;
    }),
  );
  return sizes.reduce((sum, size) => sum + size);
}

test('the account page transfers less than 60 KB in all', async () => {
  await forgetEverything(page, scene);
  const { clientId } = await scene.application();
  expect(await transferred(scene.address('/account/profile', { clientId }))).toBeLessThan(ACCOUNT_BYTES);
});

describe('the sign-in page', () => {
  test('transfers less than 36 KB in all', async () => {
    await forgetEverything(page, scene);
    const { clientId } = await scene.application();
    expect(await transferred(scene.address('/sign-in', { clientId }))).toBeLessThan(SIGN_IN_BYTES);
  });

  test('has its form in the HTML and shows it before scripts run', async () => {
    const { clientId } = await scene.application();
    const html = await (await fetch(scene.address('/sign-in', { clientId }))).text();
    expect(html.slice(0, html.indexOf('page-data'))).toContain('id="email-form"');
    await page.open(scene.address('/sign-in', { clientId }));
    expect(await page.isVisible('#email')).toBe(true);
  });
});
