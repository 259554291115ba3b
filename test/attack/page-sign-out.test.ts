/** Signing out of a shared browser: nobody is left behind by many cookies, by an ended session, or by a full cookie. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sessionCookie } from '@/http/session-cookie.ts';
import { systemRandom } from '@/core/random.ts';
import { browserSessions } from '@/modules/page-sessions/browser-sessions.ts';
import type { Application } from '@/store/applications.ts';
import type { Instance } from '../support/instance.ts';
import { OWN, type PageBrowser, pageBrowser, setUpPages } from './page-browser.ts';

setDefaultTimeout(60_000);

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

let instance: Instance;
let shop: Application;
let forum: Application;
let browser: PageBrowser;

beforeEach(async () => {
  ({ instance, shop, forum, browser } = await setUpPages());
});

const nameOf = ({ clientId }: Application) => `__Host-gatehouse-${clientId}`;
const others = Array.from({ length: 25 }, (_, index) => `__Host-gatehouse-cli_other${index}`);
const verdict = async (token: string) => (await instance.call('POST', '/api/v1/session', { token })).json;

/** Puts cookies of 25 other applications before those of the test. */
function fillCookies(): void {
  for (const name of others) browser.cookies.set(name, 'x');
}

function emptyCookies(): void {
  for (const name of others) browser.cookies.delete(name);
}

/** Signs Ada in at the shop, and continues at the forum. */
async function adaAtBoth(): Promise<{ atShop: string; atForum: string }> {
  const { token, userId } = (await browser.signIn(shop, ADA)).json.data;
  const answer = await browser.continueAs(forum, userId);
  expect(answer.status).toBe(200);
  return { atShop: token, atForum: answer.json.data.session.token };
}

describe('a browser with more than twenty cookies of applications', () => {
  test('forgets whoever signs out, in all of them', async () => {
    const { atForum } = await adaAtBoth();
    const held = [...browser.cookies];
    browser.cookies.clear();
    fillCookies();
    for (const [name, value] of held) browser.cookies.set(name, value);
    expect((await browser.signOut(shop)).status).toBe(200);
    emptyCookies();
    for (const application of [shop, forum])
      expect(await browser.offered(application)).toEqual({ emails: [], current: null });
    expect((await verdict(atForum)).ok).toBe(true);
  });

  test('keeps the accounts of an application at the next sign-in there, and offers them', async () => {
    fillCookies();
    await browser.signIn(shop, ADA);
    await browser.signIn(shop, BOB);
    expect(await browser.offered(shop)).toEqual({ emails: [BOB, ADA], current: BOB });
  });
});

test('an account that a cookie has no room for is released: its session ends or loses its page', async () => {
  const left: string[] = [];
  let token = '';
  for (const [index, page] of (['sign-in', 'account', 'account', 'account', 'account'] as const).entries()) {
    const { json } = await browser.signIn(shop, `person${index}@example.com`, page);
    if (index === 0) token = json.data.token;
    left.push(browser.cookies.get(nameOf(shop))?.split('~')[0] ?? '');
  }
  for (const email of [ADA, BOB]) await browser.signIn(shop, email);
  for (const [index, value] of left.entries()) {
    const thief = pageBrowser(instance);
    thief.cookies.set(nameOf(shop), value);
    expect((await thief.account(shop)).status).toBe(index < 2 ? 401 : 200);
  }
  expect((await verdict(token)).ok).toBe(true);
  const ended = instance.sqlite.query('SELECT id FROM sessions WHERE revoked_at IS NOT NULL').all();
  expect(ended).toEqual([{ id: left[1]?.split('.')[0] }]);
});

describe('a session that has ended elsewhere', () => {
  test('signs out all the same: its person is forgotten at every application', async () => {
    const { atShop, atForum } = await adaAtBoth();
    await instance.call('DELETE', '/api/v1/session', { token: atShop });
    expect((await browser.offered(forum)).emails).toEqual([ADA]);
    expect((await browser.signOut(shop)).status).toBe(200);
    for (const application of [shop, forum])
      expect(await browser.offered(application)).toEqual({ emails: [], current: null });
    expect((await verdict(atForum)).ok).toBe(true);
    expect(instance.events(shop.id).filter(({ type }) => type === 'user.signed_out')).toHaveLength(1);
  });

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a sibling host', { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' }],
    ['no browser', {}],
  ])('is not signed out of from %s', async (_, headers) => {
    const { atShop } = await adaAtBoth();
    await instance.call('DELETE', '/api/v1/session', { token: atShop });
    const answer = await browser.visit('/account/session', {
      method: 'DELETE',
      headers: { ...headers, 'gatehouse-client': shop.clientId },
    });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    expect((await browser.offered(forum)).emails).toEqual([ADA]);
  });

  test('is nobody’s without its secret', async () => {
    await adaAtBoth();
    const [id = ''] = (browser.cookies.get(nameOf(shop)) ?? '').split('.');
    const thief = pageBrowser(instance);
    for (const value of [id, `${id}.x`, 'x']) {
      thief.cookies.set(nameOf(shop), value);
      expect((await thief.signOut(shop)).status).toBe(401);
    }
    expect((await browser.account(shop)).status).toBe(200);
  });
});

test('values that were never issued are not read one by one, and the others once', async () => {
  await adaAtBoth();
  const genuine = browser.cookies.get(nameOf(shop)) ?? '';
  const [id = '', secret = ''] = genuine.split('.');
  const madeUp = (seed: number) => {
    const end = String(seed).padStart(3, '0');
    return `${id.slice(0, -3)}${end}.${secret}`;
  };
  const planted = others.map((name, index) => {
    const values = [0, 1, 2, 3, 4].map((part) => madeUp(index * 5 + part));
    return `${name}=${[genuine, ...values].join('~')}`;
  });
  const read: string[] = [];
  const sessions = browserSessions({
    db: instance.db,
    random: systemRandom,
    cookie: sessionCookie(OWN),
    lookAtPage: async (value) => {
      read.push(value);
      return null;
    },
  });
  const cookie = [...planted, `${nameOf(shop)}=${genuine}`].join('; ');
  await sessions.live(new Request(OWN, { headers: { cookie } }), shop.clientId);
  expect(read).toEqual([genuine]);
});
