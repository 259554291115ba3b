/** The frame of every console view: sign-in, navigation, command palette, browser history, size. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage } from '../support/browser.ts';
import { findings } from './axe.ts';
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
  await page.pressNamed('Editor', '#grants');
  await page.untilFocused('detail-title');
  await page.view.press('Escape');
  await page.untilAddress(/\/roles$/);
  expect(await page.evaluate<string>('document.activeElement.innerText')).toBe('Editor');
  await page.untilText('#grants', /Editor\s+editor\s+0/);
  await page.pressNamed('Editor', '#grants');
  await page.press('#change-grant');
  await page.enter('#grant-name', 'Chief editor');
  await page.enter('#grant-description', 'Decides what is printed');
  await page.press('#grant-form-submit');
  await page.untilText('#grants', /Chief editor\s+editor/);
  await page.untilText('.detail', /Decides what is printed/);
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
  await page.press('#main .button');
  await page.untilText('#main h1', /^Applications$/);
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

  test('goes to the record of a whole id, and finds webhooks, roles and members by name', async () => {
    const token = server.workspaceKey;
    const path = `/api/applications/${server.applicationId}`;
    const make = async (rest: string, body: object) =>
      (await request(server, 'POST', `${path}${rest}`, { token, body })).json.data;
    const { results } = await make('/users/bulk', { users: [{ email: 'whole@example.com' }] });
    const key = await make('/api-keys', { name: 'Whole key', access: 'read' });
    const hook = { url: 'https://crm.example/hook', events: ['*'], description: 'Customer relations' };
    const webhook = await make('/webhooks', hook);
    const role = await make('/roles', { slug: 'curator', name: 'Curator' });
    await page.go(`/workspaces/${server.workspaceId}/members`);
    for (const [id, place] of [
      [results[0].userId, /\/users\/usr_/],
      [key.id, /\/keys\/key_/],
      [webhook.id, /\/webhooks\/whk_/],
      [role.id, /\/roles\/rol_/],
    ] as const) {
      await find(id);
      await page.untilVisible('#palette-0');
      await page.view.press('Enter');
      await page.untilAddress(place);
    }
    await find('customer rel');
    await page.untilText('#palette-entries', /Customer relations/);
    await page.view.press('Escape');
    await find('owner@example');
    await page.untilText('#palette-entries', /Member, owner/);
    await page.view.press('Escape');
    await expectSound();
  });

  test('acts on the open record, opens the documentation, and changes the theme', async () => {
    const token = server.workspaceKey;
    const path = `/api/applications/${server.applicationId}`;
    const body = { name: 'Turning', access: 'read' };
    const { id } = (await request(server, 'POST', `${path}/api-keys`, { token, body })).json.data;
    await page.go(`${own('keys')}/${id}`);
    await page.untilText('#detail-title', /^Turning$/);
    await page.untilVisible('#rotate-key');
    await find('rotate');
    await page.untilText('#palette-0', /^Rotate\s+Turning$/);
    expect(await page.evaluate<number>(UNTITLED)).toBe(0);
    await page.view.press('Enter');
    await page.untilVisible('dialog[open]:not(.palette)');
    await page.view.press('Escape');
    await find('backups');
    await page.untilText('#palette-entries', /Documentation/);
    await page.view.press('Escape');
    const scheme = () => page.evaluate<string>('document.documentElement?.style.colorScheme ?? "none"');
    await find('dark');
    await page.untilText('#palette-0', /^Dark theme/);
    await page.view.press('Enter');
    while ((await scheme()) !== 'dark') await page.untilVisible('#page');
    await page.untilText('#detail-title', /^Turning$/);
    await find('theme of');
    await page.untilText('#palette-0', /^Theme of/);
    await page.view.press('Enter');
    while ((await scheme()) !== '') await page.untilVisible('#page');
    await page.untilText('#detail-title', /^Turning$/);
    await expectSound();
  });

  test('edits the open user and their access, and invites them', async () => {
    const token = server.workspaceKey;
    const body = { users: [{ email: 'reached@example.com' }] };
    const path = `/api/applications/${server.applicationId}/users/bulk`;
    const { results } = (await request(server, 'POST', path, { token, body })).json.data;
    await page.go(own(`users/${results[0].userId}`));
    for (const [action, dialog] of [
      ['Edit user', '#edit-user'],
      ['Edit access', '#access-form'],
      ['Send an invitation', '#invite-dialog'],
    ] as const) {
      await page.untilText('.detail', new RegExp(action));
      await find(action.toLowerCase());
      await page.untilText('#palette-0', new RegExp(`^${action}\\s+reached@example\\.com$`));
      await page.view.press('Enter');
      await page.untilVisible(dialog);
      await page.pressNamed('Cancel', dialog);
    }
    await expectSound();
  });

  test('offers a member no action that they may not perform', async () => {
    await addMember(server, 'reader@example.com', 'member');
    const reader = await openConsole(server, { member: 'reader@example.com' });
    await reader.go(own('overview'));
    await reader.press('#open-palette');
    await reader.untilFocused('palette-query');
    await reader.view.type('create');
    await reader.untilText('#palette-entries', /Documentation/);
    expect(await reader.evaluate<string>("document.querySelector('#palette').innerText")).not.toMatch(/\bAction\b/);
    await reader.go(`${own('roles')}?new=1`);
    expect(await reader.isVisible('#grant-form')).toBe(false);
    reader.close();
  });
});

test('a list is one tab stop, its keys move, choose and open, and a field has its own letters', async () => {
  const users = ['anna', 'berta', 'clara'].map((name) => ({ email: `${name}@keys.example` }));
  const path = `/api/applications/${server.applicationId}/users/bulk`;
  await request(server, 'POST', path, { token: server.workspaceKey, body: { users } });
  await page.go(own('users'));
  await page.untilVisible('#users tbody .row-link');
  await page.view.press('/');
  await page.view.type('keys.example jx');
  const field = () => page.evaluate<string>("document.querySelector('#main input[type=search]').value");
  expect(await field()).toBe('keys.example jx');
  await page.enter('#main input[type=search]', 'keys.example');
  await page.untilAddress(/q=keys\.example$/);
  const emails = () => page.evaluate<number>("document.querySelectorAll('#users tbody .row-link').length");
  while ((await emails()) !== 3) await page.untilVisible('#users');
  await page.evaluate('document.activeElement.blur()');
  const focused = () => page.evaluate<string>('document.activeElement.innerText');
  const all = await page.evaluate<string[]>(
    "[...document.querySelectorAll('#users tbody .row-link')].map((one) => one.innerText)",
  );
  await page.view.press('j');
  expect(await focused()).toBe(all[0]!);
  await page.view.press('j');
  await page.view.press('ArrowDown');
  await page.view.press('k');
  expect(await focused()).toBe(all[1]!);
  await page.view.press('x');
  await page.untilVisible('#users tbody tr:nth-child(2) input:checked');
  expect(await page.evaluate('document.querySelectorAll("#users tbody [tabindex=\'0\']").length')).toBe(1);
  await page.view.press('x');
  await page.view.press('Enter');
  await page.untilFocused('detail-title');
  await page.view.press('Escape');
  await page.view.press('?');
  await page.untilText('#shortcuts', /Next row/);
  expect(await findings(page)).toEqual([]);
  await page.view.press('Escape');
  await expectSound();
});

test('signing out ends the session, and the back button does not restore it', async () => {
  await page.go(own('overview'));
  await page.press('#sign-out');
  await page.untilFocused('email');
  await page.open(`${server.url}/console${own('users')}`);
  await page.untilFocused('email');
});

test('opens the only application at once, and the views of the workspace keep its sections', async () => {
  await page.go('');
  await page.untilAddress(new RegExp(`${own('overview')}$`));
  await page.pressNamed('Members', '.rail');
  await page.untilText('#main h1', /^Members$/);
  await page.pressNamed('Users', '.rail');
  await page.untilText('#main h1', /^Users$/);
  expect((await page.address()).pathname).toBe(`/console${own('users')}`);
  await expectSound();
});

test('the switcher and a phone’s bar name application and workspace, and drafts are marked', async () => {
  const token = server.workspaceKey;
  const { json } = await request(server, 'POST', '/api/applications', { token, body: { name: 'Pier' } });
  await page.go(own('roles'));
  await page.press('#open-switcher');
  await page.untilText('#switcher', /Pier\s+draft/);
  const phone = await openConsole(server, { size: PHONE });
  await phone.go(`/applications/${json.data.id}/roles`);
  expect(await phone.text('.rail-where')).toMatch(/^Pier\s+\S/);
  expect(await phone.sidewaysScroll()).toBe(0);
  phone.close();
});

test('a member looks at every view without a refusal, and no view repeats an id', async () => {
  await addMember(server, 'looker@example.com', 'member');
  const member = await openConsole(server, { member: 'looker@example.com' });
  const inWorkspace = (section: string) => `/workspaces/${server.workspaceId}/${section}`;
  const views = [
    ...['overview', 'users', 'import', 'activity', 'gate', 'roles', 'keys', 'webhooks', 'settings'].map(own),
    ...['applications', 'members', 'keys', 'activity', 'outbox', 'backups', 'health'].map(inWorkspace),
  ];
  for (const view of views) {
    await member.go(view);
    await member.untilVisible('#main:not(:has([aria-busy], .skeleton))');
    expect([view, await member.evaluate<string[]>(REFUSED)]).toEqual([view, []]);
    expect([view, await member.evaluate<string[]>(REPEATED_IDS)]).toEqual([view, []]);
  }
  member.close();
});

/** Counts entries of the palette without a title. */
const UNTITLED = `[...document.querySelectorAll('#palette-entries [id^=palette-]')].filter((one) => /^\\s*(\\n|$)/.test(one.innerText)).length`;
const REFUSED = `performance.getEntriesByType('resource').filter((one) => one.responseStatus >= 400).map((one) => one.name)`;
const REPEATED_IDS = `[...document.querySelectorAll('[id]')].map((one) => one.id)
  .filter((id, index, all) => all.indexOf(id) !== index)`;

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

