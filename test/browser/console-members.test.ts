/** The members of a workspace in the console: invited, given other roles, removed; never without an owner. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, OWNER, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;
let first: string;
let second: string;
let ownerToken: string;

beforeAll(async () => {
  server = await startEphemeral();
  ownerToken = (await signIn(server, OWNER)).token;
  first = (await request(server, 'GET', '/api/workspace', { token: server.workspaceKey })).json.data.id;
  await addMember(server, 'reader@example.test', 'member');
  await addMember(server, 'admin@example.test', 'admin');
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
afterEach(() => page.close());

const at = (workspace: string, rest = '') => `/workspaces/${workspace}/members${rest}`;

async function membersOf(workspaceId: string): Promise<Record<string, string>> {
  const path = `/api/workspace/members?workspaceId=${workspaceId}`;
  const { json } = await request(server, 'GET', path, { token: ownerToken });
  return Object.fromEntries(json.data.items.map(({ email, role }: Record<string, string>) => [email, role]));
}

async function openMember(email: string): Promise<void> {
  await page.untilText('#members', new RegExp(email));
  await page.pressNamed(email, '#members');
  await page.untilText('#detail-title', new RegExp(email));
}

test('an owner invites a member, changes their role and removes them, each with one confirmation', async () => {
  page = await openConsole(server);
  await page.go(`${at(first)}?new=1`);
  await page.enter('#invite-email', 'no address');
  await page.press('#invite-form-submit');
  await page.untilText('#invite-email-error', /\S/);
  await page.enter('#invite-email', 'grace@example.test');
  await page.press('#invite-role input[value=member]');
  await page.press('#invite-form-submit');
  await page.untilSaid(/grace@example.test is member now/);
  expect((await page.address()).search).toBe('');

  await openMember('grace@example.test');
  await page.press('#change-role');
  await page.press('#member-role input[value=owner]');
  await page.press('#role-form-submit');
  await page.untilSaid(/grace@example.test is owner now/);
  expect(await membersOf(first)).toMatchObject({ 'grace@example.test': 'owner' });

  await page.press('#remove-member');
  await page.untilText('#remove-dialog', /They lose Workspace at once/);
  await page.press('#remove-dialog-submit');
  await page.untilSaid(/grace@example.test is no longer a member/);
  await page.untilAddress(/\/members$/);
  expect(await membersOf(first)).not.toHaveProperty('grace@example.test');
  expect(page.problems).toEqual([]);
});

test('a member’s keys are listed before the member is removed, and revoked if that is chosen', async () => {
  await addMember(server, 'maker@example.test', 'admin');
  const { token } = await signIn(server, 'maker@example.test');
  const make = async (path: string, name: string) =>
    (await request(server, 'POST', path, { token, body: { name, access: 'full' } })).json.data;
  const keys = [
    await make('/api/workspace/api-keys', 'Nightly sync'),
    await make(`/api/applications/${server.applicationId}/api-keys`, 'Shop backend'),
  ];
  page = await openConsole(server);
  await page.go(`/workspaces/${first}/keys/${keys[0].id}`);
  await page.untilText('.detail', /Created by\s+maker@example\.test/);
  await page.go(at(first));
  await openMember('maker@example.test');
  await page.press('#remove-member');
  const named = await page.untilText('#member-keys', /They know these keys, which keep working/);
  expect(named).toMatch(/Shop backend, Full, Test application, last used never/);
  expect(named).toMatch(/Nightly sync, Full, the workspace, last used never/);
  await page.press('label[for=revoke-member-keys]');
  await page.press('#remove-dialog-submit');
  await page.untilSaid(/maker@example.test is no longer a member/);
  for (const key of keys)
    expect((await request(server, 'GET', '/api/applications', { token: key.token })).status).toBe(401);
  expect(page.problems).toEqual([]);
});

test('the last owner cannot be removed, and the page says so beforehand', async () => {
  page = await openConsole(server);
  await page.go(at(first));
  await page.untilVisible('#members .row-link');
  await page.press('#members .row-link');
  await page.untilText('#last-owner', /You are the only owner of Workspace/);
  expect(await page.evaluate<boolean>('document.querySelector("#change-role").disabled')).toBe(true);
  expect(await page.evaluate<boolean>('document.querySelector("#remove-member").disabled')).toBe(true);

  const { href } = await page.address();
  await page.evaluate('history.back()');
  await page.untilAddress(/\/members$/);
  await page.evaluate('history.forward()');
  await page.untilVisible('#last-owner');
  expect((await page.address()).href).toBe(href);
  expect(page.problems).toEqual([]);
});

test('an admin can neither add nor change an owner', async () => {
  page = await openConsole(server, { member: 'admin@example.test' });
  await page.go(at(first));
  await openMember(OWNER);
  expect(await page.evaluate<string>('document.querySelector("#remove-member").title')).toMatch(/Only owners/);
  await openMember('reader@example.test');
  await page.press('#change-role');
  await page.untilText('#member-role', /Only an owner can make another owner/);
  expect(await page.evaluate<boolean>('document.querySelector("#member-role input[value=owner]").disabled')).toBe(true);
  expect(page.problems).toEqual([]);
});

test('a read-only member sees all members, and why nothing can be changed', async () => {
  page = await openConsole(server, { member: 'reader@example.test', size: PHONE });
  await page.go(at(first));
  await page.untilText('#members', /admin@example.test/);
  expect(await page.evaluate<boolean>('document.querySelector("#invite-member").disabled')).toBe(true);
  expect(await page.evaluate<string>('document.querySelector("#invite-member").title')).toMatch(
    /only admins and owners/,
  );
  await openMember('admin@example.test');
  expect(await page.evaluate<boolean>('document.querySelector("#remove-member").disabled')).toBe(true);
  expect(await page.sidewaysScroll()).toBe(0);
  expect(page.problems).toEqual([]);
});

test('two workspaces have separate members, and leaving one does not affect the other', async () => {
  const made = await request(server, 'POST', '/api/workspaces', {
    token: ownerToken,
    body: { name: 'Workshop' },
  });
  second = made.json.data.id;
  page = await openConsole(server);
  await page.go(at(second));
  await page.press('#invite-member');
  await page.enter('#invite-email', 'partner@example.test');
  await page.press('#invite-role input[value=owner]');
  await page.press('#invite-form-submit');
  await page.untilSaid(/partner@example.test is owner now/);
  expect(Object.keys(await membersOf(second)).sort()).toEqual([OWNER, 'partner@example.test']);
  expect(await membersOf(first)).not.toHaveProperty('partner@example.test');

  await page.press('#open-switcher');
  await page.pressNamed('All applications of Workspace', '#switcher');
  await page.untilAddress(new RegExp(first));
  await page.pressNamed('Members', '.rail-workspace');
  await page.untilText('#members', /admin@example.test/);
  expect(await page.text('#members')).not.toContain('partner@example.test');

  await page.go(at(second));
  await page.untilVisible('#members .row-link');
  await page.press('#members .row-link');
  await page.press('#remove-member');
  await page.untilText('#remove-dialog', /You lose Workshop at once/);
  await page.press('#remove-dialog-submit');
  await page.untilAddress(/\/console\/applications\//);
  expect(await page.untilText('#open-switcher', /\S/)).toMatch(/Workspace$/);
  expect(page.problems).toEqual([]);
});
