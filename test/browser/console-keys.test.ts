/** API keys in the console: created, shown once, rotated and revoked; and visible to other members. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, PHONE } from './console-page.ts';

let server: EphemeralServer;
let session: string;
let keys: string;

beforeAll(async () => {
  server = await startEphemeral();
  session = (await signIn(server, 'ada@example.test', server.clientId)).token;
  keys = `/applications/${server.applicationId}/keys`;
});

afterAll(async () => {
  closeBrowser();
  await server.stop();
});

/** Returns whether a backend can verify a session with this key. */
async function isAccepted(token: string): Promise<boolean> {
  const { status, json } = await request(server, 'POST', '/api/v1/verify', { token, body: { token: session } });
  return status === 200 && json.success === true;
}

/** Reads the token from the box that shows it once, and closes the box. */
async function store(page: ConsolePage): Promise<string> {
  await page.untilVisible('#key-token');
  const token = await page.text('#key-token-value');
  expect(token).toMatch(/^eak_\w{20,}$/);
  await page.press('#key-token-stored');
  return token;
}

const record = async (address: string) =>
  (await request(server, 'GET', `/api${address}`, { token: server.workspaceKey })).json.data;

test('a key is created, works, is rotated with a grace period for the old one, and revoked with it', async () => {
  const page = await openConsole(server);
  await page.go(`${keys}?new=1`);
  await page.press('#key-form-submit');
  await page.untilText('#key-name-error', /\w/);
  await page.enter('#key-name', 'Shop backend');
  await page.choose('#key-expiry', '90');
  await page.press('#key-form-submit');

  await page.untilVisible('#key-token');
  await page.view.press('Escape');
  await page.view.press('Escape');
  expect(await page.isVisible('#key-token')).toBe(true);
  const first = await store(page);
  await page.untilAddress(/\/keys\/key_\w+$/);
  expect(await page.text('#main')).not.toContain(first);
  expect(await isAccepted(first)).toBe(true);

  await page.press('#rotate-key');
  await page.press('#key-rotation-submit');
  const second = await store(page);
  await page.untilText('.detail', /Replaces the key before it, which works for another 23 h 59 min/);
  expect([await isAccepted(first), await isAccepted(second)]).toEqual([true, true]);
  await page.pressNamed('the key before it', '.detail');
  await page.untilText('#key-grace', /Works for another 23 h 59 min/);
  await page.untilText('#keys', /In grace for 23 h 59 min/);
  await page.evaluate('history.back()');
  await page.untilText('.detail', /Replaces/);

  await page.untilText('#key-calls-total', /accepted, \d+ refused/);
  await page.untilVisible('#key-calls .uplot');
  await page.pressNamed('Show as table', '#key-calls');
  await page.untilText('#key-calls table', /so far/);

  await page.press('#revoke-key');
  await page.untilText('#key-revocation', /refused from its next call on/);
  expect(await page.evaluate<boolean>('document.querySelector("#key-revocation-submit").disabled')).toBe(true);
  await page.enter('#key-revocation-name', 'Shop backend');
  await page.press('#key-revocation-submit');
  await page.untilText('.detail .facts', /Revoked/);
  expect([await isAccepted(first), await isAccepted(second)]).toEqual([false, false]);
  expect(page.problems).toEqual([]);
  page.close();
});

test('a key rotated without grace refuses its old token, and keeps its row, name and limits', async () => {
  const page = await openConsole(server);
  await page.go(keys);
  await page.press('#add-key');
  await page.enter('#key-name', 'Worker');
  await page.press('#key-form-submit');
  const first = await store(page);
  const id = (await page.untilAddress(/key_\w+$/)).pathname.split('/').at(-1)!;

  await page.press('#change-key');
  await page.enter('#key-name', 'Night worker');
  await page.enter('#key-per-minute', 'many');
  await page.press('#key-change-submit');
  await page.untilText('#key-per-minute-error', /whole number/);
  await page.enter('#key-per-minute', '1,200');
  await page.choose('#key-expiry', 'date');
  await page.evaluate(`(() => {
    const field = document.querySelector('#key-expiry-date');
    field.value = '2099-01-31';
    field.dispatchEvent(new Event('input', { bubbles: true }));
  })()`);
  await page.press('#key-change-submit');
  await page.untilText('.detail', /Night worker[^]*1,200/);
  expect(await record(`/applications/${server.applicationId}/api-keys/${id}`)).toMatchObject({
    name: 'Night worker',
    rateLimits: { perMinute: 1200, perDay: 10_000 },
    expiresAt: new Date('2099-01-31T23:59:59').toISOString(),
  });

  await page.press('#rotate-key');
  await page.press('#key-rotation-timing input[value=at-once]');
  await page.pressNamed('Rotate at once', '#key-rotation');
  const second = await store(page);
  await page.untilAddress(new RegExp(`/keys/${id}$`));
  expect([await isAccepted(first), await isAccepted(second)]).toEqual([false, true]);
  expect(page.problems).toEqual([]);
  page.close();
});

