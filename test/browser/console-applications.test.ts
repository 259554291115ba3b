/** The applications of a workspace in the console, and the workspace itself. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type EphemeralServer,
  emptyFolder,
  outboxCode,
  request,
  signIn,
  startEphemeral,
  startServer,
} from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, DESK, openConsole, OWNER, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;
let ownerToken: string;
let applications: string;

beforeAll(async () => {
  server = await startEphemeral();
  await addMember(server, 'reader@example.test', 'member');
  await addMember(server, 'admin@example.test', 'admin');
  ownerToken = (await signIn(server, OWNER)).token;
  applications = `/workspaces/${server.workspaceId}/applications`;
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  page = await openConsole(server);
});
afterEach(() => {
  expect(page.problems).toEqual([]);
  page.close();
});

async function reopen(member: string, size = DESK): Promise<void> {
  page.close();
  page = await openConsole(server, { member, size });
}

const isOutOfReach = (selector: string) => page.evaluate<boolean>(`document.querySelector('${selector}').disabled`);

async function create(name: string): Promise<string> {
  const { json } = await request(server, 'POST', '/api/applications', { token: server.workspaceKey, body: { name } });
  return json.data.id;
}

/** Archives or deletes an application by the code mailed to its owner. */
async function end(application: string, body: object): Promise<void> {
  const path = `/api/applications/${application}/lifecycle`;
  const sent = await request(server, 'POST', `${path}/send`, { token: ownerToken, body });
  const { challengeId } = sent.json.data;
  const code = await outboxCode(server, OWNER);
  const done = await request(server, 'POST', `${path}/confirm`, { token: ownerToken, body: { challengeId, code } });
  expect(done.status).toBe(200);
}

test('an application is created with a slug derived from its name, and opens', async () => {
  await page.go(`${applications}?new=1`);
  await page.enter('#application-name', 'Café Müller & Söhne');
  await page.untilVisible('#application-slug');
  expect(await page.evaluate<string>('document.querySelector("#application-slug").value')).toBe('cafe-muller-sohne');
  await page.enter('#application-urls', 'not an address');
  await page.press('#application-form-submit');
  await page.untilText('#application-urls-error', /\S/);
  await page.enter('#application-urls', 'https://cafe.example.com/in');
  await page.press('#application-form-submit');
  await page.untilAddress(/\/applications\/app_[^/]+\/overview$/);
  await page.untilText('#open-switcher', /Café Müller/);
  const { json } = await request(server, 'GET', '/api/applications', { token: server.workspaceKey });
  expect(json.data.items.at(-1)).toMatchObject({
    name: 'Café Müller & Söhne',
    slug: 'cafe-muller-sohne',
    stage: 'draft',
    returnUrls: ['https://cafe.example.com/in'],
  });
  await page.evaluate('history.back()');
  await page.untilText('#applications', /Café Müller/);
  // Going back skips the completed steps.
  await page.press('#create-application');
  await page.enter('#application-name', 'Other');
  await page.enter('#application-slug', 'cafe-muller-sohne');
  await page.press('#application-form-submit');
  await page.untilText('#application-form', /taken|use|reserved/i);
});

test('deleted applications show how long they are listed, and hidden ones can be shown and restored', async () => {
  const kept = await create('Old shop');
  const gone = await create('Older shop');
  const archived = await create('Resting shop');
  await end(kept, { kind: 'delete' });
  await end(gone, { kind: 'delete', skipGrace: true });
  await end(archived, { kind: 'archive' });
  await page.go(applications);
  const text = await page.untilText('#applications', /Old shop/);
  expect(text).toMatch(/Old shop\s+Deleted\s*listed for another 89 d/);
  expect(text).toMatch(/Resting shop\s+Archived/);
  expect(text).not.toContain('Older shop');
  await page.press('#show-hidden');
  await page.untilAddress(/hidden=1/);
  await page.untilText('#applications', /Older shop\s+Deleted\s*hidden; can be restored/);
  await page.evaluate('history.back()');
  await page.untilText('#applications', /^(?![^]*Older shop)/);
});

test('the server’s clock decides whether an application is hidden, not the browser’s', async () => {
  const gone = await create('Sunken shop');
  await end(gone, { kind: 'delete', skipGrace: true });
  // Sets the browser's clock back by a week before any script runs.
  await page.view.cdp('Page.addScriptToEvaluateOnNewDocument', {
    source: 'const now = Date.now; Date.now = () => now() - 7 * 86_400_000;',
  });
  await page.go(applications);
  expect(await page.untilText('#applications', /Test application/)).not.toContain('Sunken shop');
  await page.press('#show-hidden');
  await page.untilText('#applications', /Sunken shop\s+Deleted\s*hidden; can be restored/);
});

test('a workspace is renamed, and a second, empty one is created', async () => {
  await page.go(applications);
  await page.press('#rename-workspace');
  await page.enter('#workspace-name', 'Acme');
  await page.press('#workspace-form-submit');
  await page.untilText('#main .page-head', /in Acme\./);
  await page.press('#create-workspace');
  await page.enter('#workspace-name', 'Side project');
  await page.press('#workspace-form-submit');
  await page.untilText('#main .page-head', /in Side project\./);
  await page.untilText('.empty-state', /Create your first application/);
  await page.pressNamed('Create application', '.empty-state');
  await page.enter('#application-name', 'Garden');
  await page.press('#application-form-submit');
  await page.untilText('#open-switcher', /Garden\s+Side project/);
  await page.go(applications);
  expect(await page.text('#applications')).not.toContain('Garden');
});

test('a workspace beyond the daily or total limit is refused in the dialog, which says what to do', async () => {
  const folder = emptyFolder();
  const environment = { GATEHOUSE_OWNER_EMAIL: OWNER, GATEHOUSE_LIMIT_WORKSPACES_PER_DAY: '1' };
  for (const [limit, refusal] of [
    ['10', /created 1 workspaces in the last 24 hours; it can create the next one at \d{4}-/],
    ['1', /An account may create 1 workspaces; the operator can raise/],
  ] as const) {
    const own = await startServer(folder.path, { ...environment, GATEHOUSE_LIMIT_WORKSPACES_PER_ACCOUNT: limit });
    page.close();
    page = await openConsole(own);
    const { token } = await signIn(own, OWNER);
    await request(own, 'POST', '/api/workspaces', { token, body: { name: 'Of today' } });
    const { items } = (await request(own, 'GET', '/api/workspaces', { token })).json.data;
    await page.go(`/workspaces/${items[0].id}/applications`);
    await page.press('#create-workspace');
    await page.enter('#workspace-name', 'One more');
    await page.press('#workspace-form-submit');
    await page.untilText('#workspace-form-failure', refusal);
    await own.stop();
  }
  folder.remove();
});

test('an admin can create applications but not workspaces', async () => {
  await reopen('admin@example.test');
  await page.go(applications);
  expect(await isOutOfReach('#create-workspace')).toBe(true);
  expect(await isOutOfReach('#create-application')).toBe(false);
});

test('a read-only member sees the list, also on a phone, and why it cannot be changed', async () => {
  await reopen('reader@example.test', PHONE);
  await page.go(applications);
  await page.untilText('#applications', /Test application/);
  for (const button of ['#create-application', '#rename-workspace', '#create-workspace'])
    expect([button, await isOutOfReach(button)]).toEqual([button, true]);
  expect(await page.sidewaysScroll()).toBe(0);
});
