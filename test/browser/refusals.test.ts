/** Refused sign-ins: the reason, the recorded request for access, and the next step. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type EphemeralServer,
  emptyFolder,
  eventually,
  outboxCode,
  request,
  type RunningServer,
  signIn,
  startEphemeral,
  startServer,
} from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

setDefaultTimeout(120_000);

/** The page polls every six seconds. */
const POLL_MS = 15_000;

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
  await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'local_storage' });
});
afterEach(() => page.close());

interface Application {
  readonly id: string;
  readonly clientId: string;
}

/** Makes a manager's call. @throws unless it succeeds. */
async function manage(method: string, path: string, body?: unknown) {
  const { status, text, json } = await request(server, method, path, { token: server.workspaceKey, body });
  if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return json.data;
}

async function createApplication(name: string, gate?: 'closed' | 'private_beta'): Promise<Application> {
  const application = await manage('POST', '/api/applications', { name });
  if (gate === undefined) return application;
  for (const step of ['publish', 'go-live']) await manage('POST', `/api/applications/${application.id}/${step}`);
  await setGate(application, gate);
  return application;
}

const setGate = ({ id }: Application, gate: 'public' | 'private_beta' | 'closed') =>
  manage('POST', `/api/applications/${id}/signin-gate`, { gate });

async function archive({ id }: Application): Promise<void> {
  const { challengeId } = await manage('POST', `/api/applications/${id}/lifecycle/send`, { kind: 'archive' });
  const code = await outboxCode(server, 'owner@example.test');
  await manage('POST', `/api/applications/${id}/lifecycle/confirm`, { challengeId, code });
}

const interests = async ({ id }: Application) =>
  (await manage('GET', `/api/applications/${id}/beta-interests`)).items.map(
    ({ email, status, source }: Record<string, string>) => ({ email, status, source }),
  );

const open = ({ clientId }: Application) => page.open(`${server.url}/sign-in?clientId=${clientId}`);

async function signInHere(email: string): Promise<void> {
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(await outboxCode(server, email));
}

/** Signs in to the application as a stranger, with a correct code. */
async function refusedAs(email: string, application: Application): Promise<void> {
  await open(application);
  await signInHere(email);
  await page.untilVisible('#refused');
}

const untilHeading = (pattern: RegExp) =>
  eventually(`the heading says ${pattern}`, async () => pattern.test(await page.text('#refused h1')), POLL_MS);

async function expectSoundPage(): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !url.startsWith(server.url) && !url.startsWith('data:'))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

