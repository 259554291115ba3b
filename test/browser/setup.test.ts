/** First setup on a small phone, against the compiled binary on an empty folder. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { databaseCode, emptyFolder, request, run, type RunningServer, signIn, startServer } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

setDefaultTimeout(120_000);

const folder = emptyFolder();
let server: RunningServer;
let page: Page;

beforeAll(async () => {
  server = await startServer(folder.path);
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
  folder.remove();
});
beforeEach(async () => {
  page = await openBrowserPage();
});
afterEach(() => page.close());

async function expectSoundPage(): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !url.startsWith(`${server.url}/`))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

test('without a link there is no setup page', async () => {
  await page.open(`${server.url}/setup`);
  await page.untilText('h1', /^This setup link no longer works$/);
  expect(await page.isVisible('#email')).toBe(false);
  await expectSoundPage();
});

test('the printed link creates the first owner, and then a working key', async () => {
  await page.open(server.setupUrl!);
  expect(await page.text('h1')).toBe('Set up Gatehouse');
  await page.untilFocused('email');
  await expectSoundPage();

  await page.fill('#email', 'no address');
  await page.view.click('#setup-submit');
  await page.untilText('#email-error', /does not look like an e-mail address/);

  await page.fill('#email', 'owner@example.com');
  await page.view.click('#setup-submit');
  await page.untilVisible('#done');
  expect(await page.text('#done-lead')).toContain('owner@example.com');
  expect((await page.address()).search).toBe('');
  expect(await page.text('#open-console')).toBe('Open the console');
  await expectSoundPage();

  // After a reload the page continues where it was.
  await page.view.reload();
  await page.untilVisible('#create-key');
  expect(await page.text('#done-lead')).toContain('owner@example.com');
  await page.view.click('#create-key');
  await page.untilVisible('#key');
  const key = await page.text('#key');
  expect(key).toMatch(/^eak_\w{49}$/);
  expect(await page.isVisible('#create-key')).toBe(false);
  await expectSoundPage();

  const made = await request(server, 'POST', '/api/applications', { token: key, body: { name: 'Shop' } });
  expect(made.status).toBe(200);
  expect(await page.text('#example')).toContain(`curl ${server.url}/api/applications`);

  await page.view.click('#copy-key');
  await page.untilText('#copy-key', /^Copied$/);
  await expectSoundPage();
});

test.each([
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
])('at $width px, a reload says that a key was made before another is', async (size) => {
  page.close();
  page = await openBrowserPage(size);
  await page.open(`${server.url}/setup`);
  expect(await page.untilText('#earlier-key', /./)).toMatch(/^A key was made (now|\d+ minutes? ago): eak_\w+…$/);
  expect(await page.text('#create-key')).toBe('Make another key');
  await expectSoundPage();
});

test('after the setup the console opens without another sign-in', async () => {
  await page.open(`${server.url}/setup`);
  await page.untilVisible('#open-console');
  await page.view.click('#open-console');
  await page.untilAddress(/\/console\b/);
  await page.untilVisible('#main h1');
  await expectSoundPage();
});

test('a used link is invalid, and its page says how to get another', async () => {
  await page.open(server.setupUrl!);
  expect(await page.text('h1')).toBe('This setup link no longer works');
  expect(await page.text('.lead')).toContain('gatehouse setup-link');
  expect(await page.isVisible('#email')).toBe(false);
  await expectSoundPage();
});

test('the owner signs in to the console at the sign-in page afterwards', async () => {
  const { token } = await signIn(server, 'owner@example.com');
  const list = await request(server, 'GET', '/api/applications', { token });
  expect(list.json.data.items.map(({ name }: { name: string }) => name)).toEqual(['Shop']);
  await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
  await page.open(`${server.url}/sign-in`);
  expect(await page.text('#title')).toBe('Sign in to Gatehouse console');
  await expectSoundPage();

  await page.evaluate(`localStorage.setItem('gatehouse.passkey-offered', 'before')`);
  await page.fill('#email', 'owner@example.com');
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(databaseCode(folder.path, 'owner@example.com'));
  await page.untilAddress(/\/console\b/);
  await page.untilVisible('#main h1');
  expect(page.problems).toEqual([]);
});

test('a link that expires while its page is open is reported as expired', async () => {
  const print = async () => {
    const port = new URL(server.url).port;
    return (await run(['setup-link', '--data', folder.path, '--port', port], { cwd: folder.path })).stdout.trim();
  };
  await page.open(await print());
  expect(await page.text('h1')).toBe('Recover access');
  await print();
  await page.fill('#email', 'late@example.com');
  await page.view.press('Enter');
  await page.untilText('#email-error', /has been used or has expired.*gatehouse setup-link/s);
  await expectSoundPage();
});