test('the first load is under 100 KB compressed, any view under 150 KB in all, with at most 12 requests', async () => {
  const fresh = await openConsole(server);
  await fresh.go(own('overview'));
  await fresh.view.cdp('Network.setCacheDisabled', { cacheDisabled: true });
  const weigh = async (path: string, shown?: string) => {
    fresh.requested.length = 0;
    await fresh.go(path);
    await fresh.untilVisible('#main:not(:has([aria-busy], .skeleton))');
    if (shown !== undefined) await fresh.untilVisible(shown);
    const requests = fresh.requested.filter((url) => !url.startsWith('data:'));
    const sizes = [...new Set(requests.filter((url) => url.includes('/assets/')))].map(async (url) => {
      const { headers } = await fetch(url, { headers: { 'accept-encoding': 'br' }, method: 'HEAD' });
      return Number(headers.get('content-length'));
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    return { kilobytes: bytes / 1024, requests: requests.length };
  };
  const first = await weigh(`/workspaces/${server.workspaceId}/applications`);
  expect(first.kilobytes).toBeLessThan(100);
  const weights = [];
  weights.push({ section: 'first steps', ...(await weigh(own('overview'), '#open-sign-in')) });
  for (const section of ['users', 'import', 'gate', 'keys', 'webhooks', 'activity', 'settings'])
    weights.push({ section, ...(await weigh(own(section))) });
  const { userId } = await signIn(server, 'weighed@example.com', server.clientId);
  weights.push({ section: 'user', ...(await weigh(own(`users/${userId}`), '#why')) });
  const hook = { url: 'https://crm.example/weighed', events: ['*'] };
  const made = await request(server, 'POST', `/api/applications/${server.applicationId}/webhooks`, {
    token: server.workspaceKey,
    body: hook,
  });
  weights.push({ section: 'webhook', ...(await weigh(own(`webhooks/${made.json.data.id}`), '#first-test')) });
  await fresh.go(own('overview'));
  await fresh.pressNamed('Hide', '#first-steps');
  weights.push({ section: 'overview', ...(await weigh(own('overview'), '.drawing canvas')) });
  fresh.close();
  expect(weights.filter(({ kilobytes, requests }) => kilobytes >= 150 || requests > 12)).toEqual([]);
});
