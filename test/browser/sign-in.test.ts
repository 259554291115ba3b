/** The hosted sign-in page in a real browser, at the width of a small phone, against the compiled binary. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(60_000);

let server: EphemeralServer;
let shop: Bun.Server<undefined>;
/** What the shop's own server got to see. */
let visits: string[] = [];
let page: Page;

beforeAll(async () => {
  server = await startEphemeral();
  shop = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      visits.push(url);
      return new Response('<!doctype html><title>Shop</title><link rel="icon" href="data:,">', {
        headers: { 'content-type': 'text/html' },
      });
    },
  });
});
afterAll(async () => {
  closeBrowser();
  await shop.stop(true);
  await server.stop();
});

beforeEach(async () => {
  visits = [];
  page = await openBrowserPage();
});
afterEach(() => page.close());

const returnTo = () => `http://127.0.0.1:${shop.port}/signed-in?from=gatehouse`;

function signInUrl(parameters: Record<string, string> = {}, clientId = server.clientId): string {
  return `${server.url}/sign-in?${new URLSearchParams({ clientId, ...parameters })}`;
}

async function askForCode(email: string): Promise<void> {
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
}

const wrongFor = (code: string) => (code === '000000' ? '000001' : '000000');

/** Nothing failed unseen, nothing came from elsewhere, nothing has to be scrolled sideways. */
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
  test('types e-mail and code and lands at the application with a token that verifies', async () => {
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
    expect(visits).toEqual([returnTo()]);
    await expectSoundPage();
  });

  test('pastes the sentence with the code from the mail', async () => {
    await page.open(signInUrl());
    await askForCode('pasted@example.com');
    await page.paste(`Enter this code on the sign-in page: ${await outboxCode(server, 'pasted@example.com')} now.`);
    await page.untilVisible('#signed-in');
    expect(await page.text('#signed-in')).toContain('You are signed in');
    expect((await page.address()).hash).toBe('');
    await expectSoundPage();
  });

  test('comes to the e-mail field filled in by the application', async () => {
    await page.open(signInUrl({ email: 'known@example.com' }));
    expect(await page.evaluate<string>('document.querySelector("#email").value')).toBe('known@example.com');
    await page.view.click('#email-submit');
    await page.untilVisible('#code-form');
    await expectSoundPage();
  });

  test('reloads while reading the mail and goes on where they were', async () => {
    await page.open(signInUrl());
    await askForCode('reloads@example.com');
    await page.view.reload();
    await page.untilVisible('#code-form');
    expect(await page.text('#lead')).toContain('reloads@example.com');
    await page.fill('#code', await outboxCode(server, 'reloads@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });

  test('goes back to use another address', async () => {
    await page.open(signInUrl());
    await askForCode('mistyped@example.com');
    await page.view.click('#change-email');
    await page.untilVisible('#email-form');
    await askForCode('right@example.com');
    await page.fill('#code', await outboxCode(server, 'right@example.com'));
    await page.untilVisible('#signed-in');
    await expectSoundPage();
  });
});

describe('an error', () => {
  test('of the code is told, keeps the person on the page, and the right code still works', async () => {
    await page.open(signInUrl({ returnTo: returnTo() }));
    await askForCode('wrong@example.com');
    const code = await outboxCode(server, 'wrong@example.com');
    await page.pressKeys(wrongFor(code));
    await page.untilText('#message', /That code is not right/);
    expect(await page.evaluate<string>('document.querySelector("#message").getAttribute("role")')).toBe('alert');
    expect(await page.evaluate<string>('document.querySelector("#code").getAttribute("aria-invalid")')).toBe('true');
    await page.untilFocused('code');
    await expectSoundPage();

    // The wrong digits are selected, so that typing replaces them.
    await leaving(page, () => page.pressKeys(code));
    await page.untilAddress(/#token=est_/);
    await expectSoundPage();
  });

  test('of five wrong codes is told, and the way on is a new code', async () => {
    await page.open(signInUrl());
    await askForCode('exhausted@example.com');
    const code = await outboxCode(server, 'exhausted@example.com');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await page.fill('#code', wrongFor(code));
      await page.untilText('#message', /not right/);
      await page.evaluate('document.querySelector("#message").textContent = ""');
    }
    await page.fill('#code', code);
    await page.untilText('#message', /wrong too many times/);
    expect(await page.isVisible('#resend')).toBe(true);
    await expectSoundPage();
  });

  test('of the e-mail is told without asking the server', async () => {
    await page.open(signInUrl());
    await page.fill('#email', 'no address');
    await page.view.press('Enter');
    await page.untilText('#message', /does not look like an e-mail address/);
    expect(page.requested.filter((url) => url.includes('/api/'))).toEqual([]);
    await expectSoundPage();
  });
});

describe('a refusal', () => {
  test('of a draft application is shown, with the way back', async () => {
    const { json } = await request(server, 'POST', '/api/applications', {
      token: server.workspaceKey,
      body: { name: 'A draft with a rather long name, longer than any phone is wide' },
    });
    await page.open(signInUrl({ returnTo: returnTo() }, json.data.clientId));
    await askForCode('stranger@example.com');
    await page.pressKeys(await outboxCode(server, 'stranger@example.com'));
    await page.untilVisible('#refused');
    expect(await page.text('#refused')).toMatch(/can’t sign in to A draft[^]*closed at the moment/);
    expect(await page.isVisible('#steps')).toBe(false);
    expect(visits).toEqual([]);
    await expectSoundPage();

    await page.view.click('#back');
    const address = await page.untilAddress(/\/signed-in\?/);
    expect(address.hash).toBe('#error=gate_closed');
    await expectSoundPage();
  });
});

describe('an address that is not right', () => {
  test.each([
    'https://evil.example/',
    'https://evil.example\\@127.0.0.1/',
    '//evil.example/',
    'javascript:alert(document.domain)',
    'http://127.0.0.1.evil.example/',
  ])('to return to (%s) shows an error page and is never followed', async (evil) => {
    await page.open(signInUrl({ returnTo: evil }));
    expect(await page.text('h1')).toBe('That link does not work');
    expect(await page.isVisible('#email')).toBe(false);
    expect((await page.address()).href).toBe(signInUrl({ returnTo: evil }));
    expect(await page.evaluate<number>('document.querySelectorAll("a, form, script").length')).toBe(0);
    await expectSoundPage();
  });

  test('of the application shows that there is nothing', async () => {
    const url = signInUrl({}, 'cli_nothing');
    expect((await fetch(url)).status).toBe(404);
    await page.open(url);
    expect(await page.text('h1')).toBe('Nothing here');
    await expectSoundPage();
  });
});

test('the watch over the pages notices what it is there for', async () => {
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
