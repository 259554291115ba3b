/** Parts and fields that an application hides from its account page, and those that it cannot. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { type AccountPage, closeBrowser, openAccountPage } from './account-page.ts';
import { expectAccessible } from './axe.ts';
import { openConsole } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let token: string;
let page: AccountPage | undefined;

beforeAll(async () => {
  server = await startEphemeral();
  ({ token } = await signIn(server, 'ada@example.com', server.clientId));
});
afterEach(() => page?.close());
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

const navigation = (shown: AccountPage) =>
  shown.evaluate<string[]>('[...document.querySelectorAll("nav a")].map(({ innerText }) => innerText.trim())');
const sections = (shown: AccountPage) =>
  shown.evaluate<string[]>('[...document.querySelectorAll("main h2")].map(({ innerText }) => innerText.trim())');

async function setView(account: object): Promise<void> {
  const { status } = await request(server, 'PATCH', `/api/applications/${server.applicationId}`, {
    token: server.workspaceKey,
    body: { account },
  });
  expect(status).toBe(200);
}

test('an operator hides parts and fields in the console', async () => {
  const opened = await openConsole(server);
  await opened.go(`/applications/${server.applicationId}/settings/account`);
  await opened.press('#account-parts [value=applications]');
  for (const field of ['banner', 'region', 'languages', 'addresses', 'entities'])
    await opened.press(`#account-fields [value=${field}]`);
  await opened.press('#account-view-save');
  await opened.untilSaid(/^Saved/);
  expect(opened.problems).toEqual([]);
  await expectAccessible(opened, 0);
  opened.close();
});

test.each([360, 1280])(
  'a person sees what is shown at %i px, and a hidden part leads to the first shown',
  async (width) => {
    page = await openAccountPage(server, { width, height: 800 });
    await page.openAs(token, 'profile');
    expect(await navigation(page)).toEqual(['Profile', 'Sign-in and e-mail', 'Devices', 'Your data']);
    expect(await sections(page)).not.toContain('Languages');
    expect(await page.isVisible('#pictures')).toBe(true);
    expect(await page.evaluate<number>('document.querySelectorAll("#pictures li").length')).toBe(1);
    await page.open(`${server.url}/account/addresses?clientId=${server.clientId}&locale=de`);
    await page.untilVisible('main.account-part h1');
    const { pathname, searchParams } = await page.address();
    expect([pathname, searchParams.get('clientId'), searchParams.get('locale')]).toEqual([
      '/account/profile',
      server.clientId,
      'de',
    ]);
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    await expectAccessible(page, 0);
  },
);

test('sign-in, devices and data are shown even if everything else is hidden', async () => {
  await setView({ parts: [], fields: [] });
  page = await openAccountPage(server);
  await page.openAs(token, 'profile');
  expect((await page.address()).pathname).toBe('/account/sign-in');
  expect(await navigation(page)).toEqual(['Sign-in and e-mail', 'Devices', 'Your data']);
  for (const part of ['devices', 'data']) {
    await page.open(`${server.url}/account/${part}?clientId=${server.clientId}`);
    await page.untilVisible('main.account-part h1');
    expect((await page.address()).pathname).toBe(`/account/${part}`);
  }
  expect(page.problems).toEqual([]);
});

test('what is hidden is still open to the person by the API', async () => {
  await setView({ parts: [], fields: [] });
  const body = { givenName: 'Ada' };
  expect((await request(server, 'PATCH', '/api/account/profile/identity', { token, body })).status).toBe(200);
  expect((await request(server, 'GET', '/api/account', { token })).json.data.identity.givenName).toBe('Ada');
});
