/** The list of sessions and connected devices as a person reads it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { type AccountPage, closeBrowser, later, openAccountPage, personAt } from './account-page.ts';

setDefaultTimeout(120_000);

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const PROXY = { GATEHOUSE_COUNTRY_HEADER: 'cf-ipcountry', GATEHOUSE_TRUSTED_PROXIES: '127.0.0.0/8' };

let server: EphemeralServer;
let page: AccountPage;
let people = 0;

beforeAll(async () => {
  server = await startEphemeral([], PROXY);
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

/** Signs in from another device in Austria. */
async function signInWith(agent: string, email: string): Promise<void> {
  await later(server, 31_000);
  const headers = { 'user-agent': agent, 'x-forwarded-for': '203.0.113.7', 'cf-ipcountry': 'AT' };
  const post = async (path: string, body: object) =>
    (await request(server, 'POST', `/api/v1/auth/otp/${path}`, { body, headers })).json.data;
  const { challengeId } = await post('send', { email, clientId: server.clientId });
  await post('verify', { challengeId, code: await outboxCode(server, email) });
}

describe.each([
  { width: 360, height: 740 },
  { width: 1280, height: 900 },
])('at $width pixels', (size) => {
  const row = (n: number) => `#sessions .row:nth-child(${n})`;
  const drawingOf = (n: number) => page.evaluate<string>(`document.querySelector('${row(n)} .row-icon').innerHTML`);

  beforeEach(async () => {
    page = await openAccountPage(server, size);
  });
  afterEach(async () => {
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    page.close();
  });

  test('this browser comes first, marked; program, phone, tablet and computer look different; the IP address is shown on demand', async () => {
    const email = `devices${(people += 1)}@example.com`;
    const { token } = await personAt(server, email);
    for (const agent of [FIREFOX, IPAD, IPHONE]) await signInWith(agent, email);
    await page.openAs(token, 'devices');
    await page.untilVisible(row(4));
    expect(await page.text(`${row(1)} .badge`)).toBe('This browser');
    expect(await page.isVisible(`${row(1)} .button`)).toBe(false);
    for (const [n, name] of [
      [2, 'Safari on iOS'],
      [3, 'Safari on iOS'],
      [4, 'Firefox on Linux'],
    ] as const)
      expect(await page.text(`${row(n)} .row-title`)).toBe(name);
    const drawings = [await drawingOf(1), await drawingOf(2), await drawingOf(3), await drawingOf(4)];
    expect(new Set(drawings).size).toBe(4);
    expect(await page.text(`${row(2)} .fine`)).toMatch(
      /^Test application\s· signed in \w{3} \d{1,2}, \d{4}\s· last active now\s· Austria\s+IP address$/,
    );
    expect(await page.text('#sessions')).not.toContain('203.0.113.7');
    await page.press(`${row(2)} summary`);
    await page.untilText(`${row(2)} .fine`, /203\.0\.113\.7$/);
    expect(await page.text(row(3))).not.toContain('203.0.113.7');
  });

  test('no line begins with the dot between two facts', async () => {
    const email = `dots${(people += 1)}@example.com`;
    const { token } = await personAt(server, email);
    await signInWith(IPHONE, email);
    for (const locale of ['en', 'uk', 'de']) {
      await page.openAs(token, 'devices');
      await page.open(`${server.url}/account/devices?${new URLSearchParams({ clientId: server.clientId, locale })}`);
      await page.untilVisible(row(2));
      await eventually('both lists', () => page.evaluate<boolean>(`!document.querySelector('.skeleton')`));
      expect(await page.text(row(2))).toContain('·');
      expect([locale, await page.evaluate<string[]>(LINES_FROM_DOT)]).toEqual([locale, []]);
      await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
    }
  });
});

/** Returns the texts in which a dot is on a lower line than the letter before it. */
const LINES_FROM_DOT = `[...document.querySelectorAll('.fine')].flatMap((line) => {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (const { index } of node.data.matchAll(/·/g)) {
      const boxOf = (at) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect();
      };
      if (index >= 2 && boxOf(index).top > boxOf(index - 2).bottom - 4) found.push(node.data);
    }
  return found;
})`;
