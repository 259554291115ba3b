/** The OpenID settings of an application in the console: saved, refused, copied into products, and tried out. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, OWNER, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  page = await openConsole(server);
});
afterEach(() => page.close());

const CALLBACK = 'https://wiki.example.com/oidc/callback';

async function manage(method: string, path: string, body?: unknown) {
  const { json } = await request(server, method, path, { token: server.workspaceKey, body });
  return json.data;
}

/** Creates an application whose OpenID settings are not yet made. */
const newApplication = (): Promise<{ id: string; clientId: string }> =>
  manage('POST', '/api/applications', { name: 'Wiki' });
const openId = (id: string) => `/api/applications/${id}/openid`;
const settings = (id: string, part = 'openid') => `/applications/${id}/settings/${part}`;
const inField = (selector: string) => page.evaluate<string>(`document.querySelector('${selector}').value`);

async function expectSound(): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

test('a first redirect URI switches OpenID on, and the secret’s state leads to where it is made', async () => {
  const { id, clientId } = await newApplication();
  await page.go(settings(id));
  await page.untilText('#openid-client .lead', /off for this application/);
  expect(await page.isVisible('#try-openid')).toBe(false);
  expect(await page.text('#main .facts')).toContain(clientId);
  await page.enter('#openid-redirect-uris', `${CALLBACK}\n\n  https://wiki.example.com/mobile `);
  await page.enter('#openid-post-logout', 'https://wiki.example.com/');
  await page.press('#openid-save');
  await page.untilSaid(/^Saved/);
  await page.untilVisible('#try-openid');
  expect(await manage('GET', openId(id))).toMatchObject({
    redirectUris: [CALLBACK, 'https://wiki.example.com/mobile'],
    postLogoutRedirectUris: ['https://wiki.example.com/'],
    clientType: 'confidential',
    idTokenAlg: 'RS256',
    backchannelLogoutUri: null,
  });
  await page.pressNamed('Create one');
  await page.press('#create-secret');
  await page.untilText('#client-secret', /^ecs_/);
  const { clientSecretPrefix } = await manage('GET', `/api/applications/${id}`);
  await page.go(settings(id));
  await page.untilText('#main .facts', new RegExp(`Begins with ${clientSecretPrefix}`));
  await expectSound();
});

test('a refused address is named under its field, and nothing is saved', async () => {
  const { id } = await newApplication();
  await page.go(settings(id));
  await page.enter('#openid-redirect-uris', `${CALLBACK}\nhttps://wiki.example.com/*`);
  await page.press('#openid-save');
  await page.untilText('#openid-redirect-uris-error', /“https:\/\/wiki\.example\.com\/\*”: .*wildcards/);
  await page.enter('#openid-redirect-uris', CALLBACK);
  await page.enter('#openid-post-logout', 'https://wiki.example.com/#top');
  await page.press('#openid-save');
  await page.untilText('#openid-post-logout-error', /“https:\/\/wiki\.example\.com\/#top”: .*fragment/);
  await page.enter('#openid-post-logout', '');
  await page.enter('#openid-backchannel', 'ftp://wiki.example.com/');
  await page.press('#openid-save');
  await page.untilText('#openid-backchannel-error', /\S/);
  expect((await manage('GET', openId(id))).updatedAt).toBeNull();
  await expectSound();
});

test('a change of one setting leaves the others, and a public client needs no secret', async () => {
  const { id } = await newApplication();
  const jwks = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] };
  await manage('PUT', openId(id), { redirectUris: [CALLBACK], postLogoutRedirectUris: [CALLBACK], jwks });
  await page.go(settings(id));
  await page.untilText('#main .facts', /signs its assertions with a key of its own/);
  await page.press('#openid-algorithm input[value=EdDSA]');
  await page.press('#openid-save');
  await page.untilSaid(/^Saved/);
  expect(await manage('GET', openId(id))).toMatchObject({
    redirectUris: [CALLBACK],
    postLogoutRedirectUris: [CALLBACK],
    idTokenAlg: 'EdDSA',
    jwks,
  });
  await page.press('#openid-client-type input[value=public]');
  await page.press('#openid-save');
  await page.untilText('#main .facts', /Not used: the client is public/);
  expect(await manage('GET', openId(id))).toMatchObject({ clientType: 'public', jwks: null, idTokenAlg: 'EdDSA' });
  await expectSound();
});

