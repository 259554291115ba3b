/** Connects a device on the hosted page, from its code to its key. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { leaving } from './leaving.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

setDefaultTimeout(120_000);

const HOSTILE = `<img src=x onerror="document.title='ran'">`;

let provider: OpenIdProvider;
let server: EphemeralServer;
let page: Page;

beforeAll(async () => {
  provider = await startOpenIdProvider({
    accounts: [{ login: 'ada', email: 'ada@example.com', name: 'Ada Lovelace' }],
  });
  server = await startEphemeral([], provider.environment);
});
afterAll(async () => {
  closeBrowser();
  await Promise.all([provider.stop(), server.stop()]);
});

beforeEach(async () => {
  page = await openBrowserPage();
});
afterEach(() => page.close());

interface Grant {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri_complete: string;
}

async function askForCode(clientId = server.clientId, deviceName = 'Ada’s laptop'): Promise<Grant> {
  const body = { client_id: clientId, device_name: deviceName };
  return (await request(server, 'POST', '/api/v1/device/code', { body })).json;
}

/** Polls as a device does, once per interval. */
async function poll({ device_code }: Grant, clientId = server.clientId) {
  await advance(6_000);
  return request(server, 'POST', '/api/v1/device/token', { body: { device_code, client_id: clientId } });
}

const advance = (advanceMs: number) => request(server, 'POST', '/test/clock', { body: { advanceMs } });

async function signInHere(email: string): Promise<void> {
  await page.untilVisible('#email-form');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(await outboxCode(server, email));
}

/** Scrolls to an element, since the page is longer than the phone, and clicks it. */
async function click(selector: string): Promise<void> {
  await page.evaluate(`document.querySelector('${selector}').scrollIntoView({ block: 'center' })`);
  await page.view.click(selector);
}

