/** Sign-in to other programs in a browser: the pages on the way to a client, and back to it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { type EphemeralServer, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type Shop, startShop } from '../support/shop.ts';

setDefaultTimeout(120_000);

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const OWNER = 'owner@example.test';

interface Application {
  readonly id: string;
  readonly clientId: string;
}

let server: EphemeralServer;
let client: Shop;
let page: Page;
let wiki: Application;
let forum: Application;
/** An application of another workspace. */
let lighthouse: Application;
let people = 0;

beforeAll(async () => {
  server = await startEphemeral();
  client = startShop();
  wiki = await application('Wiki');
  forum = await application('Forum');
  lighthouse = await inOwnWorkspace('Lighthouse');
});
afterAll(async () => {
  closeBrowser();
  await client.stop();
  await server.stop();
});

async function call(method: string, path: string, body: unknown, token = server.workspaceKey) {
  const { status, text, json } = await request(server, method, path, { token, body });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return json.data ?? json;
}

async function application(name: string): Promise<Application> {
  const { id, clientId } = await call('POST', '/api/applications', { name });
  for (const step of ['publish', 'go-live']) await call('POST', `/api/applications/${id}/${step}`, {});
  await call('PUT', `/api/applications/${id}/openid`, {
    redirectUris: [`${client.url}/callback`],
    postLogoutRedirectUris: [`${client.url}/bye`],
    clientType: 'public',
  });
  return { id, clientId };
}

async function inOwnWorkspace(name: string): Promise<Application> {
  const { challengeId } = await call('POST', '/api/v1/auth/otp/send', { email: OWNER, clientId: 'console' });
  const code = await outboxCode(server, OWNER);
  const { token } = await call('POST', '/api/v1/auth/otp/verify', { challengeId, code });
  const workspace = await call('POST', '/api/workspaces', { name }, token);
  const made = await call('POST', `/api/applications?workspaceId=${workspace.id}`, { name }, token);
  for (const step of ['publish', 'go-live']) await call('POST', `/api/applications/${made.id}/${step}`, {}, token);
  await passMinute();
  return made;
}

const passMinute = () => request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });
const newAddress = () => `person${(people += 1)}@example.com`;
const account = (email: string) => `[data-account=${JSON.stringify(email)}]`;

function authorizeAddress(clientId: string, more: Record<string, string> = {}): string {
  return `${server.url}/oauth/authorize?${new URLSearchParams({
    client_id: clientId,
    redirect_uri: `${client.url}/callback`,
    response_type: 'code',
    scope: 'openid email',
    state: 'af0ifjsldkj',
    nonce: 'n-0S6_WzA2Mj',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  })}`;
}

const PHONE = { width: 390, height: 780 };
const DESK = { width: 1280, height: 800 };

