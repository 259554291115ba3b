/** Passkeys on the hosted sign-in page: offered, used, suggested and refused, with a virtual authenticator. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page, forgetPeople } from '../support/browser.ts';
import { type Shop, startShop } from '../support/shop.ts';
import { leaving, mayLeave, settled } from './leaving.ts';
import { addAuthenticator, type VirtualAuthenticator } from './virtual-authenticator.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
/** The server's address by host name, since passkeys need one. */
let origin: string;
let shop: Shop;
let page: Page;
let authenticator: VirtualAuthenticator;

beforeAll(async () => {
  server = await startEphemeral();
  origin = server.url.replace('127.0.0.1', 'localhost');
  shop = startShop();
});
afterAll(async () => {
  closeBrowser();
  await shop.stop();
  await server.stop();
});

beforeEach(async () => {
  page = await openBrowserPage();
  await page.open(`${origin}/device`);
  await page.view.cdp('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  authenticator = await addAuthenticator(page);
});
afterEach(() => page.close());

const returnTo = () => `${shop.url}/signed-in`;
const signInUrl = (clientId = server.clientId) =>
  `${origin}/sign-in?${new URLSearchParams({ clientId, returnTo: returnTo() })}`;

async function signInByCode(email: string): Promise<void> {
  await page.open(signInUrl());
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await mayLeave(async () => page.pressKeys(await outboxCode(server, email)));
}

/** Signs in by code, accepts the offer, and leaves one passkey in the authenticator. */
async function makePasskey(email: string): Promise<void> {
  await signInByCode(email);
  await page.untilVisible('#offer');
  await leaving(page, () => page.view.click('#offer-create'));
  await landed(email);
}

/** Removes suggestions of passkeys from the next page on, as in browsers that have none. */
async function withoutSuggestions(): Promise<void> {
  const source = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false';
  await page.view.cdp('Page.addScriptToEvaluateOnNewDocument', { source });
}

/** Waits for the shop, and checks that the token belongs to this person. */
async function landed(email: string): Promise<string> {
  const address = await page.untilAddress(/\/signed-in#token=est_/);
  await settled(page);
  const token = new URLSearchParams(address.hash.slice(1)).get('token')!;
  const session = await request(server, 'POST', '/api/v1/session', { token });
  expect(session.json).toMatchObject({ ok: true, email });
  // Another browser of the same person, so that the next sign-in asks for a method.
  await forgetPeople(page.view);
  return token;
}

async function expectSoundPage(): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !url.startsWith(origin) && !url.startsWith(returnTo()))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

describe('the offer after a code', () => {
  test('creates a passkey and continues to the person’s destination', async () => {
    await signInByCode('offered@example.com');
    await page.untilVisible('#offer');
    expect(await page.text('#offer h1')).toBe('Sign in faster next time');
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('H1');
    await expectSoundPage();

    await leaving(page, () => page.view.click('#offer-create'));
    const token = await landed('offered@example.com');
    const { json } = await request(server, 'GET', '/api/account/passkeys', { token });
    expect(json.data.items).toHaveLength(1);
    expect(await authenticator.passkeys()).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }]);
    await expectSoundPage();
  });

  test('can be declined, and does not come back', async () => {
    await signInByCode('declines@example.com');
    await page.untilVisible('#offer');
    await leaving(page, () => page.view.click('#offer-skip'));
    await landed('declines@example.com');
    expect(await authenticator.passkeys()).toEqual([]);

    await signInByCode('declines-too@example.com');
    await landed('declines-too@example.com');
    await expectSoundPage();
  });

  test('does not prevent the sign-in if it fails', async () => {
    await signInByCode('fails@example.com');
    await page.untilVisible('#offer');
    await authenticator.setUserVerified(false);
    await leaving(page, () => page.view.click('#offer-create'));
    await landed('fails@example.com');
    expect(await authenticator.passkeys()).toEqual([]);
    await expectSoundPage();
  });

  test('is not made to someone who has a passkey', async () => {
    await makePasskey('has-one@example.com');
    await page.open(`${origin}/device`);
    await page.evaluate('localStorage.clear()');
    await authenticator.clear();
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await signInByCode('has-one@example.com');
    await landed('has-one@example.com');
  });

  test('is not made where the application takes no passkeys', async () => {
    const { json } = await request(server, 'POST', '/api/applications', {
      token: server.workspaceKey,
      body: { name: 'Codes only', signinMethods: ['otp'] },
    });
    const id = json.data.id;
    for (const step of ['publish', 'go-live'])
      await request(server, 'POST', `/api/applications/${id}/${step}`, { token: server.workspaceKey });
    await page.open(signInUrl(json.data.clientId));
    expect(await page.isVisible('#passkey')).toBe(false);
    expect(await page.isVisible('#divider')).toBe(false);
    await page.fill('#email', 'codes-only@example.com');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await leaving(page, async () => page.pressKeys(await outboxCode(server, 'codes-only@example.com')));
    await landed('codes-only@example.com');
    await expectSoundPage();
  });
});

