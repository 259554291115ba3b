/** Error pages: each leads back to the application, and none to the operator's console. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { undoLinkOf } from './moved-address.ts';

setDefaultTimeout(120_000);

const HOME = 'https://harbour.example/';
const HELP = 'https://harbour.example/help';
const BRANDING = { accentColor: '#0f766e', supportUrl: HELP };
const TERMS = 'https://harbour.example/terms';

let server: EphemeralServer;
let page: Page;
/** A live application with two return URLs, one without any, and an archived one with one. */
let harbour: Application;
let homeless: Application;
let archived: Application;

interface Application {
  readonly id: string;
  readonly clientId: string;
}

beforeAll(async () => {
  server = await startEphemeral();
  const returnUrls = [`${HOME}app/signed-in?from=here`, 'https://elsewhere.example/'];
  harbour = await manage('/api/applications', { name: 'Harbour', returnUrls, branding: BRANDING });
  for (const step of ['publish', 'go-live']) await manage(`/api/applications/${harbour.id}/${step}`);
  homeless = await manage('/api/applications', { name: 'Homeless' });
  archived = await manage('/api/applications', {
    name: 'Old pier',
    branding: { homeUrl: 'https://pier.example/farewell' },
    legalUrls: { terms: TERMS },
  });
  const { challengeId } = await manage(`/api/applications/${archived.id}/lifecycle/send`, { kind: 'archive' });
  const code = await outboxCode(server, 'owner@example.test');
  await manage(`/api/applications/${archived.id}/lifecycle/confirm`, { challengeId, code });
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  page = await openBrowserPage();
});
afterEach(() => page.close());

async function manage(path: string, body?: unknown) {
  const { status, text, json } = await request(server, 'POST', path, { token: server.workspaceKey, body });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return json.data;
}

/** Returns the target and the text of every link on the page. */
const links = () =>
  page.evaluate<[string, string][]>(
    '[...document.querySelectorAll("a, area, form")].map((one) => [one.href || one.action, one.innerText.trim()])',
  );

/** Returns the application that the card names; empty for Gatehouse's own pages. */
const brand = () => page.evaluate<string>('document.querySelector(".brand-name")?.innerText ?? ""');
const color = () => page.evaluate<string>('getComputedStyle(document.querySelector(".tile")).backgroundColor');

const start = (clientId: string, returnTo: string) =>
  `/api/auth/google/start?${new URLSearchParams({ clientId, returnTo })}`;

type Links = readonly (readonly string[])[];

const TO_HARBOUR: Links = [
  [HOME, 'Back to Harbour'],
  [HELP, 'Write to Harbour'],
];
const TO_PIER: Links = [
  ['https://pier.example/farewell', 'Back to Old pier'],
  [TERMS, 'Terms'],
];

/** Addresses are functions, since the tests create the applications first. */
const PAGES: readonly (readonly [name: string, address: () => string, links: Links | ((url: string) => Links)])[] = [
  ['an unknown path', () => '/nothing/here', []],
  ['an unknown path that names an application', () => `/nothing?clientId=${harbour.clientId}`, []],
  ['an unknown client', () => '/sign-in?clientId=cli_nobody', []],
  ['an unknown client of an account', () => '/account?clientId=cli_nobody', []],
  ['an unknown part of an account', () => `/account/nothing?clientId=${harbour.clientId}`, TO_HARBOUR],
  [
    'an unregistered return URL',
    () => `/sign-in?clientId=${harbour.clientId}&returnTo=https://evil.example/`,
    TO_HARBOUR,
  ],
  [
    'an unregistered return URL, for an application without one',
    () => `/sign-in?clientId=${homeless.clientId}&returnTo=https://evil.example/`,
    [],
  ],
  ['an archived application', () => `/sign-in?clientId=${archived.clientId}`, TO_PIER],
  ['the account of an archived application', () => `/account?clientId=${archived.clientId}`, TO_PIER],
  ['a provider of an archived application', () => start(archived.clientId, HOME), TO_PIER],
  [
    'a provider that is not set up',
    () => start(harbour.clientId, `${HOME}app/signed-in`),
    (url) => [[`${url}/sign-in?clientId=${harbour.clientId}`, 'Sign in another way']],
  ],
  ['a provider’s answer that nobody waits for', () => '/api/auth/google/callback?state=x&code=y', []],
  ['a made-up undo link', () => '/undo-email-change?token=euc_made_up', []],
  ['a spent setup link', () => '/setup?token=x', []],
];

