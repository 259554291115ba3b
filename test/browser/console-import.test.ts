/** Imports people from files and exports them in the console. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Papa from 'papaparse';
import { type EphemeralServer, eventually, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, PHONE } from './console-page.ts';

setDefaultTimeout(120_000);

const PEOPLE = 2000;
const READER = 'reader@example.test';
const FORMULA = '=HYPERLINK("https://evil.example","Ada")';

let server: EphemeralServer;
let page: ConsolePage;
let folder: string;

beforeAll(async () => {
  server = await startEphemeral();
  await addMember(server, READER, 'member');
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  page = await openConsole(server);
  await page.view.cdp('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
});
afterEach(() => {
  expect(page.problems).toEqual([]);
  page.close();
  rmSync(folder, { recursive: true });
});

async function newApplication(name: string): Promise<string> {
  const { json } = await request(server, 'POST', '/api/applications', { token: server.workspaceKey, body: { name } });
  return json.data.id;
}

const api = (method: string, path: string, body?: unknown) =>
  request(server, method, path, { token: server.workspaceKey, body });

/** Chooses a file in the field that the button opens. */
async function chooseFile(name: string, text: string): Promise<void> {
  await page.untilVisible('#choose-file');
  await page.evaluate(`(() => {
    const files = new DataTransfer();
    files.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    const field = document.querySelector('#import-file');
    field.files = files.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
}

/** Returns the only saved file, once it is complete: until then Chromium keeps its name with an empty one. */
async function savedFile(pattern: string): Promise<{ name: string; text: string }> {
  const name = await eventually('a file is saved', async () => {
    const [found] = [...new Bun.Glob(pattern).scanSync(folder)];
    return found !== undefined && Bun.file(join(folder, found)).size > 0 ? found : null;
  });
  const text = await Bun.file(join(folder, name)).text();
  return { name, text: text.replace(/^\uFEFF/, '') };
}

const tableOf = (text: string) => Papa.parse<Record<string, string>>(text.trim(), { header: true }).data;

const leavingIsAsked = () => page.evaluate<boolean>(`!dispatchEvent(new Event('beforeunload', { cancelable: true }))`);

const countOf = async (outcome: string) => Number((await page.text(`[data-outcome=${outcome}] dd`)).replace(',', ''));

describe('an import', () => {
  test('of 2,000 people with invalid rows is checked first and reported row by row afterwards', async () => {
    const app = await newApplication('Shop');
    await api('POST', `/api/applications/${app}/memberships`, { slug: 'berlin', name: 'Berlin', isDefault: false });
    await api('POST', `/api/applications/${app}/users/bulk`, {
      users: [{ email: 'person-1@example.com' }, { email: 'other@example.com', profile: { username: 'ada.taken' } }],
    });
    const lines = ['E-Mail;First name;Last name;Login;Roles;Groups;Shoe size'];
    for (let at = 0; at < PEOPLE; at += 1)
      lines.push(
        `person-${at}@example.com;Ada;"Love;lace ${at}";login${at};${at === 7 ? 'captain|user' : 'user'};berlin;38`,
      );
    lines.push(
      '',
      'no-address;Bea;;;;;',
      `"=cmd|'/C calc'!A0";;;;;;`,
      ';Nobody;;;;;',
      'PERSON-3@example.com;Ada;;;pilot;;',
    );
    lines.push('taken@example.com;Ada;;ada.taken;;;', 'boss@example.com;Ada;;admin;;;');
    await page.go(`/applications/${app}/import`);
    await chooseFile('people.csv', lines.join('\r\n'));

    await page.untilText('#import-columns', /2,006 rows in 7 columns/);
    const mapped = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#columns select')].map((one) => one.value)`,
    );
    expect(mapped).toEqual(['email', 'givenName', 'familyName', 'username', 'roleSlugs', 'membershipSlugs', '']);
    expect(await page.text('#import-preview')).toContain('Ada Love;lace 0');
    expect(await page.text('#unusable-rows summary')).toBe('3 rows cannot be sent');
    expect(await page.text('#repeated-rows summary')).toBe('1 duplicate address');
    await page.press('#repeated-rows summary');
    expect(await page.text('#repeated-rows')).toContain('Row 2,006: PERSON-3@example.com, first in row 5');
    expect(await page.untilText('#unknown-grants summary', /./)).toBe('2 roles in the file do not exist');
    await page.press('#unknown-grants summary');
    expect(await page.text('#unknown-grants')).toMatch(/role captain: 1 row\s+role pilot: 1 row/);
    await api('POST', `/api/applications/${app}/roles`, { slug: 'pilot', isDefault: false });
    await page.press('#check-grants');
    await page.untilText('#unknown-grants summary', /^1 role in the file does not exist$/);
    expect(await page.text('#left-out-columns summary')).toBe('1 column left out: Shoe size');
    await page.press('#check-usernames');
    await page.untilText('#gone-usernames summary', /^2 usernames not available$/);
    await page.press('#gone-usernames summary');
    expect(await page.text('#gone-usernames')).toContain('admin: reserved');
    await page.press('#withhold-usernames');
    expect(await page.text('#start-import')).toBe('Import 2,003 rows');
    await page.press('#start-import');

    await page.untilText('#import-run h2', /^Import finished$/);
    expect(await countOf('created')).toBe(PEOPLE - 1);
    expect(await countOf('already_member')).toBe(2);
    expect(await countOf('skipped')).toBe(5);
    expect(await page.text('#unknown-slugs')).toContain('Roles: captain');
    expect(await leavingIsAsked()).toBe(false);
    await page.choose('#report-outcome', 'skipped');
    await page.untilAddress(/outcome=skipped/);
    await page.untilText('#report', /The username is reserved/);
    await page.untilText('#report', /The username ada\.taken is taken\./);

    await page.press('#download-report');
    const { name, text } = await savedFile('*.csv');
    expect(name).toBe('people-report.csv');
    const report = tableOf(text);
    expect(report).toHaveLength(2006);
    expect(report[1]).toMatchObject({ row: '3', email: 'person-1@example.com', outcome: 'already_member' });
    expect(report.find(({ email }) => email === 'taken@example.com')).toMatchObject({
      outcome: 'skipped',
      error: 'username_taken:ada.taken',
    });
    // Escaped, so that no spreadsheet runs it as a formula.
    expect(report.find(({ row }) => row === '2004')?.['email']).toBe(`'=cmd|'/C calc'!A0`);

    const { json } = await api('GET', `/api/applications/${app}/users?q=person-7@&include=profile`);
    expect(json.data.items[0]).toMatchObject({
      username: 'login7',
      roles: ['user'],
      memberships: ['berlin'],
      profile: { givenName: 'Ada', familyName: 'Love;lace 7' },
    });
  });

  test('obeys Retry-After, continues after a failure and a pause, and survives leaving the view', async () => {
    const app = await newApplication('Library');
    const rows = Array.from({ length: 1800 }, (_, at) => ({ email: `reader-${at}@example.com`, roles: ['user'] }));
    let calls = 0;
    let release: (() => void) | null = null;
    page.view.addEventListener('Fetch.requestPaused', (event) => {
      const { requestId } = (event as MessageEvent<{ requestId: string }>).data;
      calls += 1;
      const goOn = () => void page.view.cdp('Fetch.continueRequest', { requestId });
      if (calls === 1)
        void page.view.cdp('Fetch.fulfillRequest', {
          requestId,
          responseCode: 429,
          responseHeaders: [
            { name: 'Retry-After', value: '1' },
            { name: 'Content-Type', value: 'application/json' },
          ],
          body: btoa('{"success":false,"error":"rate_limited","message":"Too many."}'),
        });
      else if (calls === 3) void page.view.cdp('Fetch.failRequest', { requestId, errorReason: 'ConnectionReset' });
      else if (calls === 5) release = goOn;
      else goOn();
    });
    await page.view.cdp('Fetch.enable', { patterns: [{ urlPattern: '*/users/bulk' }] });
    await page.go(`/applications/${app}/import`);
    await chooseFile('readers.json', JSON.stringify({ users: rows }));
    await page.press('#start-import');

    await page.untilText('#import-run h2', /^Import interrupted$/);
    expect(await page.text('#import-failure')).toMatch(/did not answer/);
    expect(await countOf('created')).toBe(500);
    expect(await leavingIsAsked()).toBe(true);
    await page.press('#go-on');
    await eventually('the fifth call is under way', async () => release);
    await page.press('.rail a[href$="/users"]');
    await page.untilText('#main h1', /^Users$/);
    await page.press('.rail a[href$="/import"]');
    await page.press('#pause-import');
    release!();
    await page.untilText('#import-run h2', /^Import paused$/);
    expect(await countOf('created')).toBe(1500);
    await page.press('#go-on');
    await page.untilText('#import-run h2', /^Import finished$/);
    expect(await countOf('created')).toBe(1800);
    await page.press('#import-another');
    await page.untilVisible('#drop-zone');
    page.problems.splice(0, page.problems.length, ...page.problems.filter((one) => !one.includes('users/bulk')));
  });

  test('lists the people who were not sent when it is stopped', async () => {
    const app = await newApplication('Museum');
    let held: (() => void) | null = null;
    page.view.addEventListener('Fetch.requestPaused', (event) => {
      const { requestId } = (event as MessageEvent<{ requestId: string }>).data;
      held = () => void page.view.cdp('Fetch.continueRequest', { requestId });
    });
    await page.view.cdp('Fetch.enable', { patterns: [{ urlPattern: '*/users/bulk' }] });
    await page.go(`/applications/${app}/import`);
    await chooseFile('guests', `mail\n${Array.from({ length: 700 }, (_, at) => `guest-${at}@example.com`).join('\n')}`);
    await page.press('#start-import');
    await eventually('a call is under way', async () => held);
    await page.press('#stop-import');
    held!();
    await page.untilText('#import-run h2', /^Import stopped$/);
    expect([await countOf('created'), await countOf('not_sent')]).toEqual([500, 200]);
  });

  test('explains why a file cannot be read', async () => {
    const app = await newApplication('Empty');
    await page.go(`/applications/${app}/import`);
    await chooseFile('users.json', '{"users": [1, 2]}');
    await page.untilText('#file-problem', /A list of objects is expected/);
    await chooseFile('users.csv', 'email,name\n');
    await page.untilText('#file-problem', /no row/);
    await chooseFile('users.csv', 'colour,size\nred,3');
    await page.untilVisible('#no-email-column');
    await page.choose('[data-column=size] select', 'email');
    await page.untilText('#unusable-rows', /1 row cannot be sent/);
  });
});

