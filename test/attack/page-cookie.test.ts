/** One sign-in for the hosted pages: what the cookie of a browser opens, and what it must never open. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import { sceneOf as devicesOf } from '../modules/devices/scene.ts';
import { register } from '../modules/passkeys/passkeys.ts';
import { createBrowser, fragmentOf } from '../modules/provider/browser.ts';
import { createScene } from '../modules/provider/scene.ts';
import { addTenant } from '../modules/provider/tenants.ts';
import * as given from '../support/given.ts';
import type { Instance } from '../support/instance.ts';
import { OWN, type PageBrowser, pageBrowser, setUpPages } from './page-browser.ts';

setDefaultTimeout(60_000);

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

let instance: Instance;
/** Two applications of one workspace, and one of another tenant. */
let shop: Application;
let forum: Application;
let tenant: given.Tenant;
let browser: PageBrowser;

beforeEach(async () => {
  ({ instance, shop, forum, browser } = await setUpPages());
  tenant = await given.tenant(instance);
});

const nameOf = ({ clientId }: Application) => `__Host-gatehouse-${clientId}`;
const verdict = async (token: string) => (await instance.call('POST', '/api/v1/session', { token })).json;
const problem = ({ status, json }: { status: number; json: { error?: string } }) => [status, json.error ?? 'ok'];
const manage = (application: Application, method: string, path: string, body?: unknown) =>
  instance.call(method, `/api/applications/${application.id}${path}`, { token: instance.workspaceKey, body });
const act = (application: Application, userId: string, verb: string) =>
  manage(application, 'POST', `/users/${userId}/${verb}`);

/** Signs Ada in at the shop's page. */
async function adaAtShop() {
  const { status, json } = await browser.signIn(shop, ADA);
  expect(status).toBe(200);
  return json.data as { token: string; userId: string };
}

describe('a sign-in on the hosted page', () => {
  test('signs in to the account page of its application, with one session for both', async () => {
    const { token } = await adaAtShop();
    const account = await browser.account(shop);
    expect([account.status, account.json.data.email]).toEqual([200, ADA]);
    const { items } = (await browser.account(shop, 'GET', '/api/account/sessions')).json.data;
    expect(items).toHaveLength(1);
    expect(items[0].isCurrent).toBe(true);
    expect((await verdict(token)).ok).toBe(true);
    expect(instance.events(shop.id).filter(({ type }) => type === 'user.signed_in')).toHaveLength(1);
  });

  test('sets a cookie that scripts cannot read, bound to this host, without the token', async () => {
    const answer = await browser.signIn(shop, ADA);
    const set = answer.headers.getSetCookie().find((line) => line.startsWith(nameOf(shop)));
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/']) expect(set).toContain(attribute);
    expect(set).not.toContain('Domain');
    expect(set).not.toContain(answer.json.data.token);
    expect(browser.cookies.get(nameOf(shop))).toMatch(/^ses_\w+\.epg_\w+$/);
  });

  test('keeps nothing for the device page, whose session ends with the decision', async () => {
    await browser.signIn(shop, ADA, null);
    expect(browser.cookies.has(nameOf(shop))).toBe(false);
  });

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a sibling host', { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' }],
    ['an opaque origin', { origin: 'null' }],
    ['no browser', { origin: '', 'sec-fetch-site': '' }],
  ])('from %s sets no cookie', async (_, headers) => {
    const { challengeId } = (await browser.post('/api/v1/auth/otp/send', { email: ADA, clientId: shop.clientId })).json
      .data;
    const answer = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId, code: instance.codeFor(ADA) },
      headers: { ...headers, 'gatehouse-page': 'sign-in' },
    });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  });

  test('at the account page issues no token that works', async () => {
    const { json } = await browser.signIn(shop, ADA, 'account');
    expect((await verdict(json.data.token)).error).toBe('invalid_token');
    expect((await browser.account(shop)).status).toBe(200);
  });
});

