/** From an empty folder to the first verified session by the console alone, within a minute. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { emptyFolder, type RunningServer, startServer } from '../support/binary.ts';
import { startMailServer } from '../support/smtp.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { findings } from './axe.ts';

setDefaultTimeout(120_000);

/** Longest time for a newcomer who reads nothing else. */
const PATIENCE_MS = 60_000;

const folder = emptyFolder();
let server: RunningServer;
let page: Page;

beforeAll(async () => {
  server = await startServer(folder.path);
});
beforeEach(async () => {
  page = await openBrowserPage({ width: 1280, height: 860 });
});
afterEach(() => page.close());
afterAll(async () => {
  closeBrowser();
  await server.stop();
  folder.remove();
});

async function press(selector: string): Promise<void> {
  await page.untilVisible(selector);
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
  await page.view.click(selector);
}

/** Presses the link in the console's navigation. */
const section = (name: string) => press(`.rail-link[href$="/${name}"]`);

/** Sets the mail server in the first steps: refused by one password, and kept with the other. */
async function setUpMail(): Promise<void> {
  const mails = await startMailServer();
  try {
    await press('#set-up-mail');
    await page.untilVisible('#mail-server-submit');
    await page.fill('#mail-server-host', '127.0.0.1');
    await page.fill('#mail-server-port', String(mails.port));
    await page.fill('#mail-server-username', 'ops@acme.example');
    await page.fill('#mail-server-password', 'wrong');
    await page.fill('#mail-server-from', 'Acme <no-reply@acme.example>');
    mails.reply({ logIn: '535 5.7.8 authentication failed' });
    await press('#mail-server-submit');
    await page.untilText('#mail-server-failure', /not kept[^]*535 5\.7\.8 authentication failed/);
    expect(await findings(page)).toEqual([]);
    mails.reply({});
    await page.fill('#mail-server-password', 'right');
    await press('#mail-server-submit');
    await page.untilText('#mail-step', /\(done\)[^]*Codes are sent by 127\.0\.0\.1/);
    expect(mails.received).toHaveLength(1);
  } finally {
    await mails.close();
  }
}

