/** Error pages: each leads back to the application, and none to the operator's console. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { undoLinkOf } from './moved-address.ts';

setDefaultTimeout(120_000);

const HOME = 'https://harbour.example/';

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
  harbour = await manage('/api/applications', { name: 'Harbour', returnUrls });
  for (const step of ['publish', 'go-live']) await manage(`/api/applications/${harbour.id}/${step}`);
  homeless = await manage('/api/applications', { name: 'Homeless' });
  archived = await manage('/api/applications', { name: 'Old pier', returnUrls });
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

const start = (clientId: string, returnTo: string) =>
  `/api/auth/google/start?${new URLSearchParams({ clientId, returnTo })}`;

const BACK_TO = (name: string) => [[HOME, `Back to ${name}`]];

/** A function, since the tests create the applications first. */
type Links = readonly (readonly string[])[];

const PAGES: readonly (readonly [name: string, address: () => string, links: Links | ((url: string) => Links)])[] = [
  ['an unknown path', () => '/nothing/here', []],
  ['an unknown path that names an application', () => `/nothing?clientId=${harbour.clientId}`, []],
  ['an unknown client', () => '/sign-in?clientId=cli_nobody', []],
  ['an unknown client of an account', () => '/account?clientId=cli_nobody', []],
  ['an unknown part of an account', () => `/account/nothing?clientId=${harbour.clientId}`, BACK_TO('Harbour')],
  [
    'an unregistered return URL',
    () => `/sign-in?clientId=${harbour.clientId}&returnTo=https://evil.example/`,
    BACK_TO('Harbour'),
  ],
  [
    'an unregistered return URL, for an application without one',
    () => `/sign-in?clientId=${homeless.clientId}&returnTo=https://evil.example/`,
    [],
  ],
  ['an archived application', () => `/sign-in?clientId=${archived.clientId}`, BACK_TO('Old pier')],
  ['the account of an archived application', () => `/account?clientId=${archived.clientId}`, BACK_TO('Old pier')],
  ['a provider of an archived application', () => start(archived.clientId, HOME), BACK_TO('Old pier')],
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
  await page.untilText('.hint', /req_/);
  expect<Links>(await links()).toEqual(typeof known === 'function' ? known(server.url) : known);
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
});

test('a used undo link leads back to the application that mailed it', async () => {
  const { token } = await signIn(server, 'ada@example.com', harbour.clientId);
  const link = await undoLinkOf(server, token, 'ada@example.com', 'new@example.com');
  await page.open(link);
  await page.view.click('button.primary');
  await page.untilText('h1', /^The change was undone$/);
  await page.open(link);
  await page.untilText('.lead', /^This link has been used or has expired\.$/);
  expect<Links>(await links()).toEqual(BACK_TO('Harbour'));
});
