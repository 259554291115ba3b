/** The server's backups in the console: settings, results, a manual backup, and how to restore one. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, request, type RunningServer, signIn, startServer } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { type ConsolePage, openConsole, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

const scratch = emptyFolder();
const backups = join(scratch.path, 'backups');
let server: RunningServer;
let page: ConsolePage;
let at: string;

beforeAll(async () => {
  mkdirSync(backups);
  server = await startServer(join(scratch.path, 'data'), {
    GATEHOUSE_OWNER_EMAIL: 'owner@example.test',
    GATEHOUSE_BACKUP_TO: backups,
    // Scheduled long after the test, so that the first backup is manual.
    GATEHOUSE_BACKUP_SCHEDULE: 'every 300d',
    GATEHOUSE_BACKUP_KEEP: '7,30d',
  });
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
  scratch.remove();
});
afterEach(() => page.close());

async function open(size?: typeof PHONE): Promise<void> {
  page = await openConsole(server, size ? { size } : {});
  if (at === undefined) {
    const { token } = await signInAsOwner();
    const { json } = await request(server, 'GET', '/api/workspace', { token });
    at = `/workspaces/${json.data.id}/backups`;
  }
  await page.go(at);
}
const signInAsOwner = () => signIn(server, 'owner@example.test');

test('an owner sees the backup settings, starts a backup and reads how to restore it', async () => {
  await open();
  expect(await page.untilText('#backup-settings', /Schedule/)).toContain(backups);
  expect(await page.text('#backup-settings')).toMatch(/the newest 7 and all of the last 30 days/);
  expect(await page.text('#backup-settings')).toMatch(/No: anybody who can read a backup/);
  await page.press('#back-up-now');
  await page.untilText('#backups-table', /Succeeded/);
  const [name = ''] = readdirSync(backups);
  expect(await page.text('#backups-table')).toContain(name);
  expect(await page.text('#backups-table')).toMatch(/\d+ rows/);
  expect(await page.text('#restore')).toContain(`gatehouse restore ${join(backups, name)} --data DIR`);
  expect(page.problems).toEqual([]);
});

test('a failed backup shows its reason, also on a phone and among the health warnings', async () => {
  rmSync(backups, { recursive: true });
  await open(PHONE);
  await page.press('#back-up-now');
  await page.untilText('#backup-failed', /There is no folder .+; make it, or mount it\./);
  await page.untilText('#backups-table', /Failed/);
  expect(await page.sidewaysScroll()).toBe(0);
  await page.go(at.replace('backups', 'health'));
  await page.untilText('#warnings', /The last backup failed; the last good one is of/);
  expect(page.problems).toEqual([]);
});