/** Reads the content of a field. */
const valueOf = (of: Page, selector: string) =>
  of.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).value`);

async function openedByNewcomer(): Promise<void> {
  await page.open(server.setupUrl!);
  await page.untilFocused('email');
  await page.fill('#email', 'owner@example.com');
  await press('#setup-submit');
  await press('#open-console');
  await page.untilText('#main h1', /^Applications$/);
}

/** Checks that the owner's session is still in this browser. */
async function openedByOwner(): Promise<void> {
  await page.open(`${server.url}/console`);
  await section('applications');
  await page.untilText('#main h1', /^Applications$/);
}

async function createApplication(name: string): Promise<void> {
  await press('#create-application');
  await page.untilVisible('#application-form');
  await page.fill('#application-name', name);
  await press('#application-form-submit');
  await page.untilText('#main h1', new RegExp(`^${name}$`));
}

test('a new instance gets its first verified session within a minute by following the screen alone', async () => {
  const since = performance.now();
  await openedByNewcomer();
  await createApplication('Shop');
  await press('#go-live');
  await page.untilText('#first-steps', /It is live/);

  // The key stays visible while the reader visits other views.
  await press('#create-first-key');
  const key = await page.untilText('#first-key-value', /^eak_\w+$/);
  await section('users');
  await page.untilText('#main h1', /^Users$/);
  await section('overview');
  expect(await page.untilText('#first-key-value', /\S/)).toBe(key);

  // The first person signs in from the console, which shows the code.
  await press('#trial-email');
  await page.fill('#trial-email', 'ada@example.com');
  const link = await page.untilText('#sign-in-link', /ada/);
  const visitor = await openBrowserPage();
  await visitor.open(link);
  await visitor.untilVisible('#email');
  await visitor.view.click('#email-submit');
  await visitor.untilVisible('#code-form');
  const code = await page.untilText('#trial-code', /^\d{6}$/);
  await visitor.pressKeys(code);
  const token = await visitor.untilText('#trial-token', /^est_\w+$/);
  expect(await visitor.text('#trial-command')).toContain(token);
  expect(await visitor.sidewaysScroll()).toBe(0);
  expect(visitor.problems).toEqual([]);
  visitor.close();

  // The console has the token already, and makes the call of the command that it shows.
  await page.untilText('#trial-signed-in', /next step/);
  expect(await valueOf(page, '#session-token')).toBe(token);
  await press('#run-verify');
  expect(await page.untilText('#verify-answer-text', /\S/)).toContain('"email": "ada@example.com"');
  await page.untilVisible('#first-verified');
  expect(performance.now() - since).toBeLessThan(PATIENCE_MS);

  // The key is shown until the reader confirms having stored it.
  await section('users');
  await section('overview');
  expect(await page.untilText('#first-key-value', /\S/)).toBe(key);
  await press('#first-key-stored');
  await page.untilText('#key-step', /API keys/);

  // Completed steps are not shown again; what the users need next is, until the reader hides it.
  await page.view.reload();
  await page.untilText('#next-steps', /Return URL[^]*http:\/\/localhost[^]*serve --dev[^]*no mail server yet/);
  expect(await page.isVisible('#first-steps')).toBe(false);
  await setUpMail();
  await press('#mail-step .button');
  await page.untilText('#main h1', /^Instance health$/);
  await page.untilText('#warnings', /Nothing backs up this server/);
  await page.untilText('#mail', /Set\s+In the console/);
  expect(await page.text('#warnings')).not.toContain('No mail server is set');
  // Later tests read their codes in the outbox.
  await press('#remove-mail-server-button');
  await press('#remove-mail-server-submit');
  await page.untilText('#mail', /There is no mail server/);
  await page.evaluate('history.back()');
  await press('#next-steps header .button');
  await page.untilVisible('#numbers');
  expect(await page.isVisible('#next-steps')).toBe(false);
  await section('activity');
  await page.untilText('#main', /ada@example\.com/);
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !/^data:/.test(url) && !url.startsWith(`${server.url}/`))).toEqual([]);
});

test('a refused token completes no step and shows its reason; the shown command, run in a terminal, completes it', async () => {
  await openedByOwner();
  await createApplication('Market');
  await press('#create-first-key');
  await page.untilText('#first-key-value', /^eak_\w+$/);

  const command = async () => (await page.untilText('#verify-step .snippets pre', /^curl/)).trim();
  const terminal = async () => JSON.parse(await Bun.$`sh -c ${await command()}`.quiet().text());
  expect(await terminal()).toMatchObject({ success: false, errorMessage: 'invalid_token' });
  await page.untilText('#verification-refusal', /A call arrived, but its token was refused: invalid_token/);
  expect(await page.isVisible('#first-verified')).toBe(false);

  // The owner may sign in to a draft. The token is pasted, as from another browser.
  const visitor = await openBrowserPage();
  await visitor.open(await page.untilText('#sign-in-link', /^http/));
  await visitor.untilVisible('#email');
  await visitor.view.click('#email-submit');
  await visitor.untilVisible('#code-form');
  await visitor.pressKeys(await page.untilText('#trial-code', /^\d{6}$/));
  const token = await visitor.untilText('#trial-token', /^est_\w+$/);
  visitor.close();
  await press('#session-token');
  await page.fill('#session-token', token);
  expect(await terminal()).toMatchObject({ success: true, data: { email: 'owner@example.com' } });
  await page.untilVisible('#first-verified');
  expect(await page.isVisible('#verification-refusal')).toBe(false);
});

test('the language of a snippet and its framework are remembered', async () => {
  await openedByOwner();
  await createApplication('Orchard');
  const framework = async (name: string) => {
    await page.untilVisible('#verify-step .snippets select');
    await page.evaluate(`(() => {
      const list = document.querySelector('#verify-step .snippets select');
      list.value = ${JSON.stringify(name)};
      list.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
  };
  await press('#verify-step [role=tab]:nth-child(2)');
  await page.untilText('#verify-step .snippets pre', /whoIsCalling/);
  await framework('Express');
  await page.untilText('#verify-step .snippets pre', /app\.use\(async \(req, res, next\)/);
  await press('#verify-step [role=tab]:nth-child(3)');
  await framework('FastAPI');
  await page.untilText('#verify-step .snippets pre', /HTTPBearer/);
  expect(await findings(page)).toEqual([]);
  await page.view.reload();
  await page.untilText('#verify-step .snippets pre', /HTTPBearer/);
  await press('#verify-step [role=tab]:nth-child(2)');
  await page.untilText('#verify-step .snippets pre', /res\.locals\.user/);
  // A language without frameworks has only its code.
  await press('#verify-step [role=tab]:nth-child(1)');
  await page.untilText('#verify-step .snippets pre', /^curl/);
  expect(await page.isVisible('#verify-step .snippets select')).toBe(false);
});

test('the link of the first sign-in moves nothing when it arrives', async () => {
  await openedByOwner();
  await createApplication('Meadow');
  await page.untilText('#sign-in-link', /^http/);
  let release = () => {};
  page.view.addEventListener('Fetch.requestPaused', (event) => {
    const { requestId } = (event as MessageEvent<{ requestId: string }>).data;
    release = () => void page.view.cdp('Fetch.continueRequest', { requestId });
  });
  await page.view.cdp('Fetch.enable', { patterns: [{ urlPattern: '*/sign-in-trial' }] });
  const top = () => page.evaluate<number>(`document.querySelector('#verify-step').getBoundingClientRect().top`);
  for (const width of [1280, 390]) {
    await page.view.resize(width, 860);
    await page.view.reload();
    await page.untilText('#verify-step .snippets pre', /^curl/);
    const before = await top();
    expect(await page.isVisible('#open-sign-in')).toBe(false);
    expect(await findings(page)).toEqual([]);
    release();
    await page.untilText('#sign-in-link', /^http/);
    expect(await top()).toBe(before);
  }
});

test('a key lost by a reload can be created again, and is listed among the keys', async () => {
  await openedByOwner();
  await createApplication('Garden');
  await press('#create-first-key');
  const key = await page.untilText('#first-key-value', /^eak_\w+$/);
  await press('#first-key-stored');
  await page.view.reload();
  expect(await page.untilText('#key-step', /API keys/)).not.toContain(key);
  await press('#create-another-key');
  expect(await page.untilText('#first-key-value', /^eak_\w+$/)).not.toBe(key);
  await press('#first-key-stored');
  await press('#key-step a');
  await page.untilText('#main h1', /^API keys$/);
});