describe.each([PHONE, DESK])('at $width pixels', (size) => {
  beforeEach(async () => {
    page = await openBrowserPage(size);
    await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
    await passMinute();
  });
  afterEach(async () => {
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    page.close();
  });

  async function typeCode(email: string): Promise<void> {
    await page.untilVisible('#email');
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, email));
  }

  /** Returns the parameters with which the person has come back to the client. */
  async function atClient(path = '/callback'): Promise<Record<string, string>> {
    const address = await page.untilAddress(new RegExp(`^${RegExp.escape(client.url + path)}`));
    expect(address.hash).toBe('');
    return Object.fromEntries(address.searchParams);
  }

  async function exchange({ clientId }: Application, code: string | undefined) {
    const response = await fetch(`${server.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: code ?? '',
        redirect_uri: `${client.url}/callback`,
        code_verifier: VERIFIER,
      }),
    });
    return (await response.json()) as { access_token: string; id_token: string };
  }

  /** Scrolls to a button of the consent page and clicks it. */
  async function decide(button: string): Promise<void> {
    await page.evaluate(`document.querySelector('${button}').scrollIntoView({ block: 'center' })`);
    await page.view.click(button);
  }

  async function signIn({ clientId }: Application, email = newAddress()): Promise<string> {
    await page.open(authorizeAddress(clientId));
    await typeCode(email);
    await atClient();
    return email;
  }

  test('a person signs in and comes back to the client, and the next time without a page', async () => {
    const email = newAddress();
    await page.open(authorizeAddress(wiki.clientId));
    await page.untilVisible('#email-form');
    expect(await page.text('h1')).toBe('Sign in to Wiki');
    await typeCode(email);
    const { code, ...others } = await atClient();
    expect(others).toEqual({ state: 'af0ifjsldkj', iss: server.url });
    const tokens = await exchange(wiki, code);
    const userInfo = await fetch(`${server.url}/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await userInfo.json()).toMatchObject({ email, email_verified: true });

    await page.open(authorizeAddress(wiki.clientId, { state: 'second' }));
    expect(await atClient()).toMatchObject({ state: 'second', code: expect.stringMatching(/^eac_/) });
  });

  test('a press that passes a person on to another workspace says what is passed on', async () => {
    const email = newAddress();
    await page.open(`${server.url}/sign-in?clientId=${lighthouse.clientId}`);
    await typeCode(email);
    await page.untilVisible('#signed-in');
    await page.open(authorizeAddress(forum.clientId));
    await page.untilVisible('#accounts');
    expect(await page.text('#passed-on')).toMatch(/^When you continue, Forum receives your name, e.mail address/);
    await page.untilReady();
    await page.view.click(account(email));
    expect(await atClient()).toHaveProperty('code');
  });

  test('a person who is refused goes back to the client, which is told', async () => {
    const closed = await application('Closed');
    await call('POST', `/api/applications/${closed.id}/signin-gate`, { gate: 'closed' });
    await page.open(authorizeAddress(closed.clientId));
    await typeCode(newAddress());
    await page.untilVisible('#refused');
    await page.view.click('#back');
    expect(await atClient()).toEqual({ error: 'access_denied', state: 'af0ifjsldkj', iss: server.url });
  });

  test('the command line is allowed by its owner, and comes back to a port of this machine', async () => {
    await page.open(authorizeAddress('gatehouse-cli', { scope: '' }));
    await typeCode(OWNER);
    await page.untilVisible('#consent');
    expect(await page.text('h1')).toBe('Connect Gatehouse command line?');
    expect(await page.text('#return')).toBe(new URL(client.url).host);
    expect(await page.text('#account')).toBe(OWNER);
    expect(await page.text('#access')).toContain('Owner of Lighthouse');
    await decide('#allow');
    const { code, ...others } = await atClient();
    expect(others).toEqual({ state: 'af0ifjsldkj', iss: server.url });
    expect((await exchange({ id: '', clientId: 'gatehouse-cli' }, code)).access_token).toStartWith('eak_');

    await passMinute();
    await page.open(authorizeAddress('gatehouse-cli', { scope: '' }));
    await page.untilVisible('#consent');
    await decide('#deny');
    expect(await atClient()).toEqual({ error: 'access_denied', state: 'af0ifjsldkj', iss: server.url });
  });

  test('a sign-out is confirmed and leads back to the client', async () => {
    const email = await signIn(wiki);
    const sent = new URLSearchParams({
      client_id: wiki.clientId,
      post_logout_redirect_uri: `${client.url}/bye`,
      state: 'out',
    });
    await page.open(`${server.url}/oauth/end-session?${sent}`);
    await page.untilVisible('#confirm-sign-out');
    expect(await page.text('#who')).toBe(`You are signed in as ${email}.`);
    await page.view.click('#sign-out');
    expect(await atClient('/bye')).toEqual({ state: 'out' });
    await page.open(authorizeAddress(wiki.clientId));
    await page.untilVisible('#email-form');
  });

  // These tests show pages of the tests above; the narrow ones are harder to press.
  if (size !== PHONE) return;

  test('a reload at the code continues the request', async () => {
    const email = newAddress();
    await page.open(authorizeAddress(wiki.clientId));
    await page.untilVisible('#email');
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.view.reload();
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, email));
    expect(await atClient()).toHaveProperty('code');
  });

  test('a sign-in in another language still answers the request that the client sent', async () => {
    const email = newAddress();
    await page.open(authorizeAddress(wiki.clientId, { prompt: 'login', state: 'a b+c' }));
    await page.untilReady();
    await page.evaluate(
      `(() => { const one = document.querySelector('#language'); one.value = 'de'; one.dispatchEvent(new Event('change', { bubbles: true })); })()`,
    );
    await page.untilText('h1', /^Bei Wiki anmelden$/);
    await typeCode(email);
    expect(await atClient()).toMatchObject({ state: 'a b+c', code: expect.any(String) });
  });

  test('another application of the workspace is entered with one press', async () => {
    const email = await signIn(wiki);
    await page.open(authorizeAddress(forum.clientId));
    await page.untilVisible('#accounts');
    expect(await page.isVisible('#passed-on')).toBe(false);
    await page.untilReady();
    await page.view.click(account(email));
    const { code } = await atClient();
    expect((await exchange(forum, code)).access_token).toStartWith('est_');
  });

  test('a client that wants a proof gets a sign-in, although the person is signed in', async () => {
    const email = await signIn(wiki);
    await passMinute();
    await page.open(authorizeAddress(wiki.clientId, { prompt: 'login' }));
    expect(await page.isVisible('#accounts')).toBe(false);
    await typeCode(email);
    expect(await atClient()).toHaveProperty('code');
  });

  test('a client that wants a choice gets it, and the person may sign in as another', async () => {
    const [ada, bob] = [await signIn(wiki), newAddress()];
    await page.open(authorizeAddress(wiki.clientId, { prompt: 'select_account' }));
    await page.untilVisible(account(ada));
    await page.untilReady();
    await page.view.click('#another-account');
    await typeCode(bob);
    const { code } = await atClient();
    const { id_token } = await exchange(wiki, code);
    const [, claims = ''] = id_token.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ email: bob });

    await page.open(authorizeAddress(wiki.clientId, { prompt: 'select_account' }));
    await page.untilVisible(account(ada));
    await page.untilReady();
    await page.view.click(account(ada));
    expect(await atClient()).toHaveProperty('code');
  });

  test('a client that shows its ID token signs out without a question', async () => {
    await page.open(authorizeAddress(wiki.clientId));
    await typeCode(newAddress());
    const { id_token } = await exchange(wiki, (await atClient())['code']);
    await page.open(`${server.url}/oauth/end-session?${new URLSearchParams({ id_token_hint: id_token })}`);
    await page.untilVisible('#signed-out');
    await page.open(authorizeAddress(wiki.clientId));
    await page.untilVisible('#email-form');
  });

  test('a form of the client’s own site begins a request as well, with the cookies of this server', async () => {
    await signIn(wiki);
    const [address = '', query = ''] = authorizeAddress(wiki.clientId, { state: 'posted' }).split('?');
    const fields = JSON.stringify([...new URLSearchParams(query)]);
    await page.untilLoaded();
    await page.evaluate(`(() => {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = ${JSON.stringify(address)};
      for (const [name, value] of ${fields}) {
        const input = document.createElement('input');
        Object.assign(input, { type: 'hidden', name, value });
        form.append(input);
      }
      document.body.append(form);
      form.submit();
    })()`);
    await page.untilAddress(/state=posted/);
    expect(await atClient()).toMatchObject({ state: 'posted', code: expect.any(String) });
  });
});