describe('a code that an application has asked for in its own form', () => {
  test('opens the account page of that application, and continues nowhere', async () => {
    const { json } = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: ADA, clientId: shop.clientId },
    });
    const { challengeId } = json.data;
    const mail = instance.sqlite.query('SELECT text FROM mails ORDER BY rowid DESC LIMIT 1').get();
    expect((mail as { text: string }).text).not.toContain('other applications');
    // The application's backend can send whatever a page would send.
    const given = { challengeId, code: instance.codeFor(ADA) };
    const answer = await browser.post('/api/v1/auth/otp/verify', given, { 'gatehouse-page': 'sign-in' });
    expect((await browser.account(shop)).status).toBe(200);
    for (const application of [forum, tenant.application]) {
      expect((await browser.offered(application)).emails).toEqual([]);
      const refused = await browser.continueAs(application, answer.json.data.userId);
      expect(problem(refused)).toEqual([401, 'unauthenticated']);
    }
  });

  test('is told from a page’s code by the mail, which names the host and what the code opens', async () => {
    await adaAtShop();
    const mail = instance.sqlite.query('SELECT text FROM mails ORDER BY rowid DESC LIMIT 1').get();
    expect((mail as { text: string }).text).toContain('Enter it only at id.example.com, where it also opens');
  });
});

