/** The users of an application in the console. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type EphemeralServer,
  request,
  sendCode,
  outboxCode,
  signIn,
  startEphemeral,
  verifyCode,
} from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;
let app: string;
let clientId: string;

beforeAll(async () => {
  server = await startEphemeral();
  await addMember(server, 'reader@example.test', 'member');
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  const { json } = await api('POST', '/api/applications', { name: 'Shop' });
  ({ id: app, clientId } = json.data);
  await api('POST', `/api/applications/${app}/publish`);
  page = await openConsole(server);
});
afterEach(() => {
  expect(page.problems).toEqual([]);
  page.close();
});

const api = (method: string, path: string, body?: unknown) =>
  request(server, method, path, { token: server.workspaceKey, body });
const users = (rest = '') => `/applications/${app}/users${rest}`;

async function importUsers(...emails: string[]): Promise<void> {
  const rows = emails.map((email) => ({ email, profile: { fullName: `${email.split('@')[0]} Example` } }));
  await api('POST', `/api/applications/${app}/users/bulk`, { users: rows });
}

async function everybody(): Promise<Record<string, { userId: string; status: string; roles: string[] }>> {
  const { json } = await api('GET', `/api/applications/${app}/users?limit=200`);
  return Object.fromEntries(json.data.items.map((user: { email: string }) => [user.email, user]));
}

async function choose(...emails: string[]): Promise<void> {
  for (const email of emails) {
    await page.untilText('#users', new RegExp(email));
    await page.evaluate(`(() => {
      const row = [...document.querySelectorAll('#users tbody tr')].find((one) => one.innerText.includes('${email}'));
      row.querySelector('input').dataset.email = '${email}';
    })()`);
    await page.press(`[data-email="${email}"]`);
  }
  await page.untilText('#selection', new RegExp(`^${emails.length} p`));
}

describe('the list', () => {
  test('keeps search and filters in the URL, and the back button restores the previous ones', async () => {
    await importUsers('ada@example.com', 'bea@example.com');
    const { 'bea@example.com': bea } = await everybody();
    await api('POST', `/api/applications/${app}/users/${bea!.userId}/ban`);
    await page.go(users('?status=banned'));
    expect(await page.untilText('#users', /bea@example\.com/)).not.toContain('ada@');
    expect(await page.evaluate<string>('document.querySelector("#status").value')).toBe('banned');
    await page.choose('#status', 'active');
    expect(await page.untilText('#users', /ada@example\.com/)).not.toContain('bea@');
    await page.untilAddress(/\?status=active$/);
    await page.evaluate('history.back()');
    await page.untilText('#users', /bea@example\.com/);
    await page.choose('#status', '');
    await page.enter('#search', 'ADA Ex');
    expect(await page.untilText('#users', /^(?!.*bea@)[^]*ada@example\.com/)).toContain('ada Example');
    await page.untilAddress(/\?q=ADA\+Ex$/);
  });

  test('says whom a bulk change skips, and why', async () => {
    await importUsers('ada@example.com', 'bea@example.com', 'cleo@example.com');
    const { 'cleo@example.com': cleo } = await everybody();
    await signIn(server, 'cleo@example.com', clientId);
    await api('POST', `/api/applications/${app}/users/${cleo!.userId}/delete`);
    await page.go(users());
    await choose('ada@example.com', 'bea@example.com', 'cleo@example.com');
    await page.press('#ban-users');
    await page.untilText('#user-action', /2 people will be banned\. 1 is in a state that does not allow it/);
    await page.enter('#user-action-reason', 'Chargebacks');
    await page.press('#user-action-submit');
    await page.untilText('#outcome', /2 people banned, 1 refused\.[^]*cleo@example\.com/);
    await page.pressNamed('Close', '#outcome');
    const now = await everybody();
    expect(
      Object.values(now)
        .map(({ status }) => status)
        .sort(),
    ).toEqual(['banned', 'banned', 'deleted']);
    const { json } = await api('GET', `/api/applications/${app}/users/${now['ada@example.com']!.userId}`);
    expect(json.data.statusReason).toBe('Chargebacks');
  });

  test('grants roles in bulk, deletes imported people like others, and forgets them only after the address is typed', async () => {
    await api('POST', `/api/applications/${app}/roles`, { slug: 'editor', name: 'Editor', isDefault: false });
    await importUsers('ada@example.com', 'bea@example.com');
    await page.go(users());
    await choose('ada@example.com', 'bea@example.com');
    await page.press('#grants-users:enabled');
    await page.press('#grants-roles input[value=editor]');
    await page.press('#user-grants-submit');
    await page.untilSaid(/^2 people changed\.$/);
    expect(Object.values(await everybody()).every(({ roles }) => roles.includes('editor'))).toBe(true);
    await choose('ada@example.com', 'bea@example.com');
    await page.press('#delete-users');
    await page.press('#user-action-submit:enabled');
    await page.untilSaid(/^2 people deleted\.$/);
    const { 'ada@example.com': ada } = await everybody();
    expect(ada!.status).toBe('deleted');
    await page.go(`${users()}/${ada!.userId}`);
    await page.press('#forget-user');
    await page.untilText('#user-forgetting', /This also removes their deletion/);
    expect(await page.evaluate<boolean>('document.querySelector("#user-forgetting-submit").disabled')).toBe(true);
    await page.enter('#user-forgetting-name', 'ada@example.com');
    await page.press('#user-forgetting-submit:enabled');
    await page.untilSaid(/^The import of ada@example\.com is forgotten\.$/);
    expect(Object.keys(await everybody())).toEqual(['bea@example.com']);
  });
});

describe('a person', () => {
  test('is banned with a reason that the refusal shows, and unbanned', async () => {
    const { userId } = await signIn(server, 'ada@example.com', clientId);
    await page.go(users());
    await page.press('#users .row-link');
    await page.untilAddress(new RegExp(`/users/${userId}$`));
    await page.untilText('#why', /They can sign in/);
    await page.untilText('#sessions', /E-mail code/);
    await page.press('#ban-user');
    await page.enter('#user-action-reason', 'Spam');
    await page.press('#user-action-submit');
    await page.untilSaid(/^ada@example\.com is banned\.$/);
    await page.untilText('#why', /^They are banned \(“Spam”\)\.$/);
    await page.untilText('.detail', /No open sessions\./);
    const challenge = await sendCode(server, 'ada@example.com', clientId);
    const refused = await verifyCode(server, challenge, await outboxCode(server, 'ada@example.com'));
    expect(refused.status).toBe(403);
    await page.go(users(`/${userId}`));
    await page.untilText('.detail', /Sign-in refused[^]*the user is banned or paused/);
    await page.press('#take-step');
    await page.press('#user-action-submit');
    await page.untilSaid(/^ada@example\.com is unbanned\.$/);
    await page.untilText('#why', /^They can sign in now; the last refusal was because/);
  });

  test('gets other roles and groups, and sessions are ended one by one or all at once', async () => {
    await api('POST', `/api/applications/${app}/memberships`, { slug: 'berlin', name: 'Berlin', isDefault: false });
    const { userId } = await signIn(server, 'ada@example.com', clientId);
    for (let more = 0; more < 2; more += 1) await signIn(server, 'ada@example.com', clientId);
    await page.go(users(`/${userId}`));
    await page.untilText('#why', /./);
    await page.press('#edit-access:enabled');
    await page.press('#access-memberships input[value=berlin]');
    await page.press('#access-form-submit');
    await page.untilSaid(/Access changed/);
    await page.untilText('.detail', /Groups\s*berlin/);
    await page.press('#sessions .button');
    await page.untilSaid(/session was ended/);
    await page.press('#end-sessions');
    await page.press('#end-sessions-dialog-submit');
    await page.untilSaid(/^2 sessions ended\.$/);
    await page.untilText('.detail', /No open sessions\./);
  });
});

test('an unknown address shows why it cannot sign in, with a button that admits it', async () => {
  await api('POST', `/api/applications/${app}/signin-gate`, { gate: 'private_beta' });
  await signIn(server, 'zoe@example.com', clientId).catch(() => {});
  await page.go(users('?q=zoe@example.com'));
  await page.press('#ask-why');
  await page.untilAddress(/why=zoe%40example\.com/);
  await page.untilText('#why', /^The gate is a private beta, and the address is not on the allowlist\.$/);
  expect(await page.text('.detail')).toMatch(/Sign-in refused[^]*not approved on the allowlist/);
  await page.press('#take-step');
  await page.untilSaid(/^zoe@example\.com may sign in now\.$/);
  await page.untilText('#why', /^They can sign in now/);
  await signIn(server, 'zoe@example.com', clientId);
  await page.view.press('Escape');
  await page.untilAddress(/users\?q=zoe(?:%40|@)example\.com$/);
});

test('a read-only member sees all users, also on a phone, and can change none', async () => {
  const { userId } = await signIn(server, 'ada@example.com', clientId);
  page.close();
  page = await openConsole(server, { member: 'reader@example.test', size: PHONE });
  await page.go(users());
  await page.untilText('#users', /ada@example\.com/);
  expect(await page.evaluate<string>("document.querySelector('.toolbar').innerHTML")).not.toContain('name or');
  expect(await page.isVisible('#users .choice')).toBe(false);
  expect(await page.sidewaysScroll()).toBe(0);
  await page.press('#users .row-link');
  await page.untilAddress(new RegExp(userId));
  await page.untilText('#why', /They can sign in/);
  for (const action of ['#ban-user', '#delete-user', '#edit-access', '#end-sessions']) {
    await page.untilVisible(action);
    expect(await page.evaluate<string>(`document.querySelector('${action}').title`)).toMatch(/only admins and owners/);
  }
  expect(await page.sidewaysScroll()).toBe(0);
});

test('the principal of a key is shown with the key’s name and a link to it, never with its placeholder address', async () => {
  const made = await api('POST', `/api/applications/${app}/api-keys`, { name: 'Shop backend', access: 'read' });
  const { id, userId } = made.json.data;
  await page.go(users(`/${userId}`));
  await page.untilText('.detail h2', /^Shop backend$/);
  await page.press('#ban-user');
  await page.untilText('#user-action', /Ban Shop backend/);
  await page.press('#user-action-submit');
  await page.untilSaid(/^Shop backend is banned\.$/);
  const shown = async () => page.evaluate<string>('document.documentElement.innerText');
  expect(await shown()).not.toContain('api-key.invalid');
  await page.go(`/applications/${app}/activity?userId=${userId}`);
  await page.untilText('#main', /User banned/);
  expect(await shown()).not.toContain('api-key.invalid');
  await page.go(users(`/${userId}`));
  await page.press('#principal-key');
  await page.untilAddress(new RegExp(`/applications/${app}/keys/${id}$`));

  page.close();
  page = await openConsole(server, { member: 'reader@example.test' });
  await page.go(users(`/${userId}`));
  await page.untilText('.detail h2', /^API key$/);
  expect(await shown()).not.toContain('api-key.invalid');
});
