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
import { expectAccessible, findings, look } from './axe.ts';
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

// People are one for the whole server: those who sign in here are nobody whom later tests import.
describe('one user', () => {
  test('is added with roles and an external id, again without harm, and refusals stand at their field', async () => {
    await api('POST', `/api/applications/${app}/roles`, { slug: 'editor', name: 'Editor', isDefault: false });
    await page.go(users());
    await page.press('#open-add-user:enabled');
    await page.enter('#add-user-email', 'nell@example.com');
    await page.enter('#add-user-username', 'admin');
    await page.press('#add-user-submit');
    await page.untilText('#add-user', /no reserved word/);
    await page.enter('#add-user-username', 'ada');
    await page.enter('#add-user-name', 'Ada Lovelase');
    await page.enter('#add-user-external-id', 'crm-4711');
    await page.press('#add-user-submit');
    await page.untilSaid(/nell@example\.com is added/);
    await page.untilText('.detail', /Ada Lovelase[^]*crm-4711[^]*The page with their address filled in/);
    await page.press('#open-add-user:enabled');
    await page.enter('#add-user-email', 'NELL@example.com');
    await page.press('#add-user-submit');
    await page.untilSaid(/is a user already/);
  });

  test('is found by an external id, and a whole id in the search opens its record', async () => {
    await api('POST', `/api/applications/${app}/users/bulk`, {
      users: [{ email: 'ext@example.com', externalId: 'crm-0815' }],
    });
    const { userId } = (await everybody())['ext@example.com']!;
    await page.go(users());
    await page.enter('#search', 'crm-0815');
    await page.untilText('#users tbody', /^ext@example\.com/);
    await page.enter('#search', userId);
    await page.untilAddress(new RegExp(`/users/${userId}`));
    await page.untilText('#detail-title', /^ext@example\.com$/);
    await page.go(`/workspaces/${server.workspaceId}/outbox`);
    await page.enter('#outbox-q', userId);
    await page.untilText('#detail-title', /^ext@example\.com$/);
  });

  test('is invited as they are added, in their language, and not twice in an hour', async () => {
    await page.go(users());
    await page.press('#open-add-user:enabled');
    await page.enter('#add-user-email', 'inge@example.com');
    await page.choose('#add-user-locale', 'de');
    await page.press('#add-user-invited');
    await page.press('#add-user-submit');
    await page.untilSaid(/inge@example\.com is added\. An invitation is on its way to inge@example\.com/);
    await page.untilText('#invited', /^Invited/);
    await page.untilText('#invite-user', /^Send again$/);
    expect(await page.text('.detail')).toContain('email=inge%40example.com');
    await page.press('#invite-user');
    await page.choose('#invite-locale', 'fr');
    await page.press('#invite-dialog-submit');
    await page.untilSaid(/was invited within the hour; the next mail is possible at/);
    await page.go(`/workspaces/${server.workspaceId}/outbox`);
    await page.untilText('#main', /Sie sind zu .* eingeladen/);
    // The next one is in the language chosen for it.
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 60 * 60 * 1000 } });
    const { userId } = (await everybody())['inge@example.com']!;
    await page.go(users(`/${userId}`));
    await page.press('#invite-user');
    await page.choose('#invite-locale', 'fr');
    await page.press('#invite-dialog-submit');
    await page.untilSaid(/An invitation is on its way to inge@example\.com/);
    await page.go(`/workspaces/${server.workspaceId}/outbox`);
    await page.untilText('#main', /Shop vous invite/);
  });

  test('is corrected until the first sign-in, and its metadata is edited as JSON that names the place of an error', async () => {
    await importUsers('olga@example.com');
    const { userId } = (await everybody())['olga@example.com']!;
    await page.go(users(`/${userId}`));
    await page.press('#open-edit-user');
    await page.enter('#edit-user-name', 'Ada King');
    await page.enter('#edit-user-metadata', '{\n  "plan": pro\n}');
    await page.press('#edit-user-submit');
    await page.untilText('#edit-user', /no valid JSON: see line 2, column 11/);
    await page.enter('#edit-user-metadata', '{"plan": "pro", "seats": 3}');
    await page.press('#edit-user-submit');
    await page.untilSaid(/User changed/);
    await page.untilText('.detail', /Ada King[^]*"plan": "pro"/);
    await signIn(server, 'olga@example.com', clientId);
    await page.go(users('?status=active'));
    await page.go(users(`/${userId}`));
    await page.press('#open-edit-user');
    await page.untilText('#edit-user', /the person’s own/);
    await page.enter('#edit-user-metadata', '{"seats": 4}');
    await page.press('#edit-user-submit');
    await page.untilText('.detail', /^(?!.*plan)[^]*"seats": 4/);
  });
});

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
    await page.untilText('#done-line', /^2 people changed\./);
    expect(Object.values(await everybody()).every(({ roles }) => roles.includes('editor'))).toBe(true);
    await choose('ada@example.com', 'bea@example.com');
    await page.press('#delete-users');
    await page.press('#user-action-submit:enabled');
    await page.untilText('#done-line', /^2 people deleted\./);
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

  test('renders only the rows near the viewport of a long list, and one row when one is chosen', async () => {
    for (const part of [0, 1])
      await importUsers(...Array.from({ length: 300 }, (_, index) => `person${part * 300 + index}@example.com`));
    await page.go(users());
    await page.untilText('#users', /person/);
    while (await page.isVisible('#users + .more')) await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    expect(await shownRows()).toBeLessThan(120);
    expect(await page.evaluate<string>('document.querySelector("#users").ariaRowCount')).toBe('601');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.untilText('#users tbody tr:last-child', /person/);
    const calls = await rowsRenderedBy(() => page.press('#users tr:nth-last-child(5) input'));
    await page.untilText('#selection', /^1 person chosen/);
    expect(calls).toBe(1);

    const focused = 'document.activeElement.closest("tr")?.ariaRowIndex';
    const before = await page.evaluate<string>(focused);
    await page.evaluate('scrollTo(0, 8000)');
    const middle = `new Promise((found) => requestAnimationFrame(() => requestAnimationFrame(() =>
      found(document.elementFromPoint(700, 500).closest('tr').ariaRowIndex))))`;
    expect(Number(await page.evaluate<string>(middle))).toBeWithin(180, 230);
    expect(await page.evaluate<string>(focused)).toBe(before);
    expect(await shownRows()).toBeLessThan(120);
    await page.view.cdp('Page.printToPDF', {});
    expect(await shownRows()).toBeLessThan(120);

    while (!(await page.evaluate<boolean>('history.state?.place?.top === 8000'))) await page.text('#users');
    await page.pressNamed('Roles', '.rail');
    await page.untilText('#main h1', /^Roles$/);
    await page.evaluate('history.back()');
    await page.untilText('#main h1', /^Users$/);
    while ((await page.evaluate<number>('scrollY')) !== 8000) await page.text('#users');
  });

  test('drops columns where there is no room, so that nothing is cut', async () => {
    await importUsers('somebody.with.a.rather.long.address@subsidiary.example.com');
    for (const width of [1440, 1024, 390]) {
      await page.view.cdp('Emulation.setDeviceMetricsOverride', {
        width,
        height: 860,
        deviceScaleFactor: 1,
        mobile: false,
      });
      await page.go(users());
      await page.untilText('#users', /somebody/);
      const [frame, table] = await page.evaluate<number[]>(
        `['.list-frame', '#users'].map((one) => document.querySelector(one).getBoundingClientRect().right)`,
      );
      expect([width, table! <= frame!]).toEqual([width, true]);
      expect(await page.sidewaysScroll()).toBe(0);
    }
    await page.pressNamed('Filter');
    await page.choose('#status', 'banned');
    await page.untilAddress(/\?status=banned$/);
    await page.untilText('.filter-button', /^Filter \(1\)$/);
    await page.pressNamed('Clear filters', '.filters');
    await page.untilText('#users', /somebody/);
    expect(await findings(page)).toEqual([]);
    await page.view.press('Escape');
    expect(await page.isVisible('#status')).toBe(false);
    expect(await page.evaluate<string>('document.activeElement.innerText')).toBe('Filter');
  });
});

