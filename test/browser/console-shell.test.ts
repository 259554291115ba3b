/** The frame of every console view: sign-in, navigation, command palette, browser history, size. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage } from '../support/browser.ts';
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

const own = (section: string) => `/applications/${server.applicationId}/${section}`;

async function expectSound(): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !/^data:/.test(url) && !url.startsWith(`${server.url}/`))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

test('a person who is not signed in signs in and then reaches the link’s target', async () => {
  const stranger = await openBrowserPage();
  await stranger.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
  await stranger.open(`${server.url}/console${own('roles')}`);
  await stranger.untilFocused('email');
  expect(await stranger.isVisible('.rail')).toBe(false);
  await stranger.fill('#email', OWNER);
  await stranger.view.click('#email-submit');
  await stranger.untilVisible('#code-form');
  await stranger.paste(await outboxCode(server, OWNER));
  await stranger.untilText('#main h1', /^Roles$/);
  expect((await stranger.address()).pathname).toBe(`/console${own('roles')}`);
  expect((await stranger.address()).hash).toBe('');
  expect(stranger.problems).toEqual([]);
  stranger.close();
});

test('a user of an application who is no workspace member is refused', async () => {
  const stranger = await openBrowserPage();
  await stranger.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
  await stranger.open(`${server.url}/console`);
  await stranger.untilFocused('email');
  await stranger.fill('#email', 'nobody@example.com');
  await stranger.view.click('#email-submit');
  await stranger.untilVisible('#code-form');
  await stranger.paste(await outboxCode(server, 'nobody@example.com'));
  await stranger.untilText('h1', /./);
  expect(await stranger.isVisible('.rail')).toBe(false);
  stranger.close();
});

test('back and forward go through the views and their filters, and a reload keeps both', async () => {
  await page.go(own('roles'));
  await page.pressNamed('Scopes', '.rail');
  await page.untilText('#main h1', /^Scopes$/);
  await page.pressNamed('Activity', '.rail');
  await page.untilText('#main h1', /^Activity$/);
  await page.evaluate('history.back()');
  await page.untilText('#main h1', /^Scopes$/);
  await page.evaluate('history.back()');
  await page.untilText('#main h1', /^Roles$/);
  await page.evaluate('history.forward()');
  await page.untilText('#main h1', /^Scopes$/);
  await page.view.reload();
  await page.untilText('#main h1', /^Scopes$/);
  await expectSound();
});

test('closing a detail with Escape returns the focus to its row; a missing detail says so', async () => {
  const path = `/api/applications/${server.applicationId}/roles`;
  const body = { slug: 'editor', name: 'Editor' };
  await request(server, 'POST', path, { token: server.workspaceKey, body });
  await page.go(own('roles'));
  await page.pressNamed('editor', '#grants');
  await page.untilFocused('detail-title');
  await page.view.press('Escape');
  await page.untilAddress(/\/roles$/);
  expect(await page.evaluate<string>('document.activeElement.innerText')).toBe('editor');
  await page.go(`${own('roles')}/rol_nothing`);
  await page.untilText('#detail-title', /^No such role$/);
  await expectSound();
});

test('an unknown URL shows an error and keeps the navigation', async () => {
  for (const path of ['/applications/app_nothing/users', own('nothing'), '/workspaces/wsp_nothing/members']) {
    await page.open(`${server.url}/console${path}`);
    await page.untilText('#main', /nothing at this address/);
    expect(await page.isVisible('.rail')).toBe(true);
  }
  await expectSound();
});

describe('the palette', () => {
  const find = async (query: string) => {
    await page.evaluate(
      `document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))`,
    );
    await page.untilFocused('palette-query');
    await page.view.type(query);
  };

  test('opens a section with a few letters and the keyboard alone', async () => {
    await page.go(own('overview'));
    await find('webh');
    await page.untilText('#palette-0', /^Webhooks/);
    await page.view.press('Enter');
    await page.untilText('#main h1', /^Webhooks$/);
    await expectSound();
  });

  test('finds people by e-mail and keys by name', async () => {
    const token = server.workspaceKey;
    const path = `/api/applications/${server.applicationId}`;
    await request(server, 'POST', `${path}/users/bulk`, { token, body: { users: [{ email: 'grace@example.com' }] } });
    await request(server, 'POST', `${path}/api-keys`, { token, body: { name: 'Warehouse', access: 'read' } });
    await page.go(own('overview'));
    await find('grace');
    await page.untilText('#palette-entries', /grace@example\.com/);
    await page.view.press('Enter');
    await page.untilText('#detail-title', /grace/);
    await find('wareh');
    await page.untilText('#palette-entries', /Warehouse/);
    await page.view.press('Escape');
    expect(await page.isVisible('#palette')).toBe(false);
    await expectSound();
  });

  test('opens the form of a list even if that list is already shown', async () => {
    await page.go(own('keys'));
    await find('create api');
    await page.untilText('#palette-0', /^Create API key/);
    await page.view.press('Enter');
    await page.untilVisible('#key-form');
    await page.pressNamed('Cancel', '#key-form');
    expect([await page.isVisible('#key-form'), await page.evaluate<string>('location.search')]).toEqual([false, '']);
    await expectSound();
  });

  test('offers a member no action that they may not perform', async () => {
    await addMember(server, 'reader@example.com', 'member');
    const reader = await openConsole(server, { member: 'reader@example.com' });
    await reader.go(own('overview'));
    await reader.press('#open-palette');
    await reader.untilFocused('palette-query');
    await reader.view.type('create');
    await reader.untilText('#palette', /Nothing found/);
    await reader.go(`${own('roles')}?new=1`);
    expect(await reader.isVisible('#grant-form')).toBe(false);
    reader.close();
  });
});

test('signing out ends the session, and the back button does not restore it', async () => {
  await page.go(own('overview'));
  await page.press('#sign-out');
  await page.untilFocused('email');
  await page.open(`${server.url}/console${own('users')}`);
  await page.untilFocused('email');
});

test('a phone shows the sections behind a button', async () => {
  const phone = await openConsole(server, { size: PHONE });
  await phone.go(own('roles'));
  expect(await phone.isVisible('.rail-body')).toBe(false);
  await phone.press('.rail-toggle');
  await phone.pressNamed('Users', '.rail');
  await phone.untilText('#main h1', /^Users$/);
  expect(await phone.sidewaysScroll()).toBe(0);
  expect(phone.problems).toEqual([]);
  phone.close();
});

test('the first load is under 100 KB compressed, and any view under 150 KB in all', async () => {
  const fresh = await openConsole(server);
  await fresh.view.cdp('Network.setCacheDisabled', { cacheDisabled: true });
  const weigh = async (path: string) => {
    fresh.requested.length = 0;
    await fresh.go(path);
    if (path.endsWith('overview')) await fresh.untilVisible('.drawing canvas');
    const assets = [...new Set(fresh.requested.filter((url) => url.includes('/assets/')))];
    const sizes = assets.map(async (url) => {
      const { headers } = await fetch(url, { headers: { 'accept-encoding': 'br' }, method: 'HEAD' });
      return Number(headers.get('content-length'));
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1024;
  };
  expect(await weigh(`/workspaces/${server.workspaceId}/applications`)).toBeLessThan(100);
  const weights: [string, number][] = [];
  for (const section of ['overview', 'users', 'import', 'gate', 'keys', 'webhooks', 'activity', 'settings'])
    weights.push([section, await weigh(own(section))]);
  fresh.close();
  expect(weights.filter(([, size]) => size >= 150)).toEqual([]);
});