async function expectSoundPage(): Promise<void> {
  expect(page.problems.filter((problem) => !problem.includes(provider.issuer))).toEqual([]);
  const elsewhere = page.requested.filter((url) => !url.startsWith(server.url) && !url.startsWith(provider.issuer));
  expect(elsewhere).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

describe('a person', () => {
  test('types the code, signs in, sees the requested access, and connects the device', async () => {
    const grant = await askForCode();
    await page.open(`${server.url}/device`);
    expect(await page.text('h1')).toBe('Connect a device');
    await page.untilFocused('user-code');
    await expectSoundPage();
    await page.pressKeys(grant.user_code.toLowerCase().replace('-', ''));
    expect(await page.evaluate<string>('document.querySelector("#user-code").value')).toBe(grant.user_code);
    await leaving(page, () => page.view.press('Enter'));

    await page.untilVisible('#email-form');
    expect((await page.address()).href).toBe(grant.verification_uri_complete);
    expect(await page.text('#title')).toBe('Sign in to Test application');
    expect(await page.text('#lead')).toContain(grant.user_code);
    await expectSoundPage();

    await signInHere('person@example.com');
    await page.untilVisible('#confirm');
    expect(await page.text('#confirm')).toContain('It will act as you in Test application');
    expect(await page.text('.shown-code')).toBe(grant.user_code);
    expect(await page.text('#account')).toBe('person@example.com');
    expect(await page.text('#device')).toMatch(/^Ada’s laptop\nAsked .+ from 127\.0\.0\.1$/);
    expect(await page.text('#access')).toMatch(/^Roles\s+user$/);
    expect(await page.text('#warning')).toContain('Only continue if you started this yourself');
    expect((await poll(grant)).json.error).toBe('authorization_pending');
    await expectSoundPage();

    await click('#approve');
    await page.untilVisible('#approved');
    expect(await page.text('#approved')).toContain('You can close this page and go back to your device.');
    expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);
    await expectSoundPage();

    const { status, json } = await poll(grant);
    expect(status).toBe(200);
    expect(json).toEqual({ access_token: expect.stringMatching(/^eak_/), token_type: 'Bearer', scope: null });
    const roles = await request(server, 'GET', '/api/me/roles', { token: json.access_token });
    expect(roles.json.data.roles).toEqual(['user']);
  });

  test('declines, and the device gets the refusal', async () => {
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete);
    await signInHere('declines@example.com');
    await page.untilVisible('#confirm');
    await click('#deny');
    await page.untilVisible('#declined');
    expect((await poll(grant)).json.error).toBe('access_denied');
    await expectSoundPage();
  });

  test('reloads the page before deciding, and is still signed in', async () => {
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete);
    await signInHere('reloads@example.com');
    await page.untilVisible('#confirm');
    await page.view.reload();
    await page.untilVisible('#confirm');
    expect(await page.text('#account')).toBe('reloads@example.com');
    await click('#approve');
    await page.untilVisible('#approved');
    await expectSoundPage();
  });

  test('signs in as somebody else instead', async () => {
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete);
    await signInHere('wrong-one@example.com');
    await page.untilVisible('#confirm');
    await click('#change-account');
    await signInHere('right-one@example.com');
    await page.untilVisible('#confirm');
    expect(await page.text('#account')).toBe('right-one@example.com');
    await click('#approve');
    await page.untilVisible('#approved');
    const { json } = await poll(grant);
    const verdict = await request(server, 'POST', '/api/v1/verify', {
      token: server.workspaceKey,
      body: { token: json.access_token },
    });
    expect(verdict.json.data).toMatchObject({ email: 'right-one@example.com' });
    await expectSoundPage();
  });

  test('signs in through the provider and comes back to the device', async () => {
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete);
    await leaving(page, () => page.view.click('#provider'));
    await page.untilVisible('input[name=login]');
    await page.fill('input[name=login]', 'ada');
    await leaving(page, () => page.view.press('Enter'));
    await page.untilVisible('#confirm');
    expect((await page.address()).href).toBe(grant.verification_uri_complete);
    expect(await page.text('#account')).toBe('Ada Lovelace\nada@example.com');
    await click('#approve');
    await page.untilVisible('#approved');
    expect((await poll(grant)).status).toBe(200);
    await expectSoundPage();
  });

  test('signs in with a passkey', async () => {
    const origin = server.url.replace('127.0.0.1', 'localhost');
    const { token } = await signIn(server, 'key@example.com', server.clientId);
    await addAuthenticator(page);
    await page.open(`${origin}/device`);
    await page.evaluate(`(async () => {
      const send = (path, body) => fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer ${token}' },
        body: JSON.stringify(body),
      }).then((answer) => answer.json());
      const { data } = await send('/api/account/passkeys/options', {});
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(data.options);
      const credential = await navigator.credentials.create({ publicKey });
      await send('/api/account/passkeys', { challengeId: data.challengeId, credential: credential.toJSON() });
    })()`);
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete.replace('127.0.0.1', 'localhost'));
    await page.untilVisible('#confirm');
    expect(await page.text('#account')).toBe('key@example.com');
    expect(await page.isVisible('#offer')).toBe(false);
  });

  test('sees which workspaces the device would manage, for the console', async () => {
    const grant = await askForCode('console', 'Workstation');
    await page.open(grant.verification_uri_complete);
    await signInHere('owner@example.test');
    await page.untilVisible('#confirm');
    expect(await page.text('#access')).toMatch(/Owner of \S+/);
    await expectSoundPage();
    await click('#approve');
    await page.untilVisible('#approved');
    const { json } = await poll(grant, 'console');
    const list = await request(server, 'GET', '/api/applications', { token: json.access_token });
    expect(list.json.data.items).toHaveLength(1);
  });
});

describe('a code', () => {
  test('is checked for its form without asking the server', async () => {
    await page.open(`${server.url}/device`);
    await page.fill('#user-code', 'AEIO-1234');
    await page.view.press('Enter');
    await page.untilText('#user-code-error', /A code has eight letters/);
    await page.untilFocused('user-code');
    expect((await page.address()).search).toBe('');
    await expectSoundPage();
  });

  test('returns to the form if it is wrong, which keeps it for correction', async () => {
    await page.open(`${server.url}/device`);
    await page.fill('#user-code', 'bcdf ghjk');
    await leaving(page, () => page.view.press('Enter'));
    await page.untilText('#user-code-error', /not right or has expired/);
    expect(await page.evaluate<string>('document.querySelector("#user-code").value')).toBe('BCDF-GHJK');
    await expectSoundPage();

    const grant = await askForCode();
    await page.fill('#user-code', grant.user_code);
    await leaving(page, () => page.view.press('Enter'));
    await page.untilVisible('#email-form');
    await expectSoundPage();
  });

  test('is reported if it expires before the decision, with a link to start again', async () => {
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete);
    await signInHere('slow@example.com');
    await page.untilVisible('#confirm');
    await advance(16 * 60_000);
    await click('#approve');
    await page.untilVisible('#failed');
    expect(await page.text('#failed-text')).toContain('has expired or was used already');
    expect(await page.isVisible('#retry')).toBe(false);
    expect((await poll(grant)).json.error).toBe('expired_token');
    await expectSoundPage();
    await leaving(page, () => page.view.click('#failed a'));
    await page.untilVisible('#user-code');
  });

  test('leads to a new sign-in if the session has ended before the decision', async () => {
    const grant = await askForCode();
    await page.open(grant.verification_uri_complete);
    await signInHere('signed-out@example.com');
    await page.untilVisible('#confirm');
    const { token } = JSON.parse(await page.evaluate<string>('sessionStorage.getItem("gatehouse.device")'));
    await request(server, 'DELETE', '/api/v1/session', { token });
    await click('#approve');
    await page.untilText('#message', /Sign in again to continue/);
    expect(await page.isVisible('#email-form')).toBe(true);
    await expectSoundPage();
  });
});