test('a back-channel logout URI shows that calls are sent, and goes when its field is emptied', async () => {
  const { id } = await newApplication();
  await manage('PUT', openId(id), { redirectUris: [CALLBACK] });
  await page.go(settings(id));
  await page.enter('#openid-backchannel', 'https://wiki.example.com/backchannel');
  await page.press('#openid-save');
  await page.untilText('#openid-backchannel-status', /Calls are sent/);
  expect(await manage('GET', openId(id))).toMatchObject({
    backchannelLogoutUri: 'https://wiki.example.com/backchannel',
    backchannelStatus: 'active',
  });
  await page.enter('#openid-backchannel', '');
  await page.press('#openid-save');
  await page.untilSaid(/^Saved/);
  expect((await manage('GET', openId(id))).backchannelLogoutUri).toBeNull();
  await expectSound();
});

test('OpenID is switched off after a question, and the form is as before it was set up', async () => {
  const { id } = await newApplication();
  await manage('PUT', openId(id), { redirectUris: [CALLBACK], backchannelLogoutUri: 'https://wiki.example.com/out' });
  await page.go(settings(id));
  await page.press('#end-openid');
  await page.untilText('#end-openid-dialog', /those who did are signed out/);
  await page.pressNamed('Cancel');
  expect((await manage('GET', openId(id))).updatedAt).not.toBeNull();
  await page.press('#end-openid');
  await page.press('#end-openid-dialog [type=submit]');
  await page.untilText('#openid-client .lead', /off for this application/);
  expect(await page.isVisible('#end-openid')).toBe(false);
  expect([await inField('#openid-redirect-uris'), await inField('#openid-backchannel')]).toEqual(['', '']);
  expect((await manage('GET', openId(id))).updatedAt).toBeNull();
  await expectSound();
});

test('a product’s settings carry this application’s values, and its redirect URIs are added to the form', async () => {
  const { id, clientId } = await newApplication();
  await manage('PUT', openId(id), { redirectUris: [CALLBACK] });
  await page.go(settings(id));
  await page.choose('#openid-product', 'Vaultwarden');
  await page.untilText('#openid-snippet', new RegExp(`SSO_CLIENT_ID=${clientId}\n`));
  expect(await page.text('#openid-snippet')).toContain(`SSO_AUTHORITY=${server.url}\n`);
  expect(await page.isVisible('#openid-add-redirect-uris')).toBe(false);
  await page.enter('#openid-product-address', 'vault.test');
  await page.untilText('#openid-product-address-error', /Give an address/);
  await page.choose('#openid-product', 'Immich');
  await page.enter('#openid-product-address', 'https://photos.test/');
  await page.press('#openid-add-redirect-uris');
  await page.untilText('#openid-add-redirect-uris', /Its redirect URIs are above/);
  expect((await inField('#openid-redirect-uris')).split('\n')).toEqual([
    CALLBACK,
    'https://photos.test/auth/login',
    'https://photos.test/user-settings',
    'app.immich:///oauth-callback',
  ]);
  await page.press('#openid-save');
  await page.untilSaid(/^Saved/);
  expect((await manage('GET', openId(id))).redirectUris).toHaveLength(4);
  await expectSound();
});

test('a member reads the settings, and cannot change them', async () => {
  const { id } = await newApplication();
  await manage('PUT', openId(id), { redirectUris: [CALLBACK] });
  await addMember(server, 'reader@example.test', 'member');
  page.close();
  page = await openConsole(server, { member: 'reader@example.test', size: PHONE });
  await page.go(settings(id));
  await page.untilVisible('#openid-redirect-uris');
  expect(await inField('#openid-redirect-uris')).toBe(CALLBACK);
  expect(await page.evaluate<boolean>('document.querySelector("#openid-redirect-uris").matches(":disabled")')).toBe(
    true,
  );
  await page.enter('#openid-product-address', 'https://grafana.test');
  await page.untilVisible('#openid-add-redirect-uris:disabled');
  await expectSound();
});

test('an answer of which this tab has not begun the sign-in is not shown', async () => {
  const answer = new URLSearchParams({
    error: 'access_denied',
    error_description: 'Call this number',
    iss: server.url,
  });
  await page.go(`/openid-try?${answer}&state=another`);
  await page.untilText('#main h1', /no answer to show/);
  expect(await page.text('#main')).not.toContain('Call this number');
  await expectSound();
});

test('trying out an application that is not set up leads back to its settings', async () => {
  const { id } = await newApplication();
  await page.go(`/openid-try?application=${id}`);
  await page.untilText('#main .lead', /not set up/);
  await page.pressNamed('Back to the settings');
  await page.untilVisible('#openid-client');
  await expectSound();
});