test('a form keeps its values after a refusal, and closing it returns the focus', async () => {
  const page = await openConsole(server);
  await page.go(keys);
  await page.press('#add-key');
  const focused = () => page.evaluate<string>('document.activeElement.id');
  await page.untilVisible('#key-form');
  expect(await focused()).toBe('key-name');
  await page.enter('#key-name', 'Ledger');
  await page.enter('#key-per-minute', 'many');
  await page.press('#key-form-submit');
  await page.untilText('#key-per-minute-error', /whole number/);
  const values = (ids: string[]) =>
    page.evaluate(`${JSON.stringify(ids)}.map((id) => document.getElementById(id).value)`);
  expect(await values(['key-name', 'key-per-minute', 'key-per-day'])).toEqual(['Ledger', 'many', '10000']);
  await page.view.press('Escape');
  expect(await page.isVisible('#key-form')).toBe(false);
  expect(await focused()).toBe('add-key');
  expect(page.problems).toEqual([]);
  page.close();
});

test('a workspace key covers the chosen applications, and the bootstrap key is labelled as such', async () => {
  const page = await openConsole(server);
  await page.go(`/workspaces/${server.workspaceId}/keys?new=1`);
  await page.enter('#key-name', 'Provisioning');
  await page.press('#key-reach input[value=some]');
  await page.press(`#key-applications input[value=${server.applicationId}]`);
  await page.press('#key-form-submit');
  await store(page);
  const id = (await page.untilAddress(/key_\w+$/)).pathname.split('/').at(-1)!;
  expect(await record(`/workspace/api-keys/${id}`)).toMatchObject({
    access: 'read',
    applicationIds: [server.applicationId],
  });
  await page.pressNamed('GATEHOUSE_WORKSPACE_KEY', '#keys');
  await page.untilText('.detail .note', /bootstrap key/);
  expect(page.problems).toEqual([]);
  page.close();
});

test('a read-only member reads who can see keys, and the console requests none', async () => {
  await addMember(server, 'reader@example.test', 'member');
  const page = await openConsole(server, { member: 'reader@example.test' });
  await page.go(keys);
  await page.untilText('.empty-state', /admins and owners/);
  expect(page.requested.filter((address) => address.includes('api-keys'))).toEqual([]);
  page.close();
});

test('the list, a key opened by URL and the form fit on a phone', async () => {
  const { json } = await request(server, 'POST', `/api/applications/${server.applicationId}/api-keys`, {
    token: server.workspaceKey,
    body: { name: 'A backend with a name that is rather long for a phone', access: 'full' },
  });
  const page = await openConsole(server, { size: PHONE });
  await page.go(`${keys}/${json.data.id}`);
  await page.untilText('.detail', /Full/);
  expect(await page.sidewaysScroll()).toBe(0);
  await page.pressNamed('Close the detail');
  await page.untilVisible('#keys');
  expect(await page.sidewaysScroll()).toBe(0);
  await page.choose('#key-source', 'device');
  await page.untilText('#main', /No connected devices/);
  await page.untilAddress(/source=device/);
  await page.press('#add-key');
  await page.untilVisible('#key-form');
  expect(await page.evaluate('document.querySelector("#key-form").scrollWidth')).toBeLessThanOrEqual(PHONE.width);
  expect(page.problems).toEqual([]);
  page.close();
});