describe('an export', () => {
  test('has everybody who matches the filters, contains no formulas, and can be imported again', async () => {
    const app = await newApplication('Theatre');
    const users = Array.from({ length: 450 }, (_, at) => ({ email: `guest-${at}@example.com` }));
    await api('POST', `/api/applications/${app}/users/bulk`, { users });
    await api('POST', `/api/applications/${app}/users/bulk`, {
      users: [
        {
          email: 'ada@example.com',
          roleSlugs: ['developer'],
          profile: { fullName: FORMULA, username: 'ada', languages: [{ code: 'de', level: 'NATIVE' }] },
        },
      ],
    });
    await page.go(`/applications/${app}/import`);
    await page.pressNamed('Export', '#main');
    await page.untilAddress(/import\/export$/);
    await page.press('#start-export');
    await page.untilSaid(/^451 users exported\.$/);
    const all = await savedFile('*.csv');
    expect(all.name).toMatch(/^theatre-users-\d{4}-\d\d-\d\d\.csv$/);
    const table = tableOf(all.text);
    expect(table).toHaveLength(451);
    expect(table.at(-1)).toMatchObject({ email: 'ada@example.com', fullName: `'${FORMULA}`, languages: 'de:NATIVE' });

    await page.choose('#export-role', 'developer');
    await page.untilAddress(/role=developer/);
    await page.press('#export-format input[value=json]');
    await page.press('#start-export');
    await page.untilSaid(/^1 user exported\.$/);
    const [ada, ...others] = JSON.parse((await savedFile('*.json')).text);
    expect([ada.email, ada.profile.fullName, others]).toEqual(['ada@example.com', FORMULA, []]);

    await page.evaluate('history.back()');
    await page.untilAddress(/import\/export$/);
    await page.evaluate('history.back()');
    await page.untilText('#main h1', /^Import users$/);
    await chooseFile('theatre.csv', all.text);
    await page.press('#start-import');
    await page.untilText('#import-run h2', /^Import finished$/);
    expect(await countOf('already_member')).toBe(451);
  });
});

