/** From an empty folder to the first verified session, by the console alone: clicked through as a person would, against the clock. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { emptyFolder, type RunningServer, startServer } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

setDefaultTimeout(90_000);

/** What a newcomer who reads nothing else has. */
const PATIENCE_MS = 60_000;

const folder = emptyFolder();
let server: RunningServer;
let page: Page;

beforeAll(async () => {
  server = await startServer(folder.path);
  page = await openBrowserPage({ width: 1280, height: 860 });
});
afterAll(async () => {
  page.close();
  closeBrowser();
  await server.stop();
  folder.remove();
});

async function press(selector: string): Promise<void> {
  await page.untilVisible(selector);
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
  await page.view.click(selector);
}

/** The link in the console's navigation. */
const section = (name: string) => press(`.rail a[href$="/${name}"]`);

test('an empty folder has its first verified session within a minute, without curl and without a mail server', async () => {
  const since = performance.now();
  await page.open(server.setupUrl!);
  await page.untilFocused('email');
  await page.fill('#email', 'owner@example.com');
  await press('#setup-submit');
  await press('#open-console');
  await page.untilText('#main h1', /^Applications$/);

  await press('#create-application');
  await page.untilVisible('#application-form');
  await page.fill('#application-name', 'Shop');
  await press('#application-form-submit');
  await page.untilText('#main h1', /^Shop$/);
  const overview = await page.address();
  await press('#go-live');
  await page.untilText('#first-steps', /It is live/);

  // The first person signs in where the console says.
  const signInPage = await page.evaluate<string>('document.querySelector("#open-sign-in").href');
  const visitor = await openBrowserPage();
  await visitor.open(signInPage);
  await visitor.untilVisible('#email');
  await visitor.fill('#email', 'ada@example.com');
  await visitor.view.click('#email-submit');
  await visitor.untilVisible('#code-form');

  // Without a mail server their code is in the outbox, which the owner reads.
  await section('outbox');
  await page.untilText('#main', /ada@example\.com/);
  // A list keeps codes to itself; who opens the mail is on record.
  await page.view.click('#outbox .row-link');
  const code = await page.untilText('#mail-code', /^\d{6}/).then((text) => /\d{6}/.exec(text)![0]);
  await visitor.evaluate(`(() => {
    const real = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const response = await real(input, init);
      if (String(input).endsWith('/otp/verify')) document.body.dataset.token = (await response.clone().json()).data.token;
      return response;
    };
  })()`);
  await visitor.paste(code);
  await visitor.untilVisible('[data-token]');
  const token = await visitor.evaluate<string>('document.body.dataset.token');
  visitor.close();

  await page.open(overview.href);
  await press('#create-first-key');
  const key = await page.untilText('#first-key', /^eak_\w+$/);
  const verdict = await fetch(`${server.url}/api/v1/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  expect(await verdict.json()).toMatchObject({ success: true, data: { email: 'ada@example.com' } });
  // Seen as it comes, without a reload.
  await page.untilVisible('#first-verified');
  expect(performance.now() - since).toBeLessThan(PATIENCE_MS);

  // What is done is not told again, and is found in the activity.
  await page.view.reload();
  await page.untilVisible('#numbers');
  expect(await page.isVisible('#first-steps')).toBe(false);
  await section('activity');
  await page.untilText('#main', /ada@example\.com/);
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !/^data:/.test(url) && !url.startsWith(`${server.url}/`))).toEqual([]);
});
