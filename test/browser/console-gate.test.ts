/** The gate of an application and its allowlist in the console. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;
let app: string;

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
  app = json.data.id;
  await api('POST', `/api/applications/${app}/publish`);
  await api('POST', `/api/applications/${app}/signin-gate`, { gate: 'private_beta' });
  page = await openConsole(server);
});
afterEach(() => {
  expect(page.problems).toEqual([]);
  page.close();
});

const api = (method: string, path: string, body?: unknown) =>
  request(server, method, path, { token: server.workspaceKey, body });
const gate = (rest = '') => `/applications/${app}/gate${rest}`;
const asks = (email: string, kind = 'request') =>
  request(server, 'POST', `/api/applications/${app}/public/access-interest`, { body: { email, kind } });

async function statuses(): Promise<Record<string, string>> {
  const { json } = await api('GET', `/api/applications/${app}/beta-interests?limit=200`);
  return Object.fromEntries(json.data.items.map(({ email, status }: Record<string, string>) => [email, status]));
}

async function isMailed(email: string): Promise<boolean> {
  const { json } = await request(server, 'GET', `/test/outbox?to=${encodeURIComponent(email)}`);
  return json.data.items.length > 0;
}

async function choose(...emails: string[]): Promise<void> {
  for (const email of emails) {
    await page.untilText('#allowlist', new RegExp(email));
    await page.evaluate(`(() => {
      const row = [...document.querySelectorAll('#allowlist tbody tr')].find((one) => one.innerText.includes('${email}'));
      row.querySelector('input').dataset.email = '${email}';
    })()`);
    await page.press(`[data-email="${email}"]`);
  }
  await page.untilText('#selection', new RegExp(`^${emails.length} address`));
}

async function confirm(dialog: string): Promise<void> {
  await page.press(`#${dialog}-submit`);
  await eventually('the dialog is closed', async () => !(await page.isVisible(`#${dialog}`)));
}

describe('the gate', () => {
  test('says whom opening will mail, opens, and mails each of them', async () => {
    await asks('ada@example.com');
    await asks('bea@example.com', 'notify');
    await api('POST', `/api/applications/${app}/beta-interests`, { emails: ['cleo@example.com'] });
    await page.go(gate());
    await page.untilText('#status-tabs', /All\s*3/);
    await page.press('#gate-choice input[value=public]');
    await page.press('#change-gate');
    await page.untilText('#gate-dialog', /2 people wait and will be notified by mail/);
    await page.pressNamed('Cancel', '#gate-dialog');
    expect((await api('GET', `/api/applications/${app}`)).json.data.signinGate).toBe('private_beta');
    await page.press('#change-gate');
    await confirm('gate-dialog');
    await page.untilSaid(/^The gate is public now\.$/);
    await eventually('both are mailed', async () => (await isMailed('ada@example.com')) && isMailed('bea@example.com'));
    expect(await isMailed('cleo@example.com')).toBe(false);
    await page.untilText('#status-tabs', /Pending\s*0[^]*To be notified\s*2/);
  });

  test('is closed to new people', async () => {
    await page.go(gate());
    await page.press('#gate-choice input[value=closed]');
    await page.press('#change-gate');
    await page.untilText('#gate-dialog', /only existing users can sign in/);
    await confirm('gate-dialog');
    await page.untilSaid(/^The gate is closed now\.$/);
    expect((await api('GET', `/api/applications/${app}`)).json.data.signinGate).toBe('closed');
  });
});

test('a new policy says how it affects waiting people, and decides on all of them at once', async () => {
  const emails = Array.from({ length: 400 }, (_, at) => `person-${at}@example.com`);
  await api('POST', `/api/applications/${app}/beta-interests`, { emails, status: 'pending' });
  await page.go(gate());
  await page.untilText('#status-tabs', /Pending\s*400/);
  await page.press('#policy-choice input[value=auto_accept]');
  await page.press('#change-policy');
  await page.untilText('#policy-dialog', /The 400 requests that wait now are approved too/);
  await page.press('#policy-notify');
  await confirm('policy-dialog');
  await page.untilSaid(/^400 requests decided\.$/);
  await page.untilText('#status-tabs', /Pending\s*0\s*Approved\s*400/);
  await eventually('nothing is left to write', async () => !(await page.isVisible('#pending-work')));
  expect(await isMailed('person-7@example.com')).toBe(false);
});

describe('the allowlist', () => {
  test('accepts a pasted list, and names an invalid address in it', async () => {
    await page.go(gate('?new=1'));
    await page.press('#add-emails');
    await page.view.type('ada@example.com, Bea <bea@example.com>\nnobody@');
    await page.press('#add-dialog-submit');
    await page.untilText('#add-emails-error', /“nobody@” is no e-mail address\. Nobody was added\./);
    expect(await statuses()).toEqual({});
    await page.press('#add-emails');
    await page.evaluate('document.querySelector("#add-emails").select()');
    await page.view.type('ada@example.com, Bea <bea@example.com>');
    await confirm('add-dialog');
    await page.untilSaid(/^2 addresses added\.$/);
    expect(await statuses()).toEqual({ 'ada@example.com': 'approved', 'bea@example.com': 'approved' });
    expect((await page.address()).search).toBe('');
  });

  test('shows new requests live, and decides one or several at once', async () => {
    await page.go(gate());
    await page.untilText('#main', /Nobody is on the allowlist yet/);
    for (const name of ['ada', 'bea', 'cleo', 'dan', 'eve', 'fay']) await asks(`${name}@example.com`);
    await page.untilText('#status-tabs', /Pending\s*6/);
    await choose('ada@example.com', 'bea@example.com');
    await page.pressNamed('Approve', '#selection');
    await confirm('decide-dialog');
    await page.untilSaid(/^2 approved\.$/);
    await choose('cleo@example.com', 'dan@example.com');
    await page.pressNamed('Decline', '#selection');
    await page.untilText('#decide-dialog', /told by mail/);
    await confirm('decide-dialog');
    await page.untilSaid(/^2 declined\.$/);
    expect(await statuses()).toEqual({
      'ada@example.com': 'approved',
      'bea@example.com': 'approved',
      'cleo@example.com': 'notify_when_public',
      'dan@example.com': 'notify_when_public',
      'eve@example.com': 'pending',
      'fay@example.com': 'pending',
    });
    await eventually('they are told', () => isMailed('dan@example.com'));

    await page.pressNamed('Actions for eve@example.com');
    await page.pressNamed('Decline', '[role=menu]:popover-open');
    await page.untilText('#decide-dialog', /told by mail/);
    await confirm('decide-dialog');
    await page.untilSaid(/^eve@example\.com declined\.$/);
    await eventually('the person is told', () => isMailed('eve@example.com'));
    expect((await statuses())['eve@example.com']).toBe('notify_when_public');
    await page.pressNamed('Actions for fay@example.com');
    await page.pressNamed('Refuse without a word', '[role=menu]:popover-open');
    await page.untilText('#decide-dialog', /not mailed, now or when you open/);
    await confirm('decide-dialog');
    await page.untilSaid(/^fay@example\.com refused\.$/);
    expect((await statuses())['fay@example.com']).toBe('declined');
    expect(await isMailed('fay@example.com')).toBe(false);
    await page.pressNamed('Actions for ada@example.com');
    await page.pressNamed('Remove', '[role=menu]:popover-open');
    await page.untilText('#decide-dialog', /cannot be undone/);
    await confirm('decide-dialog');
    await page.untilSaid(/^ada@example\.com removed\.$/);
    expect(Object.keys(await statuses())).not.toContain('ada@example.com');
  });

  test('keeps its filters in the URL, and the back button restores the previous ones', async () => {
    await asks('ada@example.com');
    await api('POST', `/api/applications/${app}/beta-interests`, { emails: ['bea@example.com'] });
    await page.go(gate('?status=approved'));
    expect(await page.untilText('#allowlist', /bea@example\.com/)).not.toContain('ada@');
    await page.press('#status-tabs a[href$="status=pending"]');
    expect(await page.untilText('#allowlist', /ada@example\.com/)).not.toContain('bea@');
    await page.evaluate('history.back()');
    await page.untilText('#allowlist', /bea@example\.com/);
  });
});

test('a read-only member sees the gate and how many people wait, also on a phone, but not who', async () => {
  await asks('ada@example.com');
  page.close();
  page = await openConsole(server, { member: 'reader@example.test', size: PHONE });
  await page.go(gate());
  await page.untilText('#status-tabs', /Pending\s*1/);
  expect(await page.text('#main')).not.toContain('ada@example.com');
  await page.untilVisible('#allowlist-hidden');
  expect(await page.evaluate<boolean>('document.querySelector("#gate-choice").disabled')).toBe(true);
  expect(await page.evaluate<string>('document.querySelector("#add-addresses").title')).toMatch(
    /only admins and owners/,
  );
  expect(await page.sidewaysScroll()).toBe(0);
});