describe('a read-only member', () => {
  test('can preview a file and export without profiles, also on a phone, but cannot import', async () => {
    page.close();
    page = await openConsole(server, { member: READER, size: PHONE });
    await page.view.cdp('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
    const app = await newApplication('Cinema');
    await api('POST', `/api/applications/${app}/users/bulk`, {
      users: [{ email: 'ada@example.com', profile: { fullName: 'Ada' } }],
    });
    await page.go(`/applications/${app}/import`);
    await chooseFile(
      'a.csv',
      'email,name,roles,groups,locale,timezone\nada@example.com,Ada,user,berlin,de-AT,Europe/Vienna',
    );
    await page.untilVisible('#start-import');
    expect(await page.evaluate(`document.querySelector('#start-import').disabled`)).toBe(true);
    expect(await page.evaluate(`document.querySelector('#start-import').title`)).toMatch(/only admins and owners/);
    expect(await page.sidewaysScroll()).toBe(0);
    await page.go(`/applications/${app}/import/export`);
    await page.press('#start-export');
    const { text } = await savedFile('*.csv');
    expect(tableOf(text)[0]).toMatchObject({ email: 'ada@example.com' });
    expect(text).not.toContain('fullName');
    expect(await page.sidewaysScroll()).toBe(0);
  });
});
