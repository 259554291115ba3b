/** The hosted sign-in page on a small phone, against the compiled binary. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  databaseCode,
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
import { type Shop, startShop } from '../support/shop.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let shop: Shop;
let page: Page;

beforeAll(async () => {
  server = await startEphemeral();
  shop = startShop();
});
afterAll(async () => {
  closeBrowser();
  await shop.stop();
  await server.stop();
});

beforeEach(async () => {
  shop.visits.length = 0;
  page = await openBrowserPage();
  // Forgets earlier visitors of this browser.
  await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'local_storage' });
});
afterEach(() => page.close());

const returnTo = () => `${shop.url}/signed-in?from=gatehouse`;

function signInUrl(parameters: Record<string, string> = {}, clientId = server.clientId): string {
  return `${server.url}/sign-in?${new URLSearchParams({ clientId, ...parameters })}`;
}

async function askForCode(email: string): Promise<void> {
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
}

const valueOf = (selector: string) => page.evaluate<string>(`document.querySelector('${selector}').value`);

const wrongFor = (code: string) => (code === '000000' ? '000001' : '000000');

/** Checks for hidden failures, requests to other hosts and horizontal scrolling. */
async function expectSoundPage(): Promise<void> {
  expect(page.problems).toEqual([]);
  const { origin } = new URL(server.url);
  const elsewhere = page.requested.filter(
    (url) => !url.startsWith(origin) && !url.startsWith(returnTo().split('?')[0]!) && !url.startsWith('data:'),
  );
  expect(elsewhere).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

describe('a person', () => {
  test('types e-mail and code and returns to the application with a valid token', async () => {
    await page.open(signInUrl({ returnTo: returnTo() }));
    expect(await page.text('#title')).toBe('Sign in to Test application');
    await page.untilFocused('email');
    await expectSoundPage();

    await askForCode('typed@example.com');
    await page.untilFocused('code');
    expect(await page.text('#lead')).toContain('typed@example.com');
    await expectSoundPage();

    await leaving(page, async () => page.pressKeys(await outboxCode(server, 'typed@example.com')));
    const address = await page.untilAddress(/^http:\/\/127\.0\.0\.1:\d+\/signed-in\?from=gatehouse#/);
    const fragment = new URLSearchParams(address.hash.slice(1));
    expect([...fragment.keys()]).toEqual(['token', 'expiresAt']);
    expect(Date.parse(fragment.get('expiresAt')!)).toBeGreaterThan(Date.now());
    const session = await request(server, 'POST', '/api/v1/session', { token: fragment.get('token')! });
    expect(session.json).toMatchObject({ ok: true, email: 'typed@example.com' });
    expect(shop.visits).toEqual([returnTo()]);
    await expectSoundPage();
  });

  test('can paste the whole sentence of the mail that has the code', async () => {
    await page.open(signInUrl());
    await askForCode('pasted@example.com');
    await page.paste(`Enter this code on the sign-in page: ${await outboxCode(server, 'pasted@example.com')} now.`);
    await page.untilVisible('#signed-in');
    expect(await page.text('#signed-in')).toContain('You are signed in');
    expect((await page.address()).hash).toBe('');
    await expectSoundPage();
  });

  test('finds the e-mail field filled in by the application', async () => {
    await page.open(signInUrl({ email: 'known@example.com' }));
    expect(await page.evaluate<string>('document.querySelector("#email").value')).toBe('known@example.com');
    await page.view.click('#email-submit');
    await page.untilVisible('#code-form');
    await expectSoundPage();
  });

  test('reloads the page and continues at the same step', async () => {
    await page.open(signInUrl());
    await askForCode('reloads@example.com');
    await page.view.reload();
    await page.untilVisible('#code-form');
    expect(await page.text('#lead')).toContain('reloads@example.com');
    await page.fill('#code', await outboxCode(server, 'reloads@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test('can go back and use another address', async () => {
    await page.open(signInUrl());
    await askForCode('mistyped@example.com');
    await page.view.click('#change-email');
    await page.untilVisible('#email-form');
    await page.untilFocused('email');
    expect(await valueOf('#email')).toBe('mistyped@example.com');
    await askForCode('right@example.com');
    await page.fill('#code', await outboxCode(server, 'right@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });
});

describe('the browser', () => {
  test('goes back from the code to the e-mail step, and forward again by the same address', async () => {
    await page.open(signInUrl());
    await askForCode('back@example.com');
    await page.evaluate('history.back()');
    await page.untilVisible('#email-form');
    expect((await page.address()).href).toBe(signInUrl());
    expect(await valueOf('#email')).toBe('back@example.com');
    await page.untilFocused('email');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, 'back@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test('fills in the address of an earlier sign-in', async () => {
    await page.open(signInUrl());
    await askForCode('again@example.com');
    await page.pressKeys(await outboxCode(server, 'again@example.com'));
    await page.untilVisible('#signed-in');
    // The session has ended, and its cookie with it.
    await page.view.cdp('Network.clearBrowserCookies');
    await page.open(signInUrl());
    await eventually('the address is there', async () => (await valueOf('#email')) === 'again@example.com');
    await page.open(signInUrl({ email: 'other@example.com' }));
    expect(await valueOf('#email')).toBe('other@example.com');
    await expectSoundPage();
  });

  test('offers the account of a session that goes on, unless the application wants another one', async () => {
    await page.open(signInUrl());
    await askForCode('goes-on@example.com');
    await page.pressKeys(await outboxCode(server, 'goes-on@example.com'));
    await page.untilVisible('#signed-in');
    await page.open(signInUrl({ email: 'goes-on@example.com' }));
    await page.untilText('#accounts', /Continue as goes-on@example\.com/);
    await page.view.click('#another-account');
    await page.untilFocused('email');
    expect(await valueOf('#email')).toBe('');
    await page.open(signInUrl({ email: 'other@example.com' }));
    expect(await valueOf('#email')).toBe('other@example.com');
    await expectSoundPage();
  });
});

describe('a code that was sent', () => {
  const folder = emptyFolder();
  const email = 'owner@example.com';
  let waiting: RunningServer;
  beforeAll(async () => {
    // An ephemeral server has no cool-down between two codes.
    waiting = await startServer(folder.path, {}, ['--dev']);
    const token = new URL(waiting.setupUrl!).searchParams.get('token');
    await request(waiting, 'POST', '/api/setup', { body: { token, email } });
  });
  afterAll(async () => {
    await waiting.stop();
    folder.remove();
  });

  test('is offered again instead of being re-sent: after “Change”, after Back, and in a second tab', async () => {
    await page.open(`${waiting.url}/sign-in`);
    await askForCode(email);
    expect(await page.text('#lead')).toContain('We sent a six-digit code');
    const code = databaseCode(folder.path, email);
    for (const leave of [() => page.view.click('#change-email'), () => page.evaluate('history.back()')]) {
      await leave();
      await page.untilVisible('#email-form');
      await askForCode(email);
      expect(await page.text('#lead')).toContain('still works');
    }
    expect(databaseCode(folder.path, email)).toBe(code);
    expect(page.problems).toEqual([]);

    const second = await openBrowserPage();
    try {
      await second.open(`${waiting.url}/sign-in`);
      await second.fill('#email', email);
      await second.view.press('Enter');
      await second.untilVisible('#code-form');
      expect(await second.text('#lead')).toContain('still works');
      await second.pressKeys(code);
      await second.untilAddress(/\/console\b/);
      await second.untilVisible('#main h1');
      expect(second.problems).toEqual([]);
    } finally {
      second.close();
    }
  });

  test('cannot be requested again before the countdown on its button ends', async () => {
    await page.open(`${waiting.url}/sign-in`);
    await askForCode('countdown@example.com');
    expect(await page.text('#resend')).toMatch(/^New code in 0:[23]\d$/);
    expect(await page.evaluate<boolean>(`document.querySelector('#resend').disabled`)).toBe(true);
    expect(page.problems).toEqual([]);
  });
});

describe('a code', () => {
  test('has one field for typing, pasting and autofill, shown as six slots', async () => {
    await page.open(signInUrl());
    await askForCode('slots@example.com');
    const slots = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('.slot')].map((slot) => slot.innerText)`);
    await page.pressKeys('12a3');
    expect(await slots()).toEqual(['1', '2', '3', '', '', '']);
    await page.view.press('Backspace');
    expect(await slots()).toEqual(['1', '2', '', '', '', '']);
    const { length, autocomplete, inputMode } = await page.evaluate<Record<string, unknown>>(
      `(({ length }, { autocomplete, inputMode }) => ({ length, autocomplete, inputMode }))(
        document.querySelectorAll('#code-form input'), document.querySelector('#code'))`,
    );
    expect([length, autocomplete, inputMode]).toEqual([1, 'one-time-code', 'numeric']);
    await page.view.press('Enter');
    await page.untilText('#code-error', /Enter all six digits/);
    await expectSoundPage();
  });

  test('can be requested again, and the newest one signs in', async () => {
    await page.open(signInUrl());
    await askForCode('resend@example.com');
    const first = await outboxCode(server, 'resend@example.com');
    await page.untilText('#resend', /^Send a new code$/);
    await page.view.click('#resend');
    await page.untilText('#note', /^We sent a new code\. The previous one works too, if it arrives\.$/);
    expect(await outboxCode(server, 'resend@example.com')).not.toBe(first);
    await page.untilFocused('code');
    await page.pressKeys(await outboxCode(server, 'resend@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });
});

describe('the footer', () => {
  test('switches the page to another language by URL', async () => {
    await page.open(signInUrl({ email: 'kept@example.com' }));
    expect(await valueOf('#language')).toBe('en');
    await leaving(page, () =>
      page.evaluate(`(() => {
        const language = document.querySelector('#language');
        language.value = 'de';
        language.dispatchEvent(new Event('change', { bubbles: true }));
      })()`),
    );
    expect((await page.address()).href).toBe(signInUrl({ email: 'kept@example.com', locale: 'de' }));
    expect(await valueOf('#language')).toBe('de');
    expect(await valueOf('#email')).toBe('kept@example.com');
    expect(await page.evaluate<number>('document.querySelectorAll("#language option").length')).toBe(15);
    await expectSoundPage();
  });

  test('links the application’s terms, privacy policy and imprint on every step, if they are set', async () => {
    const key = { token: server.workspaceKey };
    const legalUrls = {
      terms: 'https://shop.example/terms',
      privacy: 'https://shop.example/privacy',
      imprint: 'https://shop.example/imprint',
    };
    const { json } = await request(server, 'POST', '/api/applications', { ...key, body: { name: 'Ruled' } });
    const path = `/api/applications/${json.data.id}`;
    for (const step of ['publish', 'go-live']) await request(server, 'POST', `${path}/${step}`, key);
    const shown = () => page.evaluate<string[]>(`[...document.querySelectorAll('footer a')].map(({ href }) => href)`);
    await page.open(signInUrl({}, json.data.clientId));
    expect(await shown()).toEqual([]);

    expect((await request(server, 'PATCH', path, { ...key, body: { legalUrls } })).status).toBe(200);
    await page.open(signInUrl({}, json.data.clientId));
    expect(await page.text('footer')).toContain('Terms');
    expect(await shown()).toEqual(Object.values(legalUrls));
    await askForCode('reads-terms@example.com');
    expect(await shown()).toEqual(Object.values(legalUrls));
    await expectSoundPage();
  });
});

describe('an error', () => {
  test('in the code is shown on the same page, and the right code still works', async () => {
    await page.open(signInUrl({ returnTo: returnTo() }));
    await askForCode('wrong@example.com');
    const code = await outboxCode(server, 'wrong@example.com');
    await page.pressKeys(wrongFor(code));
    await page.untilText('#code-error', /That code is not right/);
    expect(await page.evaluate<string>('document.querySelector("#code-error").getAttribute("role")')).toBe('alert');
    expect(await page.text('#message')).toBe('');
    expect(await page.evaluate<string>('document.querySelector("#code").getAttribute("aria-invalid")')).toBe('true');
    await page.untilFocused('code');
    await expectSoundPage();

    // The wrong digits are selected, so that typing replaces them.
    await leaving(page, () => page.pressKeys(code));
    await page.untilAddress(/#token=est_/);
    await expectSoundPage();
  });

  test('after the fifth wrong code says that a new code is needed', async () => {
    await page.open(signInUrl());
    await askForCode('exhausted@example.com');
    const code = await outboxCode(server, 'exhausted@example.com');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await page.fill('#code', wrongFor(code));
      await page.untilText('#code-error', attempt < 4 ? /not right/ : /wrong too many times/);
      await page.evaluate('document.querySelector("#code-error").firstChild.data = ""');
    }
    expect(await page.isVisible('#code-submit')).toBe(false);
    expect(await page.text('#resend')).toBe('Send a new code');
    expect(await page.evaluate<boolean>('document.querySelector("#resend").disabled')).toBe(false);
    await expectSoundPage();

    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await page.view.click('#resend');
    await page.untilVisible('#code-submit');
    // The note does not mention the exhausted code.
    await page.untilText('#note', /^We sent a new code\.$/);
    await page.fill('#code', await outboxCode(server, 'exhausted@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test.each([
    ['tried', true],
    ['untried', false],
  ])('does not promise that an expired code works alongside the new one: %s', async (_, isTried) => {
    const email = `expired-${isTried}@example.com`;
    await page.open(signInUrl());
    await askForCode(email);
    const code = await outboxCode(server, email);
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 11 * 60_000 } });
    // Moves the browser's clock: it compares answers with real time, and the server's clock was moved before.
    await page.evaluate(`(() => { const now = Date.now; Date.now = () => now() + ${2 * 60 * 60_000}; })()`);
    if (isTried) {
      await page.fill('#code', code);
      await page.untilText('#code-error', /expired/);
    }
    await page.untilText('#resend', /^Send a new code$/);
    await page.view.click('#resend');
    await page.untilText('#note', /^We sent a new code\.$/);
    await page.fill('#code', await outboxCode(server, email));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test('in the e-mail address is shown without asking the server', async () => {
    await page.open(signInUrl());
    await page.fill('#email', 'no address');
    await page.view.press('Enter');
    await page.untilText('#email-error', /does not look like an e-mail address/);
    await page.untilFocused('email');
    expect(page.requested.filter((url) => url.includes('/api/'))).toEqual([]);
    await expectSoundPage();
  });
});

describe('a network error', () => {
  test('is shown above the card, and marks no field', async () => {
    await page.open(signInUrl());
    await page.evaluate(`(() => {
      window.fetch = () => Promise.reject(new TypeError('offline'));
    })()`);
    await page.fill('#email', 'offline@example.com');
    await page.view.press('Enter');
    await page.untilText('#message', /could not be reached/);
    expect(await page.text('#email-error')).toBe('');
    expect(
      await page.evaluate<string | null>('document.querySelector("#email").getAttribute("aria-invalid")'),
    ).toBeNull();
    await expectSoundPage();
  });
});

describe('a refusal', () => {
  test('by a draft application is shown, with a link back', async () => {
    const { json } = await request(server, 'POST', '/api/applications', {
      token: server.workspaceKey,
      body: { name: 'A draft with a rather long name, longer than any phone is wide' },
    });
    await page.open(signInUrl({ returnTo: returnTo() }, json.data.clientId));
    await askForCode('stranger@example.com');
    await page.pressKeys(await outboxCode(server, 'stranger@example.com'));
    await page.untilVisible('#refused');
    expect(await page.text('#refused h1')).toMatch(/^A draft with .* is not open yet$/);
    expect(await page.text('#refused')).toContain('stranger@example.com');
    expect(await page.isVisible('#code-form')).toBe(false);
    expect(shop.visits).toEqual([]);
    await expectSoundPage();

    await page.view.click('#back');
    const address = await page.untilAddress(/\/signed-in\?/);
    expect(address.hash).toBe('#error=gate_closed');
    await expectSoundPage();
  });
});

describe('a wrong link', () => {
  test('with somebody else’s token opens no console as them', async () => {
    const { token, expiresAt } = await signIn(server, 'owner@example.test');
    await page.open(`${server.url}/sign-in#${new URLSearchParams({ token, expiresAt })}`);
    await page.untilText('#message', /\S/);
    expect(page.requested).not.toContain(`${server.url}/account/session`);
    expect((await page.address()).href).toBe(`${server.url}/sign-in`);
    await expectSoundPage();
  });

  test.each([
    'https://evil.example/',
    'https://evil.example\\@127.0.0.1/',
    '//evil.example/',
    'javascript:alert(document.domain)',
    'http://127.0.0.1.evil.example/',
  ])('with the return URL %s shows an error page and is never followed', async (evil) => {
    await page.open(signInUrl({ returnTo: evil }));
    expect(await page.text('h1')).toBe('That link does not work');
    expect(await page.isVisible('#email')).toBe(false);
    expect((await page.address()).href).toBe(signInUrl({ returnTo: evil }));
    expect(await page.evaluate<number>('document.querySelectorAll("form").length')).toBe(0);
    const links = `[...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))`;
    expect((await page.evaluate<string[]>(links)).filter((link) => link.includes('evil'))).toEqual([]);
    await expectSoundPage();
  });

  test('to an unknown application shows an error page', async () => {
    const url = signInUrl({}, 'cli_nothing');
    expect((await fetch(url)).status).toBe(404);
    await page.open(url);
    expect(await page.text('h1')).toBe('Nothing here');
    await expectSoundPage();
  });
});

test('the check for page problems notices each kind of problem', async () => {
  await page.open(signInUrl());
  await page.evaluate(`(() => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "ran"';
    document.head.append(script);
    console.error('something failed');
    setTimeout(() => { throw new Error('nobody caught this'); });
    document.querySelector('main').style.width = '500px';
  })()`);
  const expected = ['Content Security Policy', 'something failed', 'nobody caught this'];
  const isNoticed = (text: string) => page.problems.some((problem) => problem.includes(text));
  await eventually('all three are noticed', () => expected.every(isNoticed));
  expect(await page.evaluate<string>('document.title')).not.toBe('ran');
  expect(await page.sidewaysScroll()).toBeGreaterThan(0);
});
