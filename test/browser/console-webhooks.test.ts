/**
 * Webhooks in the console: added, failing, repaired, redelivered and released; signed deliveries, verified with the
 * shown secret.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type EphemeralServer, emptyFolder, eventually, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { addMember, type ConsolePage, openConsole, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let receiver: Receiver;
let webhooks: string;

beforeAll(async () => {
  server = await startEphemeral();
  webhooks = `/applications/${server.applicationId}/webhooks`;
});

afterAll(async () => {
  closeBrowser();
  await server.stop();
});

beforeEach(async () => void (receiver = await startReceiver()));
afterEach(() => receiver.close());

const call = (method: string, address: string, body?: unknown) =>
  request(server, method, `/api${webhooks}${address}`, { token: server.workspaceKey, body });

/** Adds an endpoint at the receiver, which then trusts its secret. */
async function subscribe(): Promise<string> {
  const { json } = await call('POST', '', { url: receiver.url, events: ['*'] });
  receiver.trust(json.data.signingSecret);
  return json.data.id;
}

/** Reads the secret from the box that shows it once, and closes the box. */
async function store(page: ConsolePage): Promise<string> {
  await page.untilVisible('#signing-secret');
  const secret = await page.text('#signing-secret-value');
  expect(secret).toMatch(/^whsec_/);
  receiver.trust(secret);
  await page.press('#signing-secret-stored');
  return secret;
}

test('a failed delivery shows request and response, and its redelivery succeeds after the receiver is repaired', async () => {
  receiver.answerWith(() => ({ status: 503, body: 'the warehouse is closed' }));
  const page = await openConsole(server);
  await page.go(`${webhooks}?new=1`);
  await page.enter('#webhook-url', 'http://shop.example.com/hook');
  await page.press('#webhook-form-submit');
  await page.untilText('#webhook-url-error', /https/);
  await page.enter('#webhook-url', receiver.url);
  await page.press('#webhook-events input[value=some]');
  await page.press('#events-membership input[value="user.banned"]');
  await page.press('#webhook-form-submit');
  await store(page);
  const { pathname: endpoint } = await page.untilAddress(/\/webhooks\/whk_\w+$/);

  await page.press('#test-webhook');
  const { pathname: failed } = await page.untilAddress(/\/dlv_\w+$/);
  const attempt = await page.untilText('.attempt', /the warehouse is closed/);
  expect(attempt).toMatch(/503/);
  expect(attempt).toContain(receiver.received[0]!.signature.replace(/(?<=v1=).+/, 'withheld'));
  expect(await page.text('#delivery-next')).toMatch(/^Attempt 2 of 15 in \d+ s/);

  receiver.answerWith(() => ({ status: 204 }));
  // Compares the open row with the detail at every change of the page.
  await page.evaluate(`(() => {
    window.differences = [];
    new MutationObserver(() => {
      const row = document.querySelector('#deliveries tr[aria-current] .status')?.innerText;
      const detail = document.querySelector('.detail .facts .status')?.innerText;
      if (row && detail && row !== detail) differences.push(row + ' / ' + detail);
    }).observe(document.querySelector('#main'), { subtree: true, childList: true, characterData: true });
  })()`);
  await page.press('#redeliver');
  await page.untilAddress(new RegExp(`${endpoint}/dlv_(?!${failed.split('_').at(-1)})`));
  await page.untilText('#delivery-next', /attempt 1 was accepted/);
  expect(receiver.received[1]!.eventId).toBe(receiver.received[0]!.eventId);
  await page.untilText('#deliveries tr[aria-current]', /Delivered/);
  expect(await page.evaluate<string[]>('differences')).toEqual([]);

  await page.choose('#delivery-status', 'delivered');
  await page.untilAddress(/status=delivered/);
  await eventually('only what was delivered is listed', async () => {
    const rows = await page.text('#deliveries tbody');
    return /Delivered/.test(rows) && !/Retrying|Pending/.test(rows);
  });
  await page.evaluate('history.back()');
  await page.untilText('#deliveries tbody', /Retrying/);
  expect(page.problems).toEqual([]);
  page.close();
});

test('a rotated secret signs alongside the previous one, and the console’s sample code verifies both signatures', async () => {
  const page = await openConsole(server);
  await page.go(`${webhooks}?new=1`);
  await page.enter('#webhook-url', receiver.url);
  await page.press('#webhook-form-submit');
  const first = await store(page);
  const { pathname: endpoint } = await page.untilAddress(/\/webhooks\/whk_\w+$/);
  await page.go(`${endpoint.replace('/console', '')}?show=signing`);
  await page.press('#rotate-secret');
  await page.press('#secret-rotation-submit');
  const second = await store(page);
  await page.untilText('#secret-overlap', /another 23 h 59 min/);
  const code = await page.evaluate<string>('document.querySelector(".snippets pre").textContent');

  await page.press('#test-webhook');
  await page.untilText('#delivery-next', /attempt 1 was accepted/);
  const { body, signature } = receiver.received[0]!;
  expect(signature).toMatch(/^t=\d+,v1=\w+,v1=\w+$/);
  const folder = emptyFolder();
  const file = join(folder.path, 'verify.ts');
  await Bun.write(file, code);
  const { verifyWebhook } = await import(file);
  for (const secret of [first, second]) expect(verifyWebhook(body, signature, secret)).toEqual(JSON.parse(body));
  expect(verifyWebhook(body, signature, 'whsec_another')).toBeNull();
  expect(verifyWebhook(`${body} `, signature, second)).toBeNull();
  expect(verifyWebhook(body, signature.replace(/t=\d+/, 't=1700000000'), second)).toBeNull();
  expect(verifyWebhook(body, '', second)).toBeNull();
  folder.remove();
  expect(page.problems).toEqual([]);
  page.close();
});