describe('on the waitlist', () => {
  test('a person requests access, reads what is recorded, and the operators see the request', async () => {
    const application = await createApplication('Beta', 'private_beta');
    await refusedAs('ada@example.com', application);
    expect(await page.text('#refused h1')).toBe('You are not on the list yet');
    expect(await page.text('#refused .lead')).toContain('ada@example.com');
    expect(await page.text('#interest')).toBe('Request access');
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('H1');
    expect(await interests(application)).toEqual([]);
    await expectSoundPage();

    await page.view.click('#interest');
    await untilHeading(/^Your request is recorded$/);
    expect(await page.text('#refused .lead')).toContain('ada@example.com');
    expect(await page.isVisible('#interest')).toBe(false);
    expect(await interests(application)).toEqual([{ email: 'ada@example.com', status: 'pending', source: 'request' }]);
    await expectSoundPage();
  });

  test('a request is approved at once if the application accepts everyone', async () => {
    const application = await createApplication('Welcoming', 'private_beta');
    await manage('POST', `/api/applications/${application.id}/beta-policy`, { policy: 'auto_accept' });
    await refusedAs('bea@example.com', application);
    await page.view.click('#interest');
    await untilHeading(/^You are on the list$/);
    await page.view.click('#sign-in-now');
    await page.untilVisible('#email-form');
    await signInHere('bea@example.com');
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test('a failed request is reported under the button, and can be repeated', async () => {
    const application = await createApplication('Flaky', 'private_beta');
    await refusedAs('cleo@example.com', application);
    await page.evaluate(`(() => {
      const real = window.fetch;
      // Lets the page's own poll of the application's state through.
      window.fetch = (path, init) =>
        init.method === 'POST' ? ((window.fetch = real), Promise.reject(new TypeError('offline'))) : real(path, init);
    })()`);
    await page.view.click('#interest');
    await page.untilText('#interest-error', /could not be reached/);
    await page.view.click('#interest');
    await untilHeading(/^Your request is recorded$/);
    await expectSoundPage();
  });

  test('a waiting person sees when the application opens, and continues with the same address', async () => {
    const application = await createApplication('Opening', 'private_beta');
    await refusedAs('dora@example.com', application);
    await setGate(application, 'public');
    await untilHeading(/^Opening is open now$/);
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('H1');
    await expectSoundPage();

    expect(await page.evaluate<string>('document.title')).toBe('Opening is open now');
    await page.view.click('#sign-in-now');
    await page.untilVisible('#email-form');
    expect(await page.evaluate<string>('document.title')).toBe('Sign in to Opening');
    expect(await page.evaluate<string>('document.querySelector("#email").value')).toBe('dora@example.com');
    await signInHere('dora@example.com');
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });
});

describe('before a closed application', () => {
  test('a person leaves their address, and is notified when it opens', async () => {
    const application = await createApplication('Shut', 'closed');
    await refusedAs('eva@example.com', application);
    expect(await page.text('#refused h1')).toBe('Shut takes no new sign-ups');
    expect(await page.text('#refused .lead')).toContain('eva@example.com');
    expect(await page.text('#interest')).toBe('Tell me when it opens');
    await page.view.click('#interest');
    await untilHeading(/^We will tell you$/);
    expect(await page.text('#refused .lead')).toContain('eva@example.com');
    expect(await interests(application)).toEqual([
      { email: 'eva@example.com', status: 'notify_when_public', source: 'notify' },
    ]);
    await expectSoundPage();
  });

  test('another address can be used instead', async () => {
    const application = await createApplication('Selective', 'closed');
    const users = [{ email: 'known@example.com' }];
    await manage('POST', `/api/applications/${application.id}/users/bulk`, { users });
    await refusedAs('unknown@example.com', application);
    await page.view.click('#refused-change-email');
    await page.untilVisible('#email-form');
    await signInHere('known@example.com');
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test('the page changes when the application enters private beta or is archived', async () => {
    const application = await createApplication('Wandering', 'closed');
    await refusedAs('fay@example.com', application);
    await setGate(application, 'private_beta');
    await untilHeading(/^You are not on the list yet$/);
    expect(await page.text('#interest')).toBe('Request access');
    await archive(application);
    await untilHeading(/^Wandering is no longer in service$/);
    expect(await page.isVisible('#interest')).toBe(false);
    expect(await page.isVisible('#refused-change-email')).toBe(false);
    await expectSoundPage();
  });
});

describe('before a draft', () => {
  test('a visitor reads that it is a draft, and in development which API call opens it', async () => {
    const application = await createApplication('Sketch');
    await refusedAs('gus@example.com', application);
    expect(await page.text('#refused h1')).toBe('Sketch is not open yet');
    expect(await page.text('#refused')).toContain('gus@example.com');
    expect(await page.text('.sample')).toBe(`POST /api/applications/${application.id}/publish`);
    expect(await page.text('#interest')).toBe('Tell me when it opens');
    await expectSoundPage();
  });
});

describe('an archived application', () => {
  test('is reported to a person who is typing a code, and sends no further code', async () => {
    const application = await createApplication('Ending', 'private_beta');
    await open(application);
    await page.fill('#email', 'hal@example.com');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    const code = await outboxCode(server, 'hal@example.com');
    await archive(application);
    await page.pressKeys(code);
    await page.untilText('#code-error', /Ask for a new one/);
    await page.view.click('#resend');
    await page.untilVisible('#refused');
    await untilHeading(/^Ending is no longer in service$/);
    await expectSoundPage();
  });

  test('has a page that says so, with a link to its site', async () => {
    const application = await createApplication('Ended', 'closed');
    await manage('PATCH', `/api/applications/${application.id}`, { returnUrls: ['https://ended.example/in'] });
    await archive(application);
    await open(application);
    expect(await page.text('h1')).toBe('Ended is no longer in service');
    expect(await page.text('.lead')).toContain('archived');
    expect(await page.evaluate<string>(`document.querySelector('.actions a').getAttribute('href')`)).toBe(
      'https://ended.example/',
    );
    await expectSoundPage();
  });
});

describe('a banned person', () => {
  test('sees the ban with the address it applies to', async () => {
    const application = { id: server.applicationId, clientId: server.clientId };
    const { userId } = await signIn(server, 'ivy@example.com', application.clientId);
    await manage('POST', `/api/applications/${application.id}/users/${userId}/ban`);
    await refusedAs('ivy@example.com', application);
    expect(await page.text('#refused h1')).toBe('Your account is blocked');
    expect(await page.text('#refused .lead')).toContain('ivy@example.com');
    expect(await page.isVisible('#interest')).toBe(false);
    expect(await page.isVisible('#refused-change-email')).toBe(true);
    await expectSoundPage();
  });
});

describe('a server without mail', () => {
  const folder = emptyFolder();
  let quiet: RunningServer;
  beforeAll(async () => {
    quiet = await startServer(folder.path);
  });
  afterAll(async () => {
    await quiet.stop();
    folder.remove();
  });

  test('does not claim that a code was sent, and says who can help', async () => {
    await page.open(`${quiet.url}/sign-in`);
    await page.fill('#email', 'jo@example.com');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    expect(await page.text('#title')).toBe('No e-mail was sent');
    expect(await page.text('#lead')).toMatch(/jo@example\.com.*cannot send e-mail yet.*Ask the people who run it/s);
    expect(await page.text('body')).not.toMatch(/We sent|spam/);
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
  });
});
