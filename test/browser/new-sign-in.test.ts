/** A person signs in in another browser, reads of it in a mail, and gets to the account by its button. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { type AccountPage, closeBrowser, later, openAccountPage } from './account-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** Returns somebody's mails, newest first. */
async function mailsOf(email: string): Promise<Mail[]> {
  return (await request(server, 'GET', `/test/outbox?to=${email}`)).json.data.items;
}

describe.each([
  { width: 360, height: 740 },
  { width: 1280, height: 900 },
])('at $width pixels', (size) => {
  /** Signs in with a code on the page, in German. @param isAgain the page offers the account of before. */
  async function signIn(page: AccountPage, email: string, isAgain = false): Promise<void> {
    await later(server);
    await page.open(`${server.url}/sign-in?clientId=${server.clientId}&locale=de`);
    if (isAgain) {
      await page.untilVisible('#accounts');
      await page.view.click('#another-account');
    }
    await page.untilVisible('#email');
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.pressKeys(await outboxCode(server, email));
    await page.untilVisible('#signed-in');
  }

  test('a sign-in in another browser is mailed in the page’s language, one in the same browser is not', async () => {
    const email = `walker${size.width}@shop.test`;
    const first = await openAccountPage(server, size);
    await signIn(first, email);
    await signIn(first, email, true);
    expect((await mailsOf(email)).filter(({ subject }) => subject.startsWith('Neue Anmeldung'))).toEqual([]);
    first.close();

    const other = await openAccountPage(server, size);
    await signIn(other, email);
    const [mail] = (await mailsOf(email)).filter(({ subject }) => subject.startsWith('Neue Anmeldung'));
    expect(mail?.text).toContain('Browser: Chrome unter Linux');
    const [, link = ''] = /^(https?:\S+\/account\/devices\?\S+)$/m.exec(mail?.text ?? '') ?? [];
    await other.open(`${link}&locale=de`);
    await other.untilText('main', /Geräte/);
    expect(await other.sidewaysScroll()).toBe(0);
    expect(other.problems).toEqual([]);
    other.close();
  });
});
