/** The activity of an application and of a workspace in the console. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, request, signIn, startEphemeral } from '../support/binary.ts';
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
const activity = (rest = '') => `/applications/${app}/activity${rest}`;

const refuse = async (email: string) => {
  await api('POST', `/api/applications/${app}/signin-gate`, { gate: 'closed' });
  await signIn(server, email, clientId).catch(() => {});
};

const workspaceId = async () => (await api('GET', '/api/workspace')).json.data.id as string;

describe('the list', () => {
  test('keeps its filters in the URL, and the back button restores the previous ones', async () => {
    await signIn(server, 'ada@example.com', clientId);
    await refuse('zoe@example.com');
    await page.go(activity('?status=error'));
    expect(
      await page.untilText('#activity', /zoe@[^]*Tried to sign in\s*Refused: the application accepts/),
    ).not.toContain('Signed in');
    await page.pressNamed('Filter (1)', '.filter-bar');
    await page.choose('#status', '');
    await page.choose('#family', 'application');
    expect(await page.untilText('#activity', /^(?!.*Signed in)[^]*Changed the sign-in gate/)).not.toContain('zoe@');
    await page.untilAddress(/\?family=application$/);
    await page.evaluate('history.go(-2)');
    await page.untilText('#activity', /Tried to sign in/);
    await page.go(activity('?q=ADA@'));
    expect(await page.untilText('#activity', /ada@example\.com/)).not.toContain('zoe@');
  });

  test('adds new records that match the filters, until live updates are switched off', async () => {
    await page.go(activity('?family=signin'));
    await page.untilText('#main', /Connected/);
    await signIn(server, 'ada@example.com', clientId);
    await page.untilText('#activity', /Signed in[^]*Was sent a sign-in code/);
    await api('POST', `/api/applications/${app}/roles`, { slug: 'editor', name: 'Editor', isDefault: false });
    await signIn(server, 'bea@example.com', clientId);
    expect(await page.untilText('#activity', /bea@example\.com/)).not.toContain('Created role');
    await page.press('#live');
    await page.untilAddress(/live=off/);
    await page.untilVisible('#reload');
    await signIn(server, 'cleo@example.com', clientId);
    expect(await page.text('#activity')).not.toContain('cleo@');
    await page.press('#reload');
    await page.untilText('#activity', /cleo@example\.com/);
  });

  test('shows each record once, in chronological order', async () => {
    await page.go(activity());
    await page.untilText('#main', /Connected/);
    for (const name of ['a', 'b', 'c', 'd']) await signIn(server, `${name}@example.com`, clientId);
    await page.untilText('#activity', /d@example\.com[^]*a@example\.com/);
    const { json } = await api('GET', `/api/applications/${app}/activity/list?limit=50`);
    const stored = json.data.items.map(({ id }: { id: string }) => id);
    await eventually('the list is the API’s', async () => {
      const keys = await page.evaluate<string>(
        'JSON.stringify([...document.querySelectorAll("#activity tbody tr")].map((row) => row.dataset.key))',
      );
      return keys === JSON.stringify(stored);
    });
  });
});

describe('a row', () => {
  const created = async (path: string, body: object) =>
    (await api('POST', `/api/applications/${app}${path}`, body)).json.data;

  test('says who did what to what, and its menu keeps what the same key or person did', async () => {
    const { token } = await created('/api-keys', { name: 'Deploy', access: 'full' });
    const { id } = await created('/api-keys', { name: 'Shop backend' });
    await request(server, 'POST', `/api/applications/${app}/api-keys/${id}/rotate`, { token, body: {} });
    await page.go(activity('?family=apikey'));
    const [newest] = (await page.untilText('#activity tbody', /Rotated API key Shop backend/)).split('\n');
    expect(newest).toMatch(/Key Deploy/);
    await page.press('#activity tbody .row-menu button');
    await page.pressNamed('Only by Key Deploy', '#activity');
    await page.untilAddress(/actorApiKeyId=key_/);
    await page.untilText('#main', /^(?![^]*Created API key)[^]*Only by Key Deploy/);
    await page.pressNamed('Remove the filter: Only by Key Deploy', '.id-filters');
    await page.untilText('#activity', /Created API key Deploy/);
    // An id that is pasted into the search opens its record. That of a deleted record becomes a filter of its own.
    await page.enter('#search', id);
    await page.untilText('#detail-title', /^Shop backend$/);
    expect((await page.address()).pathname).toBe(`/console/applications/${app}/keys/${id}`);
    const role = await created('/roles', { slug: 'passing', name: 'Passing' });
    await api('DELETE', `/api/applications/${app}/roles/${role.id}`);
    await page.go(activity());
    await page.enter('#search', role.id);
    await page.untilAddress(new RegExp(`/applications/${app}/activity\\?targetId=${role.id}$`));
    await page.untilText('#activity', /Deleted role Passing/);
  });

  test('says which roles and how many users, and a search finds people by name without accents', async () => {
    await created('/roles', { slug: 'editor', name: 'Editor', isDefault: false });
    const { results } = await created('/users/bulk', {
      users: [{ email: 'ayse@example.com', profile: { fullName: 'Ayşe Yılmaz' } }, { email: 'bea@example.com' }],
    });
    await api('PUT', `/api/applications/${app}/users/${results[0].userId}/roles`, { roles: ['editor'] });
    await page.go(activity());
    await page.untilText('#activity', /Changed roles of Ayşe Yılmaz: added editor/);
    await page.untilText('#activity', /Imported 2 users of 2 rows/);
    await page.enter('#search', 'ayse yilmaz');
    await page.untilText('#main', /Nothing matches/);
    await page.pressNamed('Ayşe Yılmaz, ayse@example.com', '#main');
    await page.untilAddress(new RegExp(`userId=${results[0].userId}$`));
    expect(await page.untilText('#activity', /Changed roles of Ayşe/)).not.toContain('Imported');
  });

  test('of a workspace finds people of all its applications by name', async () => {
    const { results } = await created('/users/bulk', {
      users: [{ email: 'noa@example.com', profile: { fullName: 'Noa Cohen' } }],
    });
    await page.go(`/workspaces/${await workspaceId()}/activity`);
    await page.enter('#search', 'cohen');
    await page.pressNamed('Noa Cohen, noa@example.com', '#main');
    await page.untilAddress(new RegExp(`userId=${results[0].userId}$`));
  });

  test('of a refused sign-in leads to why the person was refused', async () => {
    await refuse('zoe@example.com');
    await page.go(activity('?status=error'));
    await page.untilText('#activity', /zoe@example\.com/);
    await page.press('#activity tbody .row-menu button');
    await page.pressNamed('Why was this person refused?', '#activity');
    await page.untilText('#why', /The gate is closed/);
    await page.go(activity('?status=error'));
    await page.press('#activity .row-link');
    await page.press('#why-refused');
    await page.untilText('#why', /The gate is closed/);
  });

  test('keeps who, what and when beside an open record, and the toolbar keeps its height', async () => {
    await signIn(server, 'ada@example.com', clientId);
    await page.go(activity());
    await page.untilText('#activity', /Signed in/);
    const top = () => page.evaluate<number>('document.querySelector("#activity").getBoundingClientRect().top');
    const before = await top();
    await page.press('#activity .row-link');
    await page.untilVisible('.detail');
    const columns =
      'JSON.stringify([...document.querySelectorAll("#activity thead th")].map((cell) => cell.innerText))';
    expect(JSON.parse(await page.evaluate<string>(columns))).toEqual(expect.arrayContaining(['Who', 'What', 'When']));
    expect(await top()).toBe(before);
  });
});

test('the list is loaded once when it opens', async () => {
  const users = Array.from({ length: 120 }, (_, index) => ({ email: `q${index}@example.com` }));
  await api('POST', `/api/applications/${app}/users/bulk`, { users });
  const { json } = await api('GET', `/api/applications/${app}/users?limit=200`);
  const userIds = json.data.items.map(({ userId }: { userId: string }) => userId);
  await api('POST', `/api/applications/${app}/users/actions`, { action: 'ban', userIds, reason: 'x' });
  await page.go(activity());
  await page.untilText('#main', /Connected/);
  await page.untilText('#activity', /Banned/);
  const lists = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/activity/list')).length`;
  expect(await page.evaluate<number>(lists)).toBe(1);
});

describe('a record', () => {
  test('has its own URL, shows every field, and links the person and the actor', async () => {
    const { userId } = await signIn(server, 'ada@example.com', clientId);
    await api('POST', `/api/applications/${app}/users/${userId}/ban`, { reason: 'Spam' });
    await page.go(activity('?family=user'));
    await page.press('#activity .row-link');
    await page.untilAddress(/activity\/aud_\w+\?family=user$/);
    const shown = await page.untilText('.detail', /Done by[^]*Key of the workspace/);
    const lists = `performance.getEntriesByType('resource').filter(({ name }) => /(?:api-keys|members)\\?/.test(name) && !name.includes('key_')).length`;
    expect(await page.evaluate<number>(lists)).toBe(0);
    for (const part of ['User banned', 'user.banned', 'Spam', userId, '127.0.0.1', 'req_'])
      expect(shown).toContain(part);
    await page.go((await page.address()).pathname.replace('/console', ''));
    await page.untilText('.detail', /User banned/);
    await page.pressNamed('ada@example.com', '.detail');
    await page.untilAddress(new RegExp(`/users/${userId}$`));
  });

  test('in the workspace’s list links to its application', async () => {
    await refuse('zoe@example.com');
    await page.go(`/workspaces/${await workspaceId()}/activity?status=error&q=zoe@example.com`);
    await page.untilText('#main', /Connected/);
    await page.untilText('#activity', /zoe@example\.com/);
    const rows = () => page.evaluate<number>('document.querySelectorAll("#activity tbody tr[data-key]").length');
    const before = await rows();
    await refuse('zoe@example.com');
    await eventually('another refusal is added live', async () => (await rows()) === before + 1);
    await page.press('#activity .row-link');
    await page.untilText('.detail', /The application accepts nobody new[^]*Shop/);
    await page.go((await page.address()).pathname.replace('/console', ''));
    await page.untilText('.detail', /Sign-in refused/);
    await page.pressNamed('Shop', '.detail');
    await page.untilAddress(new RegExp(`/applications/${app}`));
  });
});

describe('the export', () => {
  /** Returns the files that the page would save, by name. */
  const saved = () =>
    page.evaluate<{ name: string; text: string } | null>(
      'globalThis.saved ? globalThis.saved.blob.text().then((text) => ({ name: globalThis.saved.name, text })) : null',
    );
  const catchFiles = () =>
    page.evaluate(`void (() => {
      let blob;
      URL.createObjectURL = (given) => ((blob = given), 'blob:');
      HTMLAnchorElement.prototype.click = function () { globalThis.saved = { blob, name: this.download }; };
    })()`);

  test('has the filtered records of all pages, and no formula that a spreadsheet would run', async () => {
    const emails = Array.from({ length: 120 }, (_, index) => `p${index}@example.com`);
    await api('POST', `/api/applications/${app}/users/bulk`, { users: emails.map((email) => ({ email })) });
    const { json } = await api('GET', `/api/applications/${app}/users?limit=200`);
    const userIds = json.data.items.map(({ userId }: { userId: string }) => userId);
    for (const action of ['ban', 'unban'])
      await api('POST', `/api/applications/${app}/users/actions`, { action, userIds, reason: 'x' });
    await signIn(server, '=cmd@example.com', clientId);
    await page.go(activity('?family=user.ban'));
    await page.untilText('#activity', /Banned/);
    await catchFiles();
    await page.press('#export');
    await page.press('#start-export');
    await page.untilText('#export-dialog', /120 records saved\./);
    const csv = await saved();
    expect(csv!.name).toBe('activity.csv');
    const [head, ...lines] = csv!.text.trim().split('\r\n');
    expect(head).toContain('createdAt,what,kind');
    expect(lines).toHaveLength(120);
    expect(lines.every((line) => line.includes('User banned,user.banned,true'))).toBe(true);

    await page.go(activity('?family=signin'));
    await page.untilText('#activity', /=cmd@example\.com/);
    await catchFiles();
    await page.press('#export');
    await page.press('#start-export');
    await page.untilText('#export-dialog', /records saved\./);
    expect((await saved())!.text).toContain(",'=cmd@example.com,");
    await page.pressNamed('Close', '#export-dialog');
    await page.press('#export');
    await page.press('#format input[value=json]');
    await page.press('#start-export');
    await page.untilText('#export-dialog', /records saved\./);
    const records = JSON.parse((await saved())!.text);
    expect(records.map(({ kind }: { kind: string }) => kind)).toEqual(['signin.succeeded', 'signin.code_sent']);
  });

  test('can be cancelled, and then saves nothing', async () => {
    await signIn(server, 'ada@example.com', clientId);
    await page.go(activity());
    await page.untilText('#activity', /Signed in/);
    await catchFiles();
    await page.evaluate(`void (() => {
      const fetched = fetch;
      globalThis.fetch = async (...given) => {
        await new Promise((resolve) => { globalThis.goOn = resolve; });
        return fetched(...given);
      };
    })()`);
    await page.press('#export');
    await page.press('#start-export');
    await page.untilText('#export-dialog', /Reading records/);
    await page.press('#stop-export');
    await page.evaluate('void goOn()');
    await page.untilVisible('#start-export');
    expect(await saved()).toBeNull();
  });
});