test.each(PAGES)('%s links to the application if it is known, never to the console', async (_, address, known) => {
  await page.open(server.url + address());
  await page.untilText('h1', /\S/);
  // A page for people in no application's hands names what to look for in the log.
  if (known !== TO_PIER) await page.untilText('.hint', /^Reference: [34]\d\d\s·\sreq_/);
  expect<Links>(await links()).toEqual(typeof known === 'function' ? known(server.url) : known);
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
});

describe.each([360, 1280])('at %i px', (width) => {
  beforeEach(async () => {
    page.close();
    page = await openBrowserPage({ width, height: 800 });
  });

  test('a wrong link keeps the application’s name, colour and legal links, also in another language', async () => {
    await page.open(`${server.url}/sign-in?clientId=${harbour.clientId}&returnTo=https://evil.example/`);
    expect([await brand(), await color()]).toEqual(['Harbour', 'rgb(15, 118, 110)']);
    await page.view.click('#language');
    await page.evaluate(`(() => {
      const languages = document.querySelector('#language');
      languages.value = 'de';
      languages.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
    await page.untilText('h1', /^Dieser Link/);
    expect(await brand()).toBe('Harbour');
    expect((await page.address()).searchParams.get('clientId')).toBe(harbour.clientId);
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
  });

  test('a visit to an archived application says so in its name and leads to its home', async () => {
    await page.open(`${server.url}/sign-in?clientId=${archived.clientId}`);
    expect(await page.text('h1')).toBe('Old pier is no longer in service');
    expect(await brand()).toBe('Old pier');
    expect(await page.text('footer')).toContain('Terms');
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
  });
});

test('an undo link is the application’s that mailed it, to the button that signs in again', async () => {
  const { token } = await signIn(server, 'ada@example.com', harbour.clientId);
  const link = await undoLinkOf(server, token, 'ada@example.com', 'new@example.com');
  await page.open(`${link}&locale=de`);
  expect([await brand(), await color()]).toEqual(['Harbour', 'rgb(15, 118, 110)']);
  expect(await page.isVisible('#language')).toBe(true);
  await page.view.click('button.primary');
  await page.untilText('h1', /^Die Änderung/);
  expect(await brand()).toBe('Harbour');
  await page.view.click('#sign-in');
  await page.untilText('h1', /^Bei Harbour anmelden$/);

  await page.open(link);
  expect(await page.text('h1')).toBe('This link no longer works');
  expect(await page.text('.lead')).toMatch(/^This link was used or has expired\. If the change was not yours, /);
  expect(await brand()).toBe('Harbour');
  expect<Links>(await links()).toEqual([...TO_HARBOUR].reverse());
  expect(page.problems).toEqual([]);
});

test('a person refused for good can write to the people who run the application', async () => {
  const { userId } = await signIn(server, 'bob@example.com', harbour.clientId);
  await manage(`/api/applications/${harbour.id}/users/${userId}/ban`);
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });
  await page.open(`${server.url}/sign-in?clientId=${harbour.clientId}`);
  await page.fill('#email', 'bob@example.com');
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
  await page.pressKeys(await outboxCode(server, 'bob@example.com'));
  await page.untilVisible('#refused');
  expect(await page.text('#support')).toBe('Write to Harbour');
  expect(await page.evaluate<string>('document.querySelector("#support").href')).toBe(HELP);
  expect(await page.evaluate<string>('document.querySelector("#back").href')).toBe(HOME);
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
});