describe('the token that an application was given', () => {
  test('continues nowhere, as a cookie or as a bearer token', async () => {
    const { token, userId } = await adaAtShop();
    for (const value of [token, `${token}~${token}`]) {
      const thief = createBrowser(instance);
      thief.cookies.set(nameOf(shop), value);
      const there = pageBrowser(instance, thief);
      expect(problem(await there.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
      expect((await there.offered(forum)).emails).toEqual([]);
    }
    const bare = pageBrowser(instance);
    const headers = { authorization: `Bearer ${token}` };
    expect(problem(await bare.continueAs(forum, userId, { headers }))).toEqual([401, 'unauthenticated']);
  });

  test('kept for the account page by its application opens no other one', async () => {
    const { token, userId } = await adaAtShop();
    const other = pageBrowser(instance);
    const kept = await other.visit('/account/session', { method: 'PUT', token, headers: other.sent });
    expect(kept.status).toBe(200);
    expect((await other.account(shop)).status).toBe(200);
    expect(problem(await other.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
  });

  test('has no use of a proof that was given on the page', async () => {
    const { token, userId } = await adaAtShop();
    await pageBrowser(instance).signIn(tenant.application, ADA);
    instance.clock.advance(11 * MINUTE);
    const asked = await browser.account(shop, 'POST', '/api/account/proof', { purpose: 'session' });
    const given = { challengeId: asked.json.data.challengeId, code: instance.codeFor(ADA) };
    expect((await browser.account(shop, 'POST', '/api/account/proof/confirm', given)).status).toBe(200);
    const byToken = await instance.call('POST', '/api/account/passkeys/options', { token });
    expect(problem(byToken)).toEqual([403, 'reauthentication_required']);
    const moved = await instance.call('POST', '/api/account/email', { token, body: { email: 'evil@example.com' } });
    expect(problem(moved)).toEqual([403, 'reauthentication_required']);
    expect((await browser.account(shop, 'POST', '/api/account/passkeys/options')).status).toBe(200);
    expect((await verdict(token)).userId).toBe(userId);
  });

  test('is not what a page secret is: no endpoint takes the secret as a bearer token', async () => {
    await adaAtShop();
    const value = browser.cookies.get(nameOf(shop)) ?? '';
    for (const token of [value, value.split('.')[1] ?? '']) {
      expect((await verdict(token)).error).toBe('invalid_token');
      expect((await instance.call('GET', '/api/account', { token })).status).toBe(401);
      const verified = await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });
      expect(verified.json.errorMessage).toBe('invalid_token');
    }
  });
});

describe('continuing in another application', () => {
  test('is offered, never done by itself, and signs in with method and time of the first', async () => {
    const { userId } = await adaAtShop();
    instance.clock.advance(20 * MINUTE);
    for (const path of ['/sign-in', '/account'])
      expect((await browser.visit(`${path}?clientId=${forum.clientId}`)).headers.getSetCookie()).toEqual([]);
    expect(instance.events(forum.id)).toEqual([]);
    expect(await browser.offered(forum)).toEqual({ emails: [ADA], current: null });

    const { status, json } = await browser.continueAs(forum, userId);
    expect(status).toBe(200);
    const { token, expiresAt } = json.data.session;
    expect((await verdict(token)).applicationId).toBe(forum.id);
    expect(Date.parse(expiresAt)).toBe(instance.clock.now() - 20 * MINUTE + forum.sessionTtlSeconds * 1000);
    expect(await browser.offered(forum)).toEqual({ emails: [ADA], current: ADA });
    const [event] = instance.events(forum.id);
    expect([event?.type, event?.data]).toEqual([
      'user.signed_in',
      expect.objectContaining({ userId, method: 'otp', isNewUser: true }),
    ]);
    expect(instance.auditKinds(forum.id)).toContain('signin.succeeded');
  });

  test('is no recent sign-in: a device, a passkey or an address needs a new proof', async () => {
    const { userId } = await adaAtShop();
    instance.clock.advance(11 * MINUTE);
    const { token } = (await browser.continueAs(forum, userId)).json.data.session;
    const devices = devicesOf(instance, forum);
    const codes = await devices.begin();
    const refused = [403, 'reauthentication_required'];
    expect(problem(await devices.decide('approve', codes.user_code, { token }))).toEqual(refused);
    expect(problem(await instance.call('POST', '/api/account/passkeys/options', { token }))).toEqual(refused);
    expect(problem(await browser.account(forum, 'POST', '/api/account/passkeys/options'))).toEqual(refused);
  });

  test('never outlives the first sign-in, whatever chain of applications it takes', async () => {
    const { userId } = await adaAtShop();
    const first = instance.clock.now();
    await given.application(instance, forum.id, { sessionTtlSeconds: 3_600 });
    instance.clock.advance(50 * MINUTE);
    const { expiresAt } = (await browser.continueAs(forum, userId)).json.data.session;
    expect(Date.parse(expiresAt)).toBe(first + 60 * MINUTE);
    instance.clock.advance(11 * MINUTE);
    expect((await browser.offered(forum)).emails).toEqual([]);
    expect(problem(await browser.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
  });

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another origin in a browser without fetch metadata', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
    ['a sibling host', { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' }],
    ['an opaque origin, as of a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['our origin, which the browser says is another site', { origin: OWN, 'sec-fetch-site': 'cross-site' }],
    ['the address bar', { origin: '', 'sec-fetch-site': 'none' }],
    ['nowhere that is named', { origin: '', 'sec-fetch-site': '' }],
  ])('is refused from %s, and so is the question who is signed in', async (_, headers) => {
    const { userId } = await adaAtShop();
    const body = { clientId: forum.clientId, userId, page: 'sign-in' };
    const named = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const answer = await browser.visit('/account/session', { method: 'POST', body, headers: named });
    expect(problem(answer)).toEqual([403, 'forbidden']);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(instance.events(forum.id)).toEqual([]);
    const site = named['sec-fetch-site'];
    if (site === undefined || site === 'none') return;
    const asked = await browser.visit(`/account/session?clientId=${forum.clientId}`, { headers: named });
    expect([asked.status, asked.text.includes(ADA)]).toEqual([403, false]);
  });

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])(
    'is refused as a form, which other sites could send: %s',
    async (type) => {
      const { userId } = await adaAtShop();
      const json = JSON.stringify({ clientId: forum.clientId, userId, page: 'sign-in' });
      const answer = await browser.visit('/account/session', {
        method: 'POST',
        body: type.includes('urlencoded') ? `clientId=${forum.clientId}&userId=${userId}&page=sign-in` : json,
        headers: { ...browser.sent, 'content-type': type },
      });
      expect(answer.status).toBeOneOf([400, 415]);
      expect(instance.events(forum.id)).toEqual([]);
    },
  );

  test('names nobody whose session the browser does not hold', async () => {
    await adaAtShop();
    const bob = await instance.signIn(shop.clientId, BOB);
    for (const userId of [bob.userId, '', '*', 'usr_00000000000000000000000000'])
      expect((await browser.continueAs(forum, userId)).status).toBeOneOf([400, 401]);
  });

  test('the pages refuse frames, so nobody is made to press the button', async () => {
    await adaAtShop();
    for (const path of ['/sign-in', '/account']) {
      const { headers } = await browser.visit(`${path}?clientId=${forum.clientId}`);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect([headers.get('x-frame-options'), headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
    }
  });
});

describe('states are judged anew', () => {
  test.each(['ban', 'pause', 'delete'])('after a %s there, nobody continues', async (verb) => {
    const { userId } = await adaAtShop();
    await browser.continueAs(forum, userId);
    await act(forum, userId, verb);
    expect((await browser.account(forum)).status).toBeOneOf([401, 403]);
    const expected = verb === 'delete' ? 'user_deleted' : 'membership_blocked';
    expect(problem(await browser.continueAs(forum, userId))).toEqual([403, expected]);
    expect((await browser.account(shop)).status).toBe(200);
    if (verb === 'delete') return;
    // Admitted again, the person gives a new proof.
    await act(forum, userId, verb === 'ban' ? 'unban' : 'resume');
    expect((await browser.offered(forum)).emails).toEqual([]);
    expect(problem(await browser.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
  });

  test.each(['ban', 'pause', 'delete'])(
    'after a %s at the first application, its session continues nowhere',
    async (verb) => {
      const { userId } = await adaAtShop();
      await act(shop, userId, verb);
      expect((await browser.offered(forum)).emails).toEqual([]);
      expect(problem(await browser.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
    },
  );

  test('a private beta and a closed gate keep out who was not admitted', async () => {
    const { userId } = await adaAtShop();
    await given.application(instance, forum.id, { signinGate: 'private_beta' });
    expect(problem(await browser.continueAs(forum, userId))).toEqual([403, 'waitlist']);
    await given.application(instance, forum.id, { signinGate: 'closed' });
    expect(problem(await browser.continueAs(forum, userId))).toEqual([403, 'gate_closed']);
    expect(browser.cookies.has(nameOf(forum))).toBe(false);
  });

  test('a method that was switched off opens nothing', async () => {
    const { userId } = await adaAtShop();
    await given.application(instance, forum.id, { signinMethods: ['passkey'] });
    expect((await browser.offered(forum)).emails).toEqual([]);
    expect(problem(await browser.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
  });

  test('an archived application is entered by nobody, and continues nobody', async () => {
    const { userId } = await adaAtShop();
    await given.lifecycle(instance, forum.id, { kind: 'archive' });
    expect(problem(await browser.continueAs(forum, userId))).toEqual([403, 'application_archived']);
    await given.lifecycle(instance, shop.id, { kind: 'archive' });
    const third = await instance.createApplication({ name: 'Third' });
    expect((await browser.offered(third)).emails).toEqual([]);
    expect(problem(await browser.continueAs(third, userId))).toEqual([401, 'unauthenticated']);
  });

  test('the console is continued neither into nor from, even by an owner', async () => {
    const owner = 'owner@example.com';
    const { json } = await browser.signIn(shop, owner);
    const { userId } = json.data;
    const into = await browser.visit('/account/session', {
      method: 'POST',
      body: { clientId: 'console', userId, page: 'sign-in' },
      headers: browser.sent,
    });
    expect(problem(into)).toEqual([404, 'not_found']);
    instance.clock.advance(MINUTE);
    const operator = pageBrowser(instance);
    const asked = await operator.post('/api/v1/auth/otp/send', { email: owner });
    const code = instance.codeFor(owner);
    const headers = { 'gatehouse-page': 'sign-in' };
    await operator.post('/api/v1/auth/otp/verify', { challengeId: asked.json.data.challengeId, code }, headers);
    const console = operator.cookies.get('__Host-gatehouse') ?? '';
    expect(console).toStartWith('est_');
    operator.cookies.set(nameOf(shop), console);
    expect((await operator.offered(forum)).emails).toEqual([]);
    expect(problem(await operator.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
  });
});

describe('a passkey', () => {
  test('of one workspace opens that workspace’s applications only', async () => {
    const { token, userId } = await adaAtShop();
    const { passkey } = await register(instance, token, { claims: { origin: OWN } });
    const other = pageBrowser(instance);
    expect((await other.signInWith(shop, passkey)).status).toBe(200);
    expect((await other.offered(tenant.application)).emails).toEqual([]);
    expect(problem(await other.continueAs(tenant.application, userId))).toEqual([401, 'unauthenticated']);
    expect((await other.continueAs(forum, userId)).status).toBe(200);
    // Nor by way of the second application.
    expect(problem(await other.continueAs(tenant.application, userId))).toEqual([401, 'unauthenticated']);
  });

  test('that is removed ends what was continued from it', async () => {
    const { token, userId } = await adaAtShop();
    const { passkey, json } = await register(instance, token, { claims: { origin: OWN } });
    const other = pageBrowser(instance);
    await other.signInWith(shop, passkey);
    const continued = (await other.continueAs(forum, userId)).json.data.session;
    await instance.call('DELETE', `/api/account/passkeys/${json.data.id}`, { token });
    expect((await verdict(continued.token)).ok).toBe(false);
    expect((await other.account(forum)).status).toBe(401);
  });
});

describe('a tenant’s own provider', () => {
  test('opens that workspace’s applications that use it, and no other workspace’s', async () => {
    const scene = await createScene();
    const { tenant: other, own } = await addTenant(scene);
    const { instance } = scene;
    const page = `${instance.config.baseUrl ?? 'http://localhost:8080'}/sign-in?clientId=${other.application.clientId}`;
    scene.provider.claims = { aud: 'mallory', sub: 'mallory', email: 'victim@example.com' };
    const landed = await own.comeBack(await own.begin({ returnTo: page }));
    const { token } = fragmentOf(landed);
    const { userId } = (await instance.call('POST', '/api/v1/session', { token })).json;
    const claimed = pageBrowser(instance, own.browser);
    expect(await claimed.offered(other.application)).toEqual({
      emails: ['victim@example.com'],
      current: 'victim@example.com',
    });

    expect((await claimed.offered(scene.application)).emails).toEqual([]);
    expect(problem(await claimed.continueAs(scene.application, userId))).toEqual([401, 'unauthenticated']);
    expect((await claimed.continueAs(other.application, userId)).status).toBe(200);

    // The holder’s first proof ends what the claim opened.
    await instance.signIn(scene.application.clientId, 'victim@example.com');
    expect((await claimed.offered(other.application)).emails).toEqual([]);
    expect((await claimed.account(other.application)).status).toBe(401);
    expect(problem(await claimed.continueAs(other.application, userId))).toEqual([401, 'unauthenticated']);
  });

  test('lets nobody in whom another provider has vouched for', async () => {
    const scene = await createScene();
    const { tenant: other } = await addTenant(scene);
    const { instance, application } = scene;
    const page = `${instance.config.baseUrl ?? 'http://localhost:8080'}/sign-in?clientId=${application.clientId}`;
    scene.provider.claims = { sub: 'ada', email: ADA };
    const landed = await scene.comeBack(await scene.begin({ returnTo: page }));
    const { userId } = (await instance.call('POST', '/api/v1/session', { token: fragmentOf(landed)['token'] })).json;
    const ada = pageBrowser(instance, scene.browser);
    expect((await ada.offered(other.application)).emails).toEqual([]);
    expect(problem(await ada.continueAs(other.application, userId))).toEqual([401, 'unauthenticated']);
    const second = await instance.createApplication({ name: 'Second' });
    expect((await ada.continueAs(second, userId)).status).toBe(200);
    const [event] = instance.events(second.id);
    expect(event?.data).toMatchObject({ userId, method: 'provider' });
  });

  test('leaves no cookie where the flow ends at the application itself', async () => {
    const scene = await createScene();
    await scene.signIn({ sub: 'ada', email: ADA });
    expect([...scene.browser.cookies.keys()].filter((name) => name.includes('cli_'))).toEqual([]);
  });
});

describe('signing out', () => {
  test('on the page ends the application’s session, and nobody continues as this person here', async () => {
    const { token, userId } = await adaAtShop();
    const there = (await browser.continueAs(forum, userId)).json.data.session;
    expect((await browser.signOut(shop)).status).toBe(200);
    expect((await verdict(token)).ok).toBe(false);
    // The other application keeps its own token, but its pages have forgotten the person.
    expect((await verdict(there.token)).ok).toBe(true);
    for (const application of [shop, forum, tenant.application])
      expect(await browser.offered(application)).toEqual({ emails: [], current: null });
    expect(instance.events(shop.id).at(-1)?.type).toBe('user.signed_out');
  });

  test('in the application ends its page as well', async () => {
    const { token, userId } = await adaAtShop();
    await instance.call('DELETE', '/api/v1/session', { token });
    expect((await browser.account(shop)).status).toBe(401);
    expect((await browser.offered(forum)).emails).toEqual([]);
    expect(problem(await browser.continueAs(forum, userId))).toEqual([401, 'unauthenticated']);
  });

  test('everywhere else ends what was continued, and a stolen cookie with it', async () => {
    const { userId } = await adaAtShop();
    const stolen = new Map(browser.cookies);
    const { token } = (await browser.continueAs(forum, userId)).json.data.session;
    const own = pageBrowser(instance);
    instance.clock.advance(MINUTE);
    const { json } = await own.signIn(shop, ADA);
    await instance.call('DELETE', '/api/account/sessions', { token: json.data.token });
    expect((await verdict(token)).ok).toBe(false);
    const thief = pageBrowser(instance);
    for (const [name, value] of stolen) thief.cookies.set(name, value);
    expect((await thief.offered(forum)).emails).toEqual([]);
    expect((await thief.account(shop)).status).toBe(401);
    expect((await own.account(shop)).status).toBe(200);
  });

  test('ended by the operator, a session continues nowhere', async () => {
    const { userId } = await adaAtShop();
    await manage(shop, 'DELETE', `/users/${userId}/sessions`);
    expect((await browser.offered(forum)).emails).toEqual([]);
  });
});

describe('sessions that were ended by decision', () => {
  /** Signs Ada in at the shop, and continues in other applications. */
  async function adaIn(...applications: readonly Application[]) {
    const ada = await adaAtShop();
    instance.clock.advance(MINUTE);
    for (const application of applications)
      expect((await browser.continueAs(application, ada.userId)).status).toBe(200);
    instance.clock.advance(MINUTE);
    return ada;
  }

  /** Expects that the browser is signed in at one application and cannot return to another. */
  async function keptOut(of: Application, userId: string, from: Application) {
    expect((await browser.account(from)).status).toBe(200);
    expect((await browser.offered(of)).emails).toEqual([]);
    expect(problem(await browser.continueAs(of, userId))).toEqual([401, 'unauthenticated']);
    expect((await browser.account(of)).status).toBe(401);
  }

  /** Signs Ada in with a device of her own. */
  async function ownDevice() {
    const own = pageBrowser(instance);
    return { own, token: (await own.signIn(shop, ADA)).json.data.token as string };
  }

  test('by the person are not begun again from another tenant’s application', async () => {
    const { userId } = await adaIn(tenant.application, forum);
    const { own, token } = await ownDevice();
    expect((await instance.call('DELETE', '/api/account/sessions', { token })).status).toBe(200);
    for (const application of [shop, forum]) await keptOut(application, userId, tenant.application);
    expect((await own.account(shop)).status).toBe(200);
    // A new proof lets her in again, and continues as any other.
    instance.clock.advance(MINUTE);
    expect((await browser.signIn(shop, ADA)).status).toBe(200);
    expect((await browser.continueAs(forum, userId)).status).toBe(200);
  });

  test('by the person stay ended although none was open then', async () => {
    const { userId } = await adaIn(tenant.application);
    await browser.signOut(shop);
    instance.clock.advance(MINUTE);
    await browser.signIn(tenant.application, ADA);
    instance.clock.advance(MINUTE);
    const { token } = await ownDevice();
    const { json } = await instance.call('DELETE', '/api/account/sessions', { token });
    expect(json.data.revoked).toBe(0);
    await keptOut(shop, userId, tenant.application);
  });

  test.each(['all', 'one'])(
    'by the operator, %s of them, are not begun again from another application',
    async (which) => {
      const { userId, token } = await adaIn(forum);
      const { items } = (await manage(shop, 'GET', `/users/${userId}/sessions`)).json.data;
      expect(items).toHaveLength(1);
      const path = `/users/${userId}/sessions${which === 'one' ? `/${items[0].id}` : ''}`;
      expect((await manage(shop, 'DELETE', path)).json.data.revoked).toBe(1);
      expect((await verdict(token)).ok).toBe(false);
      await keptOut(shop, userId, forum);
    },
  );

  test('one by one, by the person, are not begun again either', async () => {
    const { userId } = await adaIn(forum);
    const { items } = (await manage(shop, 'GET', `/users/${userId}/sessions`)).json.data;
    const { token } = await ownDevice();
    expect((await instance.call('DELETE', `/api/account/sessions/${items[0].id}`, { token })).status).toBe(200);
    await keptOut(shop, userId, forum);
  });

  test('keep nobody from an application where the person has not been', async () => {
    const { userId } = await adaIn(tenant.application);
    await manage(shop, 'DELETE', `/users/${userId}/sessions`);
    expect((await browser.continueAs(forum, userId)).status).toBe(200);
  });

  test('are told from a sign-out, after which the person may return', async () => {
    const { userId, token } = await adaIn(forum);
    await instance.call('DELETE', '/api/v1/session', { token });
    expect((await browser.offered(shop)).emails).toEqual([ADA]);
    expect((await browser.continueAs(shop, userId)).status).toBe(200);
  });
});

describe('a shared browser', () => {
  test('keeps both accounts; the first one’s cookie opens nothing by itself', async () => {
    const ada = await adaAtShop();
    const bob = (await browser.signIn(shop, BOB)).json.data;
    expect(await browser.offered(shop)).toEqual({ emails: [BOB, ADA], current: BOB });
    expect((await browser.account(shop)).json.data.email).toBe(BOB);
    expect((await verdict(ada.token)).ok).toBe(true);

    const switched = await browser.continueAs(shop, ada.userId, { page: 'account' });
    expect([switched.status, switched.json.data.session]).toEqual([200, null]);
    expect((await browser.account(shop)).json.data.email).toBe(ADA);
    // A switch signs nobody in anew.
    expect(instance.events(shop.id).filter(({ type }) => type === 'user.signed_in')).toHaveLength(2);

    await browser.signOut(shop);
    expect(await browser.offered(shop)).toEqual({ emails: [BOB], current: null });
    expect((await browser.account(shop)).status).toBe(401);
    expect((await verdict(ada.token)).ok).toBe(false);
    expect((await verdict(bob.token)).ok).toBe(true);
  });

  test('holds at most five accounts', async () => {
    for (let index = 0; index < 7; index += 1)
      expect((await browser.signIn(shop, `person${index}@example.com`)).status).toBe(200);
    const { emails, current } = await browser.offered(shop);
    expect(emails).toEqual([6, 5, 4, 3, 2].map((index) => `person${index}@example.com`));
    expect(current).toBe('person6@example.com');
  });

  test('holds one session an account and application, however often the person signs in there', async () => {
    await browser.signIn(shop, ADA, 'account');
    instance.clock.advance(MINUTE);
    await browser.signIn(shop, ADA, 'account');
    const { items } = (await browser.account(shop, 'GET', '/api/account/sessions')).json.data;
    expect(items).toHaveLength(1);
    const { userId } = (await browser.account(shop)).json.data;
    // The application’s own page asks for a token: the page’s session is replaced by one that has it.
    expect((await browser.continueAs(shop, userId)).status).toBe(200);
    expect((await browser.account(shop, 'GET', '/api/account/sessions')).json.data.items).toHaveLength(1);
  });
});

describe('a cookie planted before', () => {
  test('is replaced by the sign-in, and its account is only offered', async () => {
    const attacker = pageBrowser(instance);
    await attacker.signIn(shop, 'mallory@example.com');
    for (const [name, value] of attacker.cookies) browser.cookies.set(name, value);
    await adaAtShop();
    expect((await browser.account(shop)).json.data.email).toBe(ADA);
    const value = browser.cookies.get(nameOf(shop)) ?? '';
    expect(value.split('~')[0]).not.toBe(attacker.cookies.get(nameOf(shop)));
    // The secret of the new session is new: the planter does not know it.
    expect((await attacker.account(shop)).json.data.email).toBe('mallory@example.com');
  });

  test.each([
    ['of another application', () => `${nameOf(forum)}`],
    ['of another host, without the prefix', () => `gatehouse-${shop.clientId}`],
    ['of a made-up application', () => '__Host-gatehouse-cli_0'],
    ['of the console', () => '__Host-gatehouse'],
  ])('under the name %s is not taken', async (_, name) => {
    const { userId } = await adaAtShop();
    const value = browser.cookies.get(nameOf(shop)) ?? '';
    const other = pageBrowser(instance);
    other.cookies.set(name(), value);
    expect((await other.offered(tenant.application)).emails).toEqual([]);
    expect((await other.offered(forum)).emails).toEqual([]);
    expect(problem(await other.continueAs(tenant.application, userId))).toEqual([401, 'unauthenticated']);
  });

  test('with another session’s id, a wrong secret or endless parts is nobody’s', async () => {
    await adaAtShop();
    const bob = pageBrowser(instance);
    await bob.signIn(shop, BOB);
    const [ada = '', hers = ''] = (browser.cookies.get(nameOf(shop)) ?? '').split('.');
    const [, his = ''] = (bob.cookies.get(nameOf(shop)) ?? '').split('.');
    for (const value of [
      `${ada}.${his}`,
      `${ada}.`,
      `.${hers}`,
      ada,
      `${ada}.${hers}.x`,
      `x${ada}.${hers}`,
      '~'.repeat(4000),
    ]) {
      const other = pageBrowser(instance);
      other.cookies.set(nameOf(shop), value);
      expect((await other.account(shop)).status).toBe(401);
      expect(await other.offered(shop)).toEqual({ emails: [], current: null });
    }
  });
});

test('after a change of address the other browsers continue nowhere, and this one under the new address', async () => {
  const { userId } = await adaAtShop();
  const other = pageBrowser(instance);
  instance.clock.advance(MINUTE);
  await other.signIn(forum, ADA);
  const proof = { purpose: 'email_change', target: 'countess@example.com' };
  const step = async (path: string, body: unknown) => (await browser.account(shop, 'POST', path, body)).json.data;
  const asked = await step('/api/account/proof', proof);
  await step('/api/account/proof/confirm', { challengeId: asked.challengeId, code: instance.codeFor(ADA) });
  const moving = await step('/api/account/email', { email: 'countess@example.com' });
  await step('/api/account/email/confirm', {
    challengeId: moving.challengeId,
    code: instance.codeFor('countess@example.com'),
  });
  expect((await other.offered(tenant.application)).emails).toEqual([]);
  expect((await browser.offered(tenant.application)).emails).toEqual(['countess@example.com']);
  expect((await browser.continueAs(tenant.application, userId)).status).toBe(200);
});

test('the way back from the account leads to a registered address only', async () => {
  await given.application(instance, shop.id, { returnUrls: ['https://shop.example/app'] });
  const page = async (returnTo: string) => {
    const query = new URLSearchParams({ clientId: shop.clientId, returnTo });
    return (await browser.visit(`/account/devices?${query}`)).text;
  };
  expect(await page('https://shop.example/app/cart')).toContain('"back":"https://shop.example/app/cart"');
  for (const evil of ['https://evil.example/', 'javascript:alert(1)', 'https://shop.example/application'])
    expect(await page(evil)).toContain('"back":"https://shop.example/"');
});

test('one code opens other tenants too, and tells them nothing of the first', async () => {
  const { userId } = await adaAtShop();
  expect((await browser.continueAs(tenant.application, userId)).status).toBe(200);
  const rows = instance.sqlite
    .query('SELECT detail FROM audit_records WHERE application_id = ?')
    .all(tenant.application.id);
  for (const text of [JSON.stringify(rows), JSON.stringify(instance.events(tenant.application.id))])
    for (const secret of [shop.id, shop.clientId, 'Shop']) expect(text).not.toContain(secret);
});
