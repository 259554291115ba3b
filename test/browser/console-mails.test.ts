/** The application's own line in a mail, as an owner writes it and as its reader gets it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, request, sendCode, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { expectAccessible } from './axe.ts';
import { type ConsolePage, openConsole } from './console-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: ConsolePage;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

/** The text part of the newest mail to an address, as its reader gets it. */
async function textOf(to: string): Promise<string> {
  const { json } = await request(server, 'GET', `/test/outbox?to=${to}`);
  return json.data.items[0].text;
}

describe.each([
  { width: 360, height: 740 },
  { width: 1280, height: 900 },
])('at $width pixels', (size) => {
  beforeEach(async () => {
    page = await openConsole(server, { size });
    await page.go(`/applications/${server.applicationId}/settings/mails`);
    await page.untilVisible('#mail-line');
  });
  afterEach(async () => {
    expect(page.problems).toEqual([]);
    expect(await page.sidewaysScroll()).toBe(0);
    page.close();
  });

  test('a line is previewed while it is written, kept for its language, and read in the mail', async () => {
    const line = `Our desk is open from nine to five (${size.width}).`;
    await page.enter('#line', line);
    await page.untilText('#mail-preview-text', /open from nine to five/);
    await eventually('both frames show it', async () =>
      page.evaluate<boolean>(
        `['light', 'dark'].every((scheme) => document.querySelector('#mail-preview-' + scheme).src.includes('nine'))`,
      ),
    );
    await expectAccessible(page, 0);
    await page.press('#mail-line-save');
    await page.untilSaid(/^Saved/);
    await page.untilText('#mail-locale-hint', /With a line: English/);

    const reader = `reader${size.width}@shop.test`;
    await sendCode(server, reader, server.clientId);
    expect(await textOf(reader)).toContain(`\n\nTest application: ${line}\n\n`);

    await page.enter('#line', '');
    await page.press('#mail-line-save');
    await page.untilSaid(/^Saved/);
    await page.untilText('#mail-locale-hint', /No language has a line yet/);
  });

  test('what is written in one language stays while another is looked at, and a line like a code is refused', async () => {
    await page.enter('#line', 'Call 123456');
    await page.choose('#mail-locale', 'de');
    await page.untilText('#mail-preview-text', /Anmeldecode|Code/);
    expect(await page.evaluate<string>('document.querySelector("#line").value')).toBe('');
    await page.choose('#mail-locale', 'en');
    expect(await page.evaluate<string>('document.querySelector("#line").value')).toBe('Call 123456');
    await page.press('#mail-line-save');
    await page.untilText('#line-error', /six digits in a row look like a code/);
    await page.press('#mail-line-discard');
    expect(await page.evaluate<string>('document.querySelector("#line").value')).toBe('');
  });
});
