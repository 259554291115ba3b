/** The instance's health in the console: what needs attention, where mail goes, and what is set. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, emptyFolder, request, signIn, startEphemeral, startServer } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { startMailServer } from '../support/smtp.ts';
import { addMember, type ConsolePage, openConsole, OWNER, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;
let workspace: string;

beforeAll(async () => {
  server = await startEphemeral([], {
    GATEHOUSE_SMTP_URL: 'smtp://mailer:secret-of-mine@127.0.0.1:1',
  });
  workspace = (await request(server, 'GET', '/api/workspace', { token: server.workspaceKey })).json.data.id;
  await addMember(server, 'admin@example.test', 'admin');
  await addMember(server, 'reader@example.test', 'member');
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
afterEach(() => page.close());

const at = (id: string, rest = '') => `/workspaces/${id}/health${rest}`;

test('an owner of a healthy instance sees version, database and queues, and no warning', async () => {
  page = await openConsole(server);
  await page.go(at(workspace));
  await page.untilText('#all-well', /Nothing needs attention/);
  expect(await page.text('#instance')).toContain(server.url);
  expect(await page.text('#mail')).toMatch(/Server\s+127\.0\.0\.1:1/);
  expect(await page.text('#database')).toMatch(/Size\s+[\d.]+ KiB/);
  expect(await page.text('#queues')).toMatch(/Background tasks\s+0/);
  expect(page.problems).toEqual([]);
});

test('settings are searched by name and meaning, with the query in the URL, and secrets stay hidden', async () => {
  page = await openConsole(server, { size: PHONE });
  await page.go(at(workspace));
  // Without a search, those that are set.
  await page.untilText('#settings-table', /GATEHOUSE_SMTP_URL/);
  expect(await page.text('#settings-table')).not.toContain('GATEHOUSE_AUDIT_DAYS');
  await page.enter('#settings-q', 'smtp');
  await page.untilAddress(/\?q=smtp$/);
  await page.untilText('#settings-table', /GATEHOUSE_SMTP_URL/);
  expect(await page.text('#settings-table')).not.toContain('GATEHOUSE_PORT');
  expect(await page.text('#main')).not.toContain('secret-of-mine');
  await page.choose('#settings-kind', 'default');
  await page.untilAddress(/q=smtp&kind=default/);
  await page.evaluate('history.back()');
  await page.untilAddress(/\?q=smtp$/);
  await page.enter('#settings-q', 'no such words');
  await page.untilText('#settings', /No such setting/);
  expect(await page.sidewaysScroll()).toBe(0);
  expect(page.problems).toEqual([]);
});

test('a test mail shows the mail server’s answer, and an unknown recipient is refused under the field', async () => {
  page = await openConsole(server, { member: 'admin@example.test' });
  await page.go(at(workspace));
  await page.untilText('#main', /Only owners see this/);
  await page.press('#send-test');
  await page.untilText(
    '#mail-test-answer',
    /Not sent[^]*Answer\s+127\.0\.0\.1:1 refuses connections[^]*Duration\s+[\d,]+ ms/,
  );
  await page.enter('#mail-test-to', 'stranger@example.test');
  await page.press('#send-test');
  await page.untilText('#mail-test-to-error', /member of the workspace/);
  expect(page.problems).toEqual([]);
});

test('warnings come first, with their remedies, and without a mail server a test mail stays in the outbox', async () => {
  const folder = emptyFolder();
  const running = await startServer(folder.path, { GATEHOUSE_OWNER_EMAIL: OWNER });
  try {
    page = await openConsole(running);
    await page.go('');
    await page.pressNamed('Instance health', '.rail-workspace');
    await page.untilText('#warnings', /No mail server is set[^]*Set a mail server[^]*The public address is not set/);
    await page.press('#send-test');
    await page.untilText('#mail-test-answer', /Kept in the outbox[^]*Open the outbox/);
    expect(page.problems).toEqual([]);
  } finally {
    await running.stop();
    folder.remove();
  }
});

test('a mail server in the environment wins over the one in the console, says so, and leaves it as it was', async () => {
  const folder = emptyFolder();
  const [kept, given] = [await startMailServer(), await startMailServer()];
  const owner = { GATEHOUSE_OWNER_EMAIL: OWNER };
  const environment = { ...owner, GATEHOUSE_SMTP_URL: `smtp://127.0.0.1:${given.port}` };
  const shownBy = async (env: Record<string, string>, look: () => Promise<void>) => {
    const running = await startServer(folder.path, env);
    try {
      page = await openConsole(running);
      await page.go('');
      await page.pressNamed('Instance health', '.rail-workspace');
      await look();
      expect(page.problems).toEqual([]);
    } finally {
      page.close();
      await running.stop();
    }
  };
  const inConsole = new RegExp(`Server\\s+127\\.0\\.0\\.1:${kept.port}[^]*Set\\s+In the console`);
  try {
    await shownBy(owner, async () => {
      await page.press('#set-mail-server');
      await page.enter('#mail-server-host', '127.0.0.1');
      await page.enter('#mail-server-port', String(kept.port));
      await page.enter('#mail-server-from', 'Acme <no-reply@acme.example>');
      await page.press('#mail-server-submit');
      await page.untilText('#mail', inConsole);
    });
    const before = kept.received.length;
    await shownBy(environment, async () => {
      await page.untilText('#mail', new RegExp(`Server\\s+127\\.0\\.0\\.1:${given.port}`));
      expect(await page.text('#mail')).toMatch(/Set\s+By GATEHOUSE_SMTP_URL and GATEHOUSE_MAIL_FROM: change them/);
      expect(await page.isVisible('#set-mail-server')).toBe(false);
      expect(await page.isVisible('#remove-mail-server-button')).toBe(false);
      await page.press('#send-test');
      await page.untilText('#mail-test-answer', /Accepted by the mail server/);
      expect(given.received.length).toBeGreaterThan(0);
      expect(kept.received).toHaveLength(before);
    });
    await shownBy(owner, async () => {
      await page.untilText('#mail', inConsole);
      expect(await page.isVisible('#remove-mail-server-button')).toBe(true);
    });
  } finally {
    await Promise.all([kept.close(), given.close()]);
    folder.remove();
  }
});

test('a read-only member reads that only owners see the health page', async () => {
  page = await openConsole(server, { member: 'reader@example.test' });
  await page.go(at(workspace));
  await page.untilText('#main', /Only owners see this/);
  expect(await page.isVisible('#send-test')).toBe(false);
  expect(page.problems).toEqual([]);
});

test('the owner of another workspace sees neither settings nor queues, and reads who does', async () => {
  const { token } = await signIn(server, OWNER);
  const made = await request(server, 'POST', '/api/workspaces', {
    token,
    body: { name: 'Workshop' },
  });
  const { id } = made.json.data;
  const body = { email: 'partner@example.test', role: 'owner' };
  await request(server, 'POST', `/api/workspace/members?workspaceId=${id}`, { token, body });
  page = await openConsole(server, { member: 'partner@example.test' });
  await page.go(at(id));
  await page.untilText('#not-operator', /first workspace/);
  expect(await page.isVisible('#settings')).toBe(false);
  expect(await page.isVisible('#queues')).toBe(false);
  expect(page.problems).toEqual([]);
});
