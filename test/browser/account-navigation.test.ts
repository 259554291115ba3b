/** Moving among the parts of the account: the navigation, where a part begins, and what was typed before. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ACCOUNT_PARTS } from '@/pages/account/parts.ts';
import { type EphemeralServer, eventually, outboxCode, startEphemeral } from '../support/binary.ts';
import { type AccountPage, closeBrowser, later, openAccountPage, personAt } from './account-page.ts';

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

const newAddress = () => `moves${(people += 1)}@example.com`;

describe.each([
  { width: 360, height: 740 },
  { width: 1280, height: 700 },
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
    page.evaluate<{ left: number; right: number; top: number; bottom: number }>(
      `document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`,
    );
  const link = (part: string) => `nav a[href^="/account/${part}"]`;
  const scrolled = () => page.evaluate<number>('scrollY');
  const valueOf = (selector: string) => page.evaluate<string>(`document.querySelector('${selector}').value`);

  /** Turns the wheel over the page until it is scrolled this far, or as far as it goes: a page grows as lists arrive. */
  async function scrollTo(top: number): Promise<number> {
    const reached = `scrollY === Math.min(${top}, document.documentElement.scrollHeight - innerHeight)`;
    await eventually(`scrolled to ${top}`, async () => {
      const wheel = { type: 'mouseWheel', x: width - 60, y: height - 60, deltaX: 0, deltaY: top - (await scrolled()) };
      if (wheel.deltaY !== 0) await page.view.cdp('Input.dispatchMouseEvent', wheel);
      // Twice the pause after which the page stores its position. A turn of the wheel has arrived by then.
      await page.evaluate('new Promise((done) => setTimeout(done, 600))');
      return page.evaluate<boolean>(reached);
    });
    return scrolled();
  }

  /** Presses a part in the navigation, which may have to be swiped sideways first. */
  async function open(part: string): Promise<void> {
    await page.evaluate(`(() => {
      const [row, link] = [document.querySelector('nav'), document.querySelector(${JSON.stringify(link(part))})];
      row.scrollLeft = link.offsetLeft - 40;
    })()`);
    await page.view.click(link(part));
    await page.untilVisible(`${link(part)}[aria-current]`);
  }

  async function expectAtHeading(): Promise<void> {
    await eventually('the heading is focused', () =>
      page.evaluate(`document.activeElement === document.querySelector('h1')`),
    );
    expect(await scrolled()).toBe(0);
    expect((await boxOf('h1')).top).toBeGreaterThan(0);
  }

  test('the navigation takes one row on a phone, with the open part in view and the heading high on the page', async () => {
    const { token } = await personAt(server, newAddress());
    await page.openAs(token, 'profile');
    for (const part of ACCOUNT_PARTS) {
      await page.open(`${server.url}/account/${part}?clientId=${server.clientId}`);
      await page.untilVisible('main.account-part h1');
      const [nav, current, heading] = [await boxOf('nav'), await boxOf('nav [aria-current]'), await boxOf('h1')];
      expect([part, current.left >= 0, current.right <= width]).toEqual([part, true, true]);
      expect(nav.bottom - nav.top).toBeLessThan(isPhone ? 60 : 300);
      expect(heading.top).toBeLessThan(200);
    }
    if (isPhone)
      expect(await page.evaluate<boolean>(`document.querySelector('nav').matches('[data-more-before]')`)).toBe(true);
  });

  test('a part opens at its focused heading, and going back returns to the place that was left', async () => {
    const { token } = await personAt(server, newAddress());
    await page.openAs(token, 'profile');
    await page.untilVisible('#languages .empty');
    const top = await scrollTo(isPhone ? 60 : 330);
    expect(top).toBeGreaterThan(0);
    await open('sign-in');
    await expectAtHeading();
    expect(await page.text('h1')).toBe('Sign-in and e-mail');

    await page.evaluate('history.back()');
    await page.untilVisible('#names-form');
    await eventually('back where it was', async () => (await scrolled()) === top);
    const end = await scrollTo(100_000);
    await page.evaluate('history.forward()');
    await page.untilVisible('#email-address');
    await expectAtHeading();
    await page.evaluate('history.back()');
    await eventually('back at the end', async () => Math.abs((await scrolled()) - end) <= 1);
    expect(await page.text('h1')).toBe('Profile');
  });

  test('what was typed but not saved is still there after another part, and gone after a sign-out', async () => {
    const [email, target] = [newAddress(), newAddress()];
    const { token } = await personAt(server, email);
    await page.openAs(token, 'profile');
    await page.press('#fullName');
    await page.fill('#fullName', 'Ada Lovelace');
    await page.evaluate('scrollTo(0, 0)');
    await open('sign-in');
    await page.press('#change-email');
    await page.fill('#new-email', target);
    await later(server, 31_000);
    await page.view.press('Enter');
    await page.prove(email);
    await page.untilText('#new-email-form', new RegExp(`We sent a code to ${target}`));
    await page.evaluate('scrollTo(0, 0)');
    await open('profile');
    expect(await valueOf('#fullName')).toBe('Ada Lovelace');
    await page.press('#names-save');
    await page.untilSaid(/^Saved\.$/);

    await page.press('#givenName');
    await page.fill('#givenName', 'Augusta');
    await page.evaluate('scrollTo(0, 0)');
    await open('sign-in');
    await page.press('#code');
    await page.pressKeys(await outboxCode(server, target));
    await page.untilText('#email-changed', new RegExp(`Your address is ${target} now`));
    await page.evaluate('scrollTo(0, 0)');
    await open('profile');
    expect([await valueOf('#fullName'), await valueOf('#givenName')]).toEqual(['Ada Lovelace', 'Augusta']);
    await open('sign-in');
    expect(await page.isVisible('#new-email-form')).toBe(false);

    await page.signOut();
    await page.untilVisible('#email-form');
    const next = newAddress();
    await page.fill('#email', next);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, next));
    await page.untilVisible('main.account-part h1');
    await open('profile');
    expect([await valueOf('#fullName'), await valueOf('#givenName')]).toEqual(['', '']);
  });
});