test('a quarantined endpoint shows the reason and the number of held events, and sends them on release', async () => {
  const id = await subscribe();
  receiver.answerWith(() => ({ status: 410 }));
  const page = await openConsole(server);
  await page.go(`${webhooks}/${id}`);
  await page.press('#first-test');
  await page.untilText('#quarantine', /410 Gone/);
  for (let n = 0; n < 3; n += 1) await call('POST', `/${id}/test`, {});
  receiver.answerWith(() => ({ status: 200 }));
  await page.press('#release-webhook');
  await page.untilText('#release-dialog', /3 events will be sent one by one/);
  await page.press('#release-dialog-submit');
  await page.untilSaid(/3 held events sent/);
  expect(receiver.received).toHaveLength(4);
  expect(await page.isVisible('#quarantine')).toBe(false);

  await page.pressNamed('More actions');
  await page.pressNamed('Send failed events again');
  await page.untilText('#replay-count', /^1 event since/);
  await page.press('#replay-dialog-submit');
  await page.untilSaid(/1 event on the way again/);
  await eventually('the failed event has arrived', () => receiver.received.length === 5);
  expect(receiver.received[4]!.eventId).toBe(receiver.received[0]!.eventId);
  await page.pressNamed('More actions');
  await page.pressNamed('Send failed events again');
  await page.untilText('#replay-count', /was sent again/);
  expect(await page.evaluate<boolean>('document.querySelector("#replay-dialog-submit").disabled')).toBe(true);
  await page.view.press('Escape');

  await page.pressNamed('Event catalogue');
  await page.choose('#sample-type', 'user.role_added');
  await page.untilText('#event-sample', /"roles": \[\s*"editor"/);
  await page.press('#send-sample');
  await page.untilAddress(/\/dlv_\w+$/);
  await page.untilText('#delivery-next', /was accepted/);
  expect(JSON.parse(receiver.received[5]!.body)).toMatchObject({ type: 'user.role_added', data: { isSample: true } });
  await eventually('the attempts are counted', async () => {
    const { total } = (await call('GET', `/${id}/performance`)).json.data;
    return total.delivered + total.failed === 6;
  });
  await page.pressNamed('Latency and success');
  await page.untilText('#performance', /83% of 6 accepted/);
  await page.untilVisible('#latency .uplot');

  await page.pressNamed('More actions');
  await page.pressNamed('Disable');
  await page.pressNamed('Disable webhook', '#webhook-disabling');
  await page.untilText('.strip', /Disabled/);
  await page.pressNamed('More actions');
  await page.pressNamed('Enable');
  await page.untilText('.strip', /Active/);
  await page.pressNamed('More actions');
  await page.pressNamed('Delete');
  await page.enter('#webhook-deletion-name', new URL(receiver.url).host);
  await page.press('#webhook-deletion-submit');
  await page.untilAddress(/\/webhooks$/);
  expect((await call('GET', `/${id}`)).status).toBe(404);
  expect(page.problems).toEqual([]);
  page.close();
});

test('a read-only member sees deliveries and their attempts, and why nothing can be changed', async () => {
  const id = await subscribe();
  await call('POST', `/${id}/test`, {});
  await eventually('it has arrived', () => receiver.received.length === 1);
  await addMember(server, 'reader@example.test', 'member');
  const page = await openConsole(server, { member: 'reader@example.test' });
  await page.go(`${webhooks}/${id}?type=webhook.test&status=delivered`);
  await page.pressNamed('webhook.test', '#deliveries');
  await page.untilAddress(/dlv_\w+\?type=webhook\.test&status=delivered$/);
  await page.untilText('.attempt', /200/);
  await page.untilText('.attempt', /Answers are shown to admins and owners/);
  await page.untilText('#body-withheld', /Bodies are shown to admins and owners: they can contain names/);
  for (const button of ['#test-webhook', '#edit-webhook', '#redeliver'])
    expect(
      await page.evaluate<string>(`(({ disabled, title }) => disabled && title)(document.querySelector('${button}'))`),
    ).toMatch(/only admins and owners/);
  expect(page.problems).toEqual([]);
  page.close();
});

test('the list, an endpoint, a delivery and the sample code fit on a phone', async () => {
  const id = await subscribe();
  const { json } = await call('POST', `/${id}/test`, {});
  await eventually('it has arrived', () => receiver.received.length === 1);
  const page = await openConsole(server, { size: PHONE });
  for (const [address, shown] of [
    ['', '#webhooks'],
    [`/${id}`, '#deliveries'],
    [`/${id}/${json.data.id}`, '.attempt'],
    [`/${id}?show=signing`, '.snippets'],
  ] as const) {
    await page.go(`${webhooks}${address}`);
    await page.untilVisible(shown);
    expect([address, await page.sidewaysScroll()]).toEqual([address, 0]);
  }
  expect(page.problems).toEqual([]);
  page.close();
});