test('a sign-in older than ten minutes must be repeated, and then the same code is approved', async () => {
  const early = await askForCode();
  await page.open(early.verification_uri_complete);
  await signInHere('patient@example.com');
  await page.untilVisible('#confirm');
  await advance(11 * 60_000);
  await click('#approve');
  await page.untilText('#message', /Sign in again to continue/);
  expect(await page.text('#lead')).toContain(early.user_code);
  expect((await poll(early)).json.error).toBe('authorization_pending');
  await signInHere('patient@example.com');
  await page.untilVisible('#confirm');
  expect(await page.text('.shown-code')).toBe(early.user_code);
  await click('#approve');
  await page.untilVisible('#approved');
  expect((await poll(early)).status).toBe(200);
  await expectSoundPage();
});

describe('untrusted input', () => {
  test('is shown as plain text', async () => {
    const key = { token: server.workspaceKey };
    const made = await request(server, 'POST', '/api/applications', { ...key, body: { name: HOSTILE } });
    const { id, clientId } = made.json.data;
    for (const step of ['publish', 'go-live']) await request(server, 'POST', `/api/applications/${id}/${step}`, key);
    const users = [{ email: 'hostile@example.com', profile: { fullName: HOSTILE } }];
    await request(server, 'POST', `/api/applications/${id}/users/bulk`, { ...key, body: { users } });

    const grant = await askForCode(clientId, HOSTILE);
    await page.open(grant.verification_uri_complete);
    expect(await page.text('#title')).toBe(`Sign in to ${HOSTILE}`);
    await signInHere('hostile@example.com');
    await page.untilVisible('#confirm');
    expect(await page.text('#confirm .lead')).toContain(HOSTILE);
    expect(await page.text('#account')).toBe(`${HOSTILE}\nhostile@example.com`);
    expect(await page.text('#device')).toStartWith(`${HOSTILE}\nAsked`);
    expect(await page.evaluate<number>('document.images.length')).toBe(0);
    expect(await page.evaluate<string>('document.title')).toBe('Connect this device?');
    await expectSoundPage();
  });

  test('cannot sign a person in through a link that carries a session', async () => {
    const attacker = await signIn(server, 'attacker@example.com', server.clientId);
    const grant = await askForCode();
    const fragment = new URLSearchParams({ token: attacker.token, expiresAt: attacker.expiresAt });
    await page.open(`${grant.verification_uri_complete}#${fragment}`);
    await page.untilVisible('#email-form');
    expect(await page.isVisible('#confirm')).toBe(false);
    expect((await page.address()).hash).toBe('');
    expect(page.requested.filter((url) => url.includes('/api/'))).toEqual([]);
    await expectSoundPage();
  });
});

test('ten wrong codes lock further guesses, and the page says how long', async () => {
  for (let guess = 0; guess < 10; guess += 1) await fetch(`${server.url}/device?code=BCDFGHJK`);
  await page.open(`${server.url}/device?code=BCDFGHJL`);
  expect(await page.text('h1')).toBe('One moment');
  expect(await page.text('.lead')).toMatch(/^Too many tries\. Wait \d+ (?:minutes|seconds)/);
  const grant = await askForCode();
  expect((await fetch(grant.verification_uri_complete)).status).toBe(429);
  await advance(15 * 60_000);
  expect((await fetch((await askForCode()).verification_uri_complete)).status).toBe(200);
});
