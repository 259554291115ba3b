/** The outbox in the console: mails as they arrive, their codes, and why some may not be read. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, sendCode, signIn, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, OWNER, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;
let workspace: string;
let clientId: string;

beforeAll(async () => {
  server = await startEphemeral();
  workspace = (await request(server, 'GET', '/api/workspace', { token: server.workspaceKey })).json.data.id;
  const { json } = await request(server, 'GET', '/api/applications', {
    token: server.workspaceKey,
  });
  ({ clientId } = json.data.items[0]);
  await addMember(server, 'admin@example.test', 'admin');
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
afterEach(() => page.close());

const at = (rest = '') => `/workspaces/${workspace}/outbox${rest}`;

test('a new mail appears without a reload, and an owner can read its code', async () => {
  page = await openConsole(server);
  await page.go(at());
  await page.untilText('#no-mail-server', /no mail server/);
  await page.untilText('#outbox', /admin@example.test/);
  await sendCode(server, 'buyer@shop.test', clientId);
  await page.untilText('#outbox', /^To\s+Subject.*\s+buyer@shop.test/);

  await page.press('#outbox .row-link');
  const code = await outboxCode(server, 'buyer@shop.test');
  await page.untilText('#mail-code', new RegExp(`^${code}$`));
  expect(await page.text('.mail-text')).toContain(code);
  await page.press('#mail-looks');
  await page.untilVisible('#mail-look');
  expect((await page.address()).pathname).toMatch(/\/outbox\/mail_\w+$/);
  expect(page.problems).toEqual([]);
});

test('filters are in the URL, and going back removes them', async () => {
  page = await openConsole(server, { size: PHONE });
  await page.go(at());
  await page.untilText('#outbox', /admin@example.test/);
  await page.choose('#outbox-status', 'failed');
  await page.untilText('#main', /No such mail/);
  expect((await page.address()).search).toBe('?status=failed');
  await page.evaluate('history.back()');
  await page.untilText('#outbox', /admin@example.test/);
  await page.enter('#outbox-q', 'BUYER@');
  await page.untilAddress(/\?q=BUYER/);
  await page.untilText('#outbox', /^(?![^]*admin@example.test)[^]*buyer@shop.test/);
  await page.view.reload();
  await page.untilText('#outbox', /^(?![^]*admin@example.test)[^]*buyer@shop.test/);
  expect(await page.sidewaysScroll()).toBe(0);
  expect(page.problems).toEqual([]);
});

test('a member who is not an owner reads why the outbox is not shown', async () => {
  page = await openConsole(server, { member: 'admin@example.test' });
  await page.go(at());
  await page.untilText('#main', /Only owners read the outbox/);
  expect(await page.isVisible('#outbox')).toBe(false);
  expect(page.problems).toEqual([]);
});

test('the body of a mail to a person of another workspace too is hidden, with the reason', async () => {
  await signIn(server, 'buyer@shop.test', clientId);
  const { token } = await signIn(server, OWNER);
  const made = await request(server, 'POST', '/api/workspaces', {
    token,
    body: { name: 'Workshop' },
  });
  const { id } = made.json.data;
  const members = `/api/workspace/members?workspaceId=${id}`;
  await request(server, 'POST', members, {
    token,
    body: { email: 'partner@example.test', role: 'owner' },
  });
  const partner = await signIn(server, 'partner@example.test');
  const seats = (await request(server, 'GET', members, { token })).json.data.items as {
    id: string;
    email: string;
  }[];
  const own = seats.find(({ email }) => email === OWNER)!;
  await request(server, 'DELETE', `/api/workspace/members/${own.id}?workspaceId=${id}`, {
    token: partner.token,
  });
  await request(server, 'POST', members, {
    token: partner.token,
    body: { email: 'buyer@shop.test', role: 'member' },
  });

  page = await openConsole(server);
  await page.go(at('?q=buyer'));
  await page.untilText('#outbox', /Not shown/);
  await page.press('#outbox .row-link');
  await page.untilText('#mail-unreadable', /somebody who also belongs to another workspace/);
  expect(await page.isVisible('#mail-code')).toBe(false);
  expect(page.problems).toEqual([]);
});