/** Creates an application with a secret, and opens its settings. */
async function openConfigured(more: object = {}): Promise<{ id: string; clientId: string; secret: string }> {
  const { id, clientId } = await newApplication();
  await manage('PUT', openId(id), { redirectUris: [CALLBACK], ...more });
  const { clientSecret } = await manage('POST', `/api/applications/${id}/rotate-secret`);
  await page.go(settings(id));
  return { id, clientId, secret: clientSecret };
}

/** Presses Try it, signs in, and runs the command that is shown. @returns the answer of the token endpoint. */
async function tryOut(secret: string): Promise<Record<string, unknown>> {
  await page.untilVisible('#try-openid');
  // A link for another tab, which has the trial to itself.
  await page.open(await page.evaluate<string>('document.querySelector("#try-openid").href'));
  await page.untilVisible('#email-form');
  await page.fill('#email', OWNER);
  await page.press('#email-submit');
  await page.untilVisible('#code:not([readonly])');
  await page.pressKeys(await outboxCode(server, OWNER));
  await page.untilVisible('#openid-exchange');
  const command = (await page.text('#openid-exchange')).replace('ecs_…', secret);
  const { stdout } = Bun.spawn(['bash', '-c', command], { stderr: 'ignore' });
  return (await new Response(stdout).json()) as Record<string, unknown>;
}

test('trying it out signs in as a product would, and the shown command exchanges the code', async () => {
  const { secret } = await openConfigured();
  expect(await tryOut(secret)).toMatchObject({ token_type: 'Bearer', id_token: expect.any(String) });
  expect(await page.text('#main h1')).toBe('The sign-in works');
  expect((await page.address()).pathname).toBe('/console/openid-try');
  await expectSound();

  // The second time the browser is signed in already.
  const shown = await page.text('#openid-exchange');
  await page.press('#try-again');
  const now = () => page.evaluate<string>('document.querySelector("#openid-exchange")?.innerText ?? ""');
  await eventually('another code has arrived', async () => !['', shown].includes(await now()));
  await expectSound();
});

test('a back-channel logout URI in quarantine says so, and a press resumes its calls', async () => {
  const calls: string[] = [];
  let status = 410;
  const product = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      calls.push(await request.text());
      return new Response(null, { status });
    },
  });
  try {
    const backchannelLogoutUri = `http://127.0.0.1:${product.port}/logout`;
    const { id, clientId, secret } = await openConfigured({ backchannelLogoutUri });
    const { access_token: token } = await tryOut(secret);
    await fetch(`${server.url}/api/v1/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` },
      body: new URLSearchParams({ token: String(token) }),
    });
    const statusOf = async () => (await manage('GET', openId(id))).backchannelStatus;
    await eventually('the calls are held', async () => (await statusOf()) === 'quarantined');
    expect(calls).toEqual([expect.stringMatching(/^logout_token=/)]);
    status = 200;
    await page.go(settings(id));
    await page.untilText('#openid-backchannel-status', /In quarantine/);
    // Saving something else leaves it there.
    await page.enter('#openid-post-logout', 'https://wiki.example.com/');
    await page.press('#openid-save');
    await page.untilSaid(/^Saved/);
    expect(await statusOf()).toBe('quarantined');
    await page.press('#resume-backchannel');
    await page.untilText('#openid-backchannel-status', /Calls are sent/);
    expect(await statusOf()).toBe('active');
    await expectSound();
  } finally {
    await product.stop(true);
  }
});

test('a person whom the application does not let in comes back with the error in words', async () => {
  const { id } = await newApplication();
  await manage('PUT', openId(id), { redirectUris: [CALLBACK] });
  await page.open(`${server.url}/console/openid-try?application=${id}`);
  await page.untilVisible('#email-form');
  await page.fill('#email', 'stranger@example.test');
  await page.press('#email-submit');
  await page.untilVisible('#code:not([readonly])');
  await page.pressKeys(await outboxCode(server, 'stranger@example.test'));
  await page.press('#back');
  await page.untilText('#main h1', /was refused/);
  expect(await page.text('#main .lead')).toMatch(/may not sign in/);
  expect(await page.text('#openid-answer .facts')).toContain('access_denied');
  await page.pressNamed('Back to the settings');
  await page.untilVisible('#openid-client');
  await expectSound();
});