const shownRows = () => page.evaluate<number>('document.querySelectorAll("#users tbody tr").length');

/** Counts the calls of the function that renders a row, by the browser's own coverage. */
async function rowsRenderedBy(act: () => Promise<void>): Promise<number> {
  await page.view.cdp('Profiler.enable');
  await page.view.cdp('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await act();
  const { result } = await page.view.cdp<{ result: Coverage[] }>('Profiler.takePreciseCoverage');
  await page.view.cdp('Profiler.disable');
  let calls = 0;
  for (const { url, functions } of result.filter(({ url }) => url.includes('/assets/'))) {
    const text = await (await fetch(url)).text();
    for (const { functionName, ranges } of functions)
      if (functionName === 'render' && text.slice(ranges[0]!.startOffset, ranges[0]!.endOffset).includes('row-link'))
        calls += ranges[0]!.count;
  }
  return calls;
}

interface Coverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}
describe('a change of many', () => {
  test('says what it did, and its undo restores everybody as they were', async () => {
    await importUsers('ada@example.com', 'bea@example.com');
    const { 'bea@example.com': bea } = await everybody();
    await api('POST', `/api/applications/${app}/users/${bea!.userId}/pause`);
    await page.go(users());
    await choose('ada@example.com', 'bea@example.com');
    await page.press('#ban-users');
    await page.press('#user-action-submit:enabled');
    await page.untilText('#done-line', /^2 people banned\./);
    await page.press('#done-line-undo');
    await page.untilText('#done-line', /^Undone: 2 people changed back\./);
    const now = await everybody();
    expect([now['ada@example.com']!.status, now['bea@example.com']!.status]).toEqual(['active', 'paused']);
  });

  test('reaches all that match, tells its result after a reload as well, and can be undone', async () => {
    const emails = Array.from({ length: 120 }, (_, at) => `person${at}@example.com`);
    await importUsers(...emails, 'ada@example.org');
    await page.go(users('?q=example.com&status=imported'));
    await page.untilText('#users', /person/);
    await page.press('#users thead input');
    await page.press('#choose-all');
    await page.untilText('#selection', /^120 people match; all are chosen/);
    await page.press('#ban-users');
    await page.untilText('#user-action', /Ban 120 people\?[^]*people who join meanwhile are not touched/);
    await expectAccessible(page, 0);
    await page.enter('#user-action-reason', 'Trial abuse');
    await page.press('#user-action-submit');
    await page.untilText('#bulk-done', /^120 people banned\./);
    await page.go(users('?status=active'));
    expect(await page.untilText('#users', /ada@example\.org/)).not.toContain('person');
    await page.untilText('#bulk-done', /^120 people banned\./);
    await expectAccessible(page, 0);
    await look(page, 'light', 1280);
    await page.press('#bulk-done-undo');
    await page.untilText('#bulk-done', /^Undone: 120 people unbanned\./);
    await page.untilText('#users', /person/);
    await page.pressNamed('Dismiss', '#bulk-done');
    await page.go(users());
    await page.untilText('#users', /person/);
    expect(await page.isVisible('#bulk-done')).toBe(false);
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
  await page.untilText('.detail', /Calls with the key are accepted while the key is valid/);
  await page.press('#ban-user');
  await page.untilText('#user-action', /Ban Shop backend/);
  await page.press('#user-action-submit');
  await page.untilSaid(/^Shop backend is banned\.$/);
  const shown = async () => page.evaluate<string>('document.documentElement.innerText');
  expect(await shown()).not.toContain('api-key.invalid');
  await page.go(`/applications/${app}/activity?userId=${userId}`);
  await page.untilText('#activity', /Banned/);
  expect(await shown()).not.toContain('api-key.invalid');
  await page.go(users(`/${userId}`));
  await page.untilText('.detail', /Calls with the key are refused\./);
  await page.press('#principal-key');
  await page.untilAddress(new RegExp(`/applications/${app}/keys/${id}$`));

  page.close();
  page = await openConsole(server, { member: 'reader@example.test' });
  await page.go(users(`/${userId}`));
  await page.untilText('.detail h2', /^API key$/);
  expect(await shown()).not.toContain('api-key.invalid');
});