describe('a passkey', () => {
  test('signs in by the button, without an e-mail address', async () => {
    await makePasskey('button@example.com');
    await withoutSuggestions();
    await page.open(signInUrl());
    expect(page.requested.at(-1)).not.toContain('/passkey/');
    await leaving(page, () => page.view.click('#passkey'));
    await landed('button@example.com');
    await expectSoundPage();
  });

  test('is offered first to whoever used one last, and a code takes its place again', async () => {
    await makePasskey('first@example.com');
    await withoutSuggestions();
    await page.open(signInUrl());
    const order = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('#methods .button')].map(({ id, className }) => id + ' ' + className)`,
      );
    expect(await order()).toEqual(['email-submit button primary', 'passkey button plain']);
    await leaving(page, () => page.view.click('#passkey'));
    await landed('first@example.com');
    await page.open(signInUrl());
    expect(await order()).toEqual(['passkey button primary', 'email-submit button plain']);
    expect(await page.text('#lead')).toBe('Choose how you want to sign in.');
    await page.untilFocused('passkey');
    await leaving(page, () => page.view.press('Enter'));
    await landed('first@example.com');

    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await page.open(signInUrl());
    await page.fill('#email', 'first@example.com');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await leaving(page, async () => page.pressKeys(await outboxCode(server, 'first@example.com')));
    await landed('first@example.com');
    await page.open(signInUrl());
    expect(await order()).toEqual(['email-submit button primary', 'passkey button plain']);
    await expectSoundPage();
  });

  test('signs in from the suggestions of the e-mail field, without a click', async () => {
    await makePasskey('suggested@example.com');
    await leaving(page, () => page.open(signInUrl()));
    await landed('suggested@example.com');
    await expectSoundPage();
  });

  test('without user verification is reported as not used, and a code still works', async () => {
    await makePasskey('unverified@example.com');
    await authenticator.setUserVerified(false);
    await withoutSuggestions();
    await page.open(signInUrl());
    await page.view.click('#passkey');
    expect(await page.untilText('#note', /./)).toBe('No passkey was used. Try again, or sign in another way.');
    expect(await page.text('#message')).toBe('');
    await expectSoundPage();

    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
    await page.fill('#email', 'unverified@example.com');
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await leaving(page, async () => page.pressKeys(await outboxCode(server, 'unverified@example.com')));
    await landed('unverified@example.com');
  });

  test('is refused if its signature counter goes back, as in a copy', async () => {
    await makePasskey('copied@example.com');
    const [copy] = await authenticator.passkeys();
    await leaving(page, () => page.open(signInUrl()));
    await landed('copied@example.com');
    const [used] = await authenticator.passkeys();
    expect(used!.signCount).toBeGreaterThan(copy!.signCount);

    await authenticator.clear();
    await authenticator.add({ ...copy!, signCount: 0 });
    await page.open(signInUrl());
    await page.untilText('#message', /could not be checked/);
    expect(await page.isVisible('#email-form')).toBe(true);
    await expectSoundPage();
  });

  test('is reported as unknown after its removal, to the browser too', async () => {
    await makePasskey('removed@example.com');
    const { token } = await signInAgain('removed@example.com');
    const { json } = await request(server, 'GET', '/api/account/passkeys', { token });
    const removed = await request(server, 'DELETE', `/api/account/passkeys/${json.data.items[0].id}?force=true`, {
      token,
    });
    expect(removed.status).toBe(200);
    await page.open(signInUrl());
    await page.untilText('#message', /not known here/);
    await eventually('the authenticator dropped it', async () => (await authenticator.passkeys()).length === 0);
    await expectSoundPage();
  });

  test('is refused if the person is banned, with a link back', async () => {
    await makePasskey('banned@example.com');
    const { userId } = await signInAgain('banned@example.com');
    const path = `/api/applications/${server.applicationId}/users/${userId}/ban`;
    expect((await request(server, 'POST', path, { token: server.workspaceKey })).status).toBe(200);
    await page.open(signInUrl());
    await page.untilVisible('#refused');
    expect(await page.text('#refused h1')).toBe('Your account is blocked');
    expect(await page.evaluate<string>('document.querySelector("#back").href')).toEndWith('#error=membership_blocked');
    await expectSoundPage();
  });

  test('silently gets a new challenge if that of the autofill suggestion has expired', async () => {
    await makePasskey('late@example.com');
    // An untouched suggestion stays open, with a challenge that the page keeps.
    await authenticator.setTouched(false);
    page.requested.length = 0;
    await page.open(signInUrl());
    const answered = `performance.getEntriesByName('${origin}/api/v1/auth/passkey/options').length > 0`;
    await eventually('the challenge is there', () => page.evaluate(answered));
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 6 * 60_000 } });
    await authenticator.setTouched(true);
    await leaving(page, () => page.view.click('#passkey'));
    await landed('late@example.com');
    const asked = page.requested.filter((url) => url.includes('/auth/passkey/')).map((url) => url.split('/').at(-1));
    expect(asked).toEqual(['options', 'verify', 'options', 'verify']);
    await expectSoundPage();
  });
});

test('the page does not mention passkeys at a bare IP address', async () => {
  await page.open(`${server.url}/sign-in?clientId=${server.clientId}`);
  expect(await page.isVisible('#email-form')).toBe(true);
  expect(await page.isVisible('#passkey')).toBe(false);
  expect(await page.isVisible('#divider')).toBe(false);
  expect(page.requested.filter((url) => url.includes('/passkey/'))).toEqual([]);
});

test('a passkey-only application offers no other method, and says if no passkey was found', async () => {
  const { json } = await request(server, 'POST', '/api/applications', {
    token: server.workspaceKey,
    body: { name: 'Passkeys only', signinMethods: ['passkey'] },
  });
  await page.open(signInUrl(json.data.clientId));
  expect(await page.isVisible('#passkey')).toBe(true);
  expect(await page.isVisible('#no-methods')).toBe(false);
  expect(await page.evaluate<number>('document.querySelectorAll("#email, #code").length')).toBe(0);
  await expectSoundPage();

  await page.open(signInUrl(json.data.clientId).replace('localhost', '127.0.0.1'));
  expect(await page.isVisible('#passkey')).toBe(false);
  expect(await page.text('#no-methods')).toContain('no way to sign in to Passkeys only from here');
});

/** Makes a new session outside of the browser. */
async function signInAgain(email: string) {
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } });
  return signIn(server, email, server.clientId);
}
