/** Sign-ins without a return address: only a trial shows a session token. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: Page;
let clientId: string;
let trialUrl: string;

beforeAll(async () => {
  server = await startEphemeral();
  const { id, ...made } = await manage('/api/applications', {
    name: 'Harbour',
    returnUrls: ['https://harbour.example/app/in'],
  });
  ({ clientId } = made);
  for (const step of ['publish', 'go-live']) await manage(`/api/applications/${id}/${step}`);
  ({ url: trialUrl } = await manage(`/api/applications/${id}/sign-in-trial`));
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  page = await openBrowserPage();
});
afterEach(() => {
  expect(page.problems).toEqual([]);
  page.close();
});

async function manage(path: string, body?: unknown) {
  const { status, text, json } = await request(server, 'POST', path, { token: server.workspaceKey, body });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return json.data;
}

async function signInAt(url: string, email: string): Promise<void> {
  await page.open(url);
  await page.untilVisible('#email');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(await outboxCode(server, email));
  await page.untilVisible('#signed-in');
}

const html = () => page.evaluate<string>('document.documentElement.outerHTML');
const links = () =>
  page.evaluate<string[][]>(
    '[...document.querySelectorAll("#signed-in a")].map((link) => [link.href, link.innerText.trim()])',
  );

test.each([
  ['without a trial', (url: string) => url.replace(/&trial=.*/, '')],
  ['with a forged one', (url: string) => url.replace(/\.[\w-]{22}$/, `.${'A'.repeat(22)}`)],
  ['with a word in its place', (url: string) => url.replace(/trial=.*/, 'trial=1')],
])('%s no token is shown: the page links to the application and the account', async (name, change) => {
  const url = change(trialUrl);
  await signInAt(url, `${name.replaceAll(' ', '-')}@example.com`);
  expect(await html()).not.toContain('est_');
  expect(await links()).toEqual([
    ['https://harbour.example/', 'Back to Harbour'],
    [`${server.url}/account?clientId=${clientId}`, 'Your account'],
  ]);
  expect(await page.sidewaysScroll()).toBe(0);
});

test('a trial sign-in ends with the token and the command to verify it, in the reader’s language', async () => {
  await signInAt(`${trialUrl}&locale=de`, 'trial@example.com');
  const token = await page.untilText('#trial-token', /^est_\w{49}$/);
  expect(await page.text('#signed-in')).toContain('Mit Ihrem API-Schlüssel prüfen');
  const command = (await page.text('#trial-command')).replace('eak_…', server.workspaceKey);
  const verdict = JSON.parse(await Bun.$`sh -c ${command}`.quiet().text());
  expect(verdict).toMatchObject({ success: true, data: { email: 'trial@example.com' } });
  expect(command).toContain(token);
  expect(await page.sidewaysScroll()).toBe(0);
  // The session belonged to the page and has ended.
  expect((await page.address()).href).not.toContain('est_');
  await page.view.reload();
  await page.untilVisible('#email');
  expect(await html()).not.toContain('est_');
});
