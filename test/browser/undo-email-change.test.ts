/** The link that undoes a change of address: a page with one button that works without scripts. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { undoLinkOf } from './moved-address.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: Page;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  page = await openBrowserPage();
});
afterEach(() => page.close());

test('one click restores the address and ends the session; the link is then used up', async () => {
  const stolen = await signIn(server, 'ada@example.com', server.clientId);
  const link = await undoLinkOf(server, stolen.token, 'ada@example.com', 'mallory@example.com');
  await page.open(link);
  expect(await page.text('h1')).toBe('Undo the change of your e-mail address?');
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
  await page.view.click('button.primary');
  await page.untilText('h1', /^The change was undone$/);
  expect((await page.address()).search).toBe('');
  expect(page.problems).toEqual([]);
  expect((await request(server, 'POST', '/api/v1/session', { token: stolen.token })).json.error).toBe('revoked');
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 31_000 } });
  expect((await signIn(server, 'ada@example.com', server.clientId)).userId).toBe(stolen.userId);
  await page.open(link);
  expect(await page.text('.lead')).toStartWith('This link was used or has expired.');
});