test('a record takes two lines on a phone: who and when, then what', async () => {
  const { json } = await api('POST', `/api/applications/${app}/users/bulk`, {
    users: [{ email: 'a-very-long-address-of-somebody@department.example.com' }],
  });
  await api('POST', `/api/applications/${app}/roles`, { slug: 'editor', name: 'Editor', isDefault: false });
  const [{ userId }] = json.data.results;
  await api('PUT', `/api/applications/${app}/users/${userId}/roles`, { roles: ['editor'] });
  await refuse('zoe@example.com');
  page.close();
  page = await openConsole(server, { size: PHONE });
  await page.go(activity());
  await page.untilText('#activity', /zoe@example\.com[^]*Tried to sign in/);
  const rows = JSON.parse(
    await page.evaluate<string>(`JSON.stringify([...document.querySelectorAll('#activity tbody tr[data-key]')].map((row) => ({
      text: row.innerText,
      lines: [...row.querySelectorAll('.event-line')].map((line) => ({
        height: line.getBoundingClientRect().height,
        right: line.getBoundingClientRect().right,
      })),
    })))`),
  ) as { text: string; lines: { height: number; right: number }[] }[];
  expect(rows.length).toBeGreaterThan(3);
  for (const { lines } of rows) {
    expect(lines).toHaveLength(2);
    for (const { height, right } of lines) {
      expect(height).toBeLessThan(30);
      expect(right).toBeLessThanOrEqual(PHONE.width);
    }
  }
  const refused = rows.find(({ text }) => text.includes('Tried to sign in'))!;
  expect(refused.text).toMatch(/^zoe@example\.com\s+(?:just now|\d+ seconds? ago)\s+Tried to sign in\s+Refused/);
  expect(rows.some(({ text }) => /Changed roles of a-very-long/.test(text))).toBe(true);
  expect(await page.sidewaysScroll()).toBe(0);
});

test('a read-only member sees the activity on a phone', async () => {
  await signIn(server, 'ada@example.com', clientId);
  page.close();
  page = await openConsole(server, { member: 'reader@example.test', size: PHONE });
  await page.go(activity());
  await page.untilText('#activity', /Signed in/);
  expect(await page.sidewaysScroll()).toBe(0);
  await page.press('#activity .row-link');
  await page.untilText('.detail', /As JSON/);
  expect(await page.sidewaysScroll()).toBe(0);
});
