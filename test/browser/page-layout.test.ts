/** Measures targets, alignment, dialogs and line breaks of the hosted pages at the widths of a phone and of a desktop. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { type AccountPage, closeBrowser, later, openAccountPage, personAt } from './account-page.ts';
import { createApplication } from './account-reader.ts';

setDefaultTimeout(120_000);

const LONG_NAME = 'Donaudampfschifffahrtsgesellschaft Kundenbereich und Frachtverwaltung';

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

const newAddress = () => `layout${(people += 1)}@example.com`;
const signInAt = (clientId: string) => `${server.url}/sign-in?${new URLSearchParams({ clientId })}`;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

describe.each([
  { width: 360, height: 740 },
  { width: 1280, height: 740 },
])('at $width pixels', ({ width, height }) => {
  const isPhone = width === 360;

  beforeEach(async () => {
    page = await openAccountPage(server, { width, height });
  });
  afterEach(async () => {
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    page.close();
  });

  const boxOf = (selector: string) =>
    page.evaluate<Box>(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`);
  const smallTargets = (least: number) => page.evaluate<string[]>(`(${SMALL_TARGETS})(${least})`);

  /** Goes to the code step of a person who is not signed in. */
  async function toCode(clientId: string, email: string): Promise<void> {
    await page.open(signInAt(clientId));
    await page.untilVisible('#email-form');
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
  }

  test('everything that is pressed is at least 40 px high where it is touched', async () => {
    const email = newAddress();
    const { token } = await personAt(server, email);
    const home = { kind: 'shipping', recipient: 'Ada', line1: 'Ring 1', city: 'Wien', country: 'AT' };
    await request(server, 'POST', '/api/account/profile/addresses', { token, body: home });
    const language = { code: 'de', level: 'NATIVE' };
    await request(server, 'POST', '/api/account/profile/languages', { token, body: language });
    if (!isPhone) await page.view.cdp('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
    if (!isPhone)
      await page.view.cdp('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: true });
    await later(server, 31_000);
    await toCode(server.clientId, email);
    expect(['code', await smallTargets(40)]).toEqual(['code', []]);
    await page.openAs(token, 'profile');
    for (const part of ['profile', 'addresses', 'sign-in', 'devices', 'applications', 'data']) {
      await page.open(`${server.url}/account/${part}?clientId=${server.clientId}`);
      await page.untilVisible('main.account-part h1');
      await eventually('all is loaded', () => page.evaluate<boolean>(`!document.querySelector('.skeleton')`));
      expect([part, await smallTargets(40)]).toEqual([part, []]);
    }
  });

  test('buttons of every form stand at its left edge, and lists show the focus as fields do', async () => {
    const { token } = await personAt(server, newAddress());
    await page.openAs(token, 'sign-in');
    await page.press('#change-email');
    await page.untilFocused('new-email');
    const field = await boxOf('#new-email');
    expect((await boxOf('#new-email-submit')).left).toBe(field.left);
    const ringOf = (selector: string) =>
      page.evaluate<string[]>(`(() => {
        const { boxShadow, borderTopColor, outlineColor } = getComputedStyle(document.querySelector('${selector}'));
        return [boxShadow, borderTopColor, outlineColor];
      })()`);
    await page.evaluate('new Promise((done) => setTimeout(done, 300))');
    const ring = await ringOf('#new-email');
    await page.open(`${server.url}/account/profile?clientId=${server.clientId}`);
    await page.untilVisible('#username-form');
    for (const form of ['names', 'username', 'locale', 'region'])
      expect((await boxOf(`#${form}-save`)).left).toBe((await boxOf(`#${form}-form`)).left);
    await page.press('#username');
    while ((await page.evaluate<string>('document.activeElement.id')) !== 'locale') await page.view.press('Tab');
    await page.evaluate('new Promise((done) => setTimeout(done, 300))');
    expect(await ringOf('#locale')).toEqual(ring);
  });

  test('the buttons of a long dialog stay in view while its text scrolls', async () => {
    const email = newAddress();
    const { token } = await personAt(server, email);
    await page.openAs(token, 'data');
    await page.press('#close-account');
    await page.untilVisible('#close-dialog');
    expect((await boxOf('#close-dialog')).bottom).toBeLessThan(height);
    expect((await boxOf('#close-submit')).bottom).toBeLessThan((await boxOf('#close-dialog')).bottom);
    // A person who overlooks the field is led to it.
    await page.view.click('#close-submit');
    await page.untilFocused('close-typed');
    await page.untilText('#close-typed-error', /\S/);
    const [typed, submit] = [await boxOf('#close-typed'), await boxOf('#close-submit')];
    expect(typed.top).toBeGreaterThan(0);
    expect(typed.bottom).toBeLessThan(submit.top);
    expect((await boxOf('#close-typed-error')).bottom).toBeLessThan(submit.top);
  });

  test('a very long name breaks with a hyphen, on the sign-in and in the account', async () => {
    const { clientId } = await createApplication(server, LONG_NAME);
    const email = newAddress();
    await page.open(signInAt(clientId));
    await page.untilVisible('#email-form');
    expect(await page.evaluate<string[]>(`(${BROKEN_WORDS})('h1')`)).toEqual([]);
    await page.open(`${server.url}/account/applications?clientId=${clientId}`);
    await page.untilVisible('#email-form');
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, email));
    await page.untilVisible('#applications .row');
    expect(await page.evaluate<string[]>(`(${BROKEN_WORDS})('#applications .row-title')`)).toEqual([]);
    await page.press('[data-action=leave]');
    await page.untilVisible('#leaving-dialog');
    expect(await page.evaluate<string[]>(`(${BROKEN_WORDS})('#leaving-dialog h2')`)).toEqual([]);
  });

  test('an outcome has one mark, beside its heading, below the application’s', async () => {
    const { id, clientId } = await createApplication(server, 'Harbour');
    const token = server.workspaceKey;
    await request(server, 'POST', `/api/applications/${id}/signin-gate`, { token, body: { gate: 'private_beta' } });
    const email = newAddress();
    await toCode(clientId, email);
    await page.pressKeys(await outboxCode(server, email));
    await page.untilVisible('#refused');
    // The outcome slides in.
    await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => true)');
    const [mark, heading, brand] = [await boxOf('.outcome-mark'), await boxOf('#refused h1'), await boxOf('.brand')];
    expect(mark.right).toBeLessThan(heading.left);
    expect(Math.abs(mark.top - heading.top)).toBeLessThan(3);
    expect(mark.left).toBe(brand.left);
    expect(mark.bottom - mark.top).toBeLessThan(40);
  });
});

/** Returns visible controls that are lower than this; a label counts with its field. */
const SMALL_TARGETS = `(least) =>
  [...document.querySelectorAll('a, button, input, select, summary')]
    .filter((one) => one.checkVisibility() && !one.closest('.visually-hidden') && one.getBoundingClientRect().width > 1)
    .map((one) => ({ one, box: (one.closest('label.checkbox') ?? one).getBoundingClientRect() }))
    .filter(({ box }) => box.height < least - 0.5)
    .map(({ one, box }) => one.outerHTML.slice(0, 80) + ' ' + box.height)`;

/** Returns where a line ends within a word without a hyphen. */
const BROKEN_WORDS = `(selector) => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let before = null;
    for (let at = 0; at < node.length; at += 1) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      // After a soft hyphen the first box is that of the hyphen, on the line before.
      const { top = 0, width = 0 } = [...range.getClientRects()].at(-1) ?? {};
      if (node.data[at] === '\\u00ad' || width === 0) continue;
      const isNewLine = before !== null && top > before + 4;
      if (isNewLine && /[\\p{L}\\p{N}]/u.test(node.data[at - 1])) found.push(node.data.slice(0, at) + '|' + node.data.slice(at));
      before = top;
    }
  }
  return found;
}`;
