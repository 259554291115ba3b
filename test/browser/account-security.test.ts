/** The security pages of an account: sessions, devices, the address, passkeys, and deletion. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { type AccountPage, byName, closeBrowser, later, openAccountPage, personAt } from './account-page.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: AccountPage;
let people = 0;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});
beforeEach(async () => {
  page = await openAccountPage(server);
});
afterEach(() => page.close());

const newAddress = () => `person${(people += 1)}@example.com`;
const isLive = async (token: string) =>
  (await request(server, 'POST', '/api/v1/session', { token })).json.ok as boolean;
const newestMail = async (to: string) => (await request(server, 'GET', `/test/outbox?to=${to}`)).json.data.items[0];

/** Connects a device with a person's session. @returns its key. */
async function connectedDevice(token: string): Promise<string> {
  const body = { client_id: server.clientId, device_name: 'Ada’s laptop' };
  const grant = (await request(server, 'POST', '/api/v1/device/code', { body })).json;
  await request(server, 'POST', '/api/account/device/approve', { token, body: { user_code: grant.user_code } });
  await later(server, 6_000);
  const poll = { device_code: grant.device_code, client_id: server.clientId };
  return (await request(server, 'POST', '/api/v1/device/token', { body: poll })).json.access_token;
}

async function expectSoundPage(origin = server.url): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(page.requested.filter((url) => !url.startsWith(origin) && !/^(?:about|blob):/.test(url))).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

describe('devices', () => {
  test('another session is listed with device and location, and its button ends it', async () => {
    const email = newAddress();
    const own = await personAt(server, email);
    await later(server, 31_000);
    const other = await personAt(server, email);
    await page.openAs(own.token, 'devices');
    await page.untilText('#sessions', /This browser/);
    expect(await page.text('#sessions')).toMatch(/Test application\s· signed in .+\s· last active /);
    expect(await page.isVisible('#end-others')).toBe(false);
    await expectSoundPage();
    await page.press('#sessions .row .button');
    await page.untilSaid(/^The session was ended\.$/);
    expect([await isLive(own.token), await isLive(other.token)]).toEqual([true, false]);
    await expectSoundPage();
  });

  test('all other sessions end at once, after a confirmation with the keyboard alone', async () => {
    const email = newAddress();
    const sessions = [];
    for (let index = 0; index < 23; index += 1) {
      sessions.push(await personAt(server, email));
      await later(server, 31_000);
    }
    const own = sessions.at(-1)!;
    await page.openAs(own.token, 'devices');
    await page.untilVisible('#sessions .row');
    const rows = () => page.evaluate<number>("document.querySelectorAll('#sessions .row').length");
    await eventually('the first page', async () => (await rows()) === 20);
    await page.press('#sessions > .button');
    await eventually('the second page', async () => (await rows()) === 23);
    await page.evaluate("document.querySelector('#end-others').focus()");
    await page.view.press('Enter');
    await page.untilVisible('#end-others-dialog');
    await expectSoundPage();
    await page.view.press('Escape');
    await eventually('the question is gone', async () => !(await page.isVisible('#end-others-dialog')));
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('end-others');
    await page.view.press('Enter');
    await page.untilVisible('#end-others-dialog');
    await page.view.press('Tab');
    await page.untilFocused('end-others-dialog-confirm');
    await page.view.press('Enter');
    await page.untilSaid(/^22 other sessions were ended\.$/);
    expect(await Promise.all(sessions.slice(-3).map(({ token }) => isLive(token)))).toEqual([false, false, true]);
    await eventually('only this one is left', async () => (await rows()) === 1);
    await expectSoundPage();
  });

  test('ending all other sessions also disconnects all devices, unless the box is cleared', async () => {
    const email = newAddress();
    const own = await personAt(server, email);
    const use = async (key: string) => (await request(server, 'GET', '/api/me/roles', { token: key })).status;
    const endOthers = async () => {
      for (let other = 0; other < 2; other += 1) {
        await later(server, 31_000);
        await personAt(server, email);
      }
      await page.view.reload();
      await page.untilVisible('#end-others');
      await page.press('#end-others');
      await page.untilVisible('#end-others-dialog');
    };
    const key = await connectedDevice(own.token);
    await page.openAs(own.token, 'devices');
    await endOthers();
    await page.press('label[for=end-others-devices]');
    await page.press('#end-others-dialog-confirm');
    await page.untilSaid(/^2 other sessions were ended\.$/);
    expect(await use(key)).toBe(200);
    await endOthers();
    await page.press('#end-others-dialog-confirm');
    await page.untilSaid(/^2 other sessions were ended\. 1 device was disconnected\.$/);
    await page.untilText('#connected', /No device is connected/);
    expect(await use(key)).toBe(401);
    await expectSoundPage();
  });

  test('a connected device is listed, renamed and disconnected', async () => {
    const { token } = await personAt(server, newAddress());
    const key = await connectedDevice(token);
    const use = async () => (await request(server, 'GET', '/api/me/roles', { token: key })).status;
    expect(await use()).toBe(200);

    await page.openAs(token, 'devices');
    await page.untilText('#connected', /Ada’s laptop/);
    expect(await page.text('#connected .row')).toMatch(/Test application\s· connected .+\s· /);
    await page.pressNamed('Rename: Ada’s laptop');
    await page.untilFocused('new-name');
    await page.fill('#new-name', '  ');
    await page.view.press('Enter');
    await page.untilText('#new-name-error', /Give it a name/);
    await page.fill('#new-name', 'Work laptop');
    await page.view.press('Enter');
    await page.untilSaid(/^The new name was saved\.$/);
    expect(await page.text('#connected .row-title')).toBe('Work laptop');
    await expectSoundPage();

    await page.pressNamed('Disconnect: Work laptop');
    await page.untilText('#disconnect-dialog h2', /^Disconnect Work laptop\?$/);
    await page.press('#disconnect-dialog-confirm');
    await page.untilSaid(/^Work laptop was disconnected\.$/);
    expect(await page.text('#connected')).toContain('No device is connected.');
    expect(await use()).toBe(401);
    await expectSoundPage();
  });
});

describe('the e-mail address', () => {
  test('changes with a code to each mailbox, and the link mailed to the old address reverts it', async () => {
    const [from, to] = [newAddress(), newAddress()];
    const before = await personAt(server, from);
    await later(server, 31_000);
    const own = await personAt(server, from);
    await page.openAs(own.token, 'sign-in');
    await page.press('#change-email');
    await page.untilFocused('new-email');
    for (const [wrong, told] of [
      ['nonsense', /does not look like an e-mail address/],
      [from.toUpperCase(), /This is your address already/],
    ] as const) {
      await page.fill('#new-email', wrong);
      await page.view.press('Enter');
      await page.untilText('#new-email-error', told);
    }
    await later(server, 31_000);
    await page.fill('#new-email', to);
    await page.view.press('Enter');
    await page.prove(from);
    await page.untilText('#new-email-form', new RegExp(`We sent a code to ${to}`));
    expect(await page.text('#new-email-form')).toContain('undoes the change, for seven days');
    await expectSoundPage();
    await page.untilFocused('code');
    const code = await outboxCode(server, to);
    await page.pressKeys(code === '000000' ? '000001' : '000000');
    await page.untilText('#code-error', /That code is not right/);
    await page.pressKeys(code);
    await page.untilText('#email-changed', new RegExp(`Your address is ${to} now`));
    expect(await page.text('#email-changed')).toContain(`the link that we sent to ${from} undoes this`);
    await page.untilText('#email-address .row-title', new RegExp(`^${to}$`));
    expect([await isLive(before.token), await isLive(own.token)]).toEqual([false, true]);
    await expectSoundPage();

    const { text } = await newestMail(from);
    await page.open(/http\S+\/undo-email-change\?token=\S+/.exec(text)![0]);
    await page.view.click('button.primary');
    await page.untilText('h1', /^The change was undone$/);
    expect(await isLive(own.token)).toBe(false);
    await later(server, 31_000);
    expect((await personAt(server, from)).userId).toBe(own.userId);
    await expectSoundPage();
  });

  test('of another person gets no code, and the page does not reveal that it is taken', async () => {
    const [email, taken] = [newAddress(), newAddress()];
    await personAt(server, taken);
    const { token } = await personAt(server, email);
    await later(server, 31_000);
    await page.openAs(token, 'sign-in');
    await page.press('#change-email');
    await page.fill('#new-email', taken);
    await page.view.press('Enter');
    await page.prove(email);
    await page.untilText('#new-email-form', new RegExp(`We sent a code to ${taken}`));
    expect((await newestMail(taken)).code).toBeNull();
    await page.pressKeys('123456');
    await page.untilText('#code-error', /That code is not right/);
    await expectSoundPage();
  });
});

describe('passkeys', () => {
  test('cannot be added at an IP address, and the page says why', async () => {
    await page.openAs((await personAt(server, newAddress())).token, 'sign-in');
    await page.untilText('#passkeys', /You have no passkey yet/);
    expect(await page.text('#no-passkeys')).toContain('Passkeys can be added only at localhost.');
    expect(await page.isVisible('#add-passkey')).toBe(false);
    await expectSoundPage();
  });

  test('are added (with a proof after an old sign-in), used, renamed, and removed with all other sessions', async () => {
    const email = newAddress();
    const { token } = await personAt(server, email);
    await later(server);
    // The virtual authenticator would answer a suggestion before anybody presses a button.
    const source =
      'globalThis.PublicKeyCredential && (PublicKeyCredential.isConditionalMediationAvailable = async () => false)';
    await page.view.cdp('Page.addScriptToEvaluateOnNewDocument', { source });
    await page.openAs(token, 'sign-in', byName(server));
    const authenticator = await addAuthenticator(page);
    await page.press('#add-passkey');
    await page.prove(email);
    await page.untilSaid(/^The passkey was added\.$/);
    const [stored] = await authenticator.passkeys();
    expect(stored?.rpId).toBe('localhost');
    await page.untilText('#passkeys .row', /Added .+\s· never used/);
    await expectSoundPage(byName(server));

    await page.press('#add-passkey');
    await page.untilText('#passkey-error', /has a passkey for your account already/);

    const name = await page.text('#passkeys .row-title');
    await page.pressNamed(`Rename: ${name}`);
    await page.fill('#new-name', 'My phone');
    await page.view.press('Enter');
    await page.untilSaid(/^The new name was saved\.$/);
    expect(await page.text('#passkeys .row-title')).toBe('My phone');

    await page.signOut();
    await page.untilVisible('#email-form');
    expect(await isLive(token)).toBe(false);
    await page.press('#passkey');
    await page.untilVisible('main.account-part h1');
    await page.untilText('#passkeys .row', /My phone[^]*last used/);

    await later(server);
    const other = await personAt(server, email);
    await page.pressNamed('Remove: My phone');
    await page.press('label[for=remove-passkey-end-others]');
    await expectSoundPage(byName(server));
    await page.press('#remove-passkey-confirm');
    await later(server, 31_000);
    await page.prove(email);
    // The passkey made this session, so removing it ends the session.
    await page.untilVisible('#email-form');
    expect(await page.text('#message')).toContain('Your sign-in has ended');
    expect(await isLive(other.token)).toBe(false);
    expect((await newestMail(email)).text).toContain('My phone');
    await expectSoundPage(byName(server));
  });
});

describe('a person’s own data', () => {
  test('is downloaded as one file with the date in its name, with a proof after an old sign-in', async () => {
    const email = newAddress();
    const { token, userId } = await personAt(server, email);
    await later(server);
    await page.openAs(token, 'data');
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-download-'));
    try {
      await page.view.cdp('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
      await page.press('#download-export');
      await page.prove(email);
      await page.untilSaid(/^Your data was downloaded\.$/);
      const isDone = () => readdirSync(folder).find((file) => file.endsWith('.json'));
      const name = await eventually('the file is there', isDone);
      expect(name).toMatch(/^account-export-\d{4}-\d\d-\d\d\.json$/);
      const held = await eventually('it is whole', () => parsed(readFileSync(join(folder, name), 'utf8')));
      expect(held).toMatchObject({ userId, tables: { users: [{ id: userId, email }] } });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    await expectSoundPage();
  });

  test('is deleted with the account after typing the address and the code, and the page confirms it', async () => {
    const email = newAddress();
    const { token } = await personAt(server, email);
    await later(server);
    await page.openAs(token, 'data');
    await expectSoundPage();
    await page.press('#close-account');
    await page.prove(email);
    await page.untilVisible('#close-dialog');
    const asked = await page.text('#close-dialog');
    expect(asked).toContain('Your names, addresses, legal entities, languages, region and pictures.');
    expect(asked).toContain('Your e-mail address and the addresses before it');
    expect(asked).toMatch(/Records of what was done, for \d+ days/);
    await page.press('#close-typed');
    await page.fill('#close-typed', 'somebody@example.com');
    await page.view.press('Enter');
    await page.untilText('#close-typed-error', new RegExp(`Type ${email}`));
    await expectSoundPage();
    await page.fill('#close-typed', email);
    await page.view.press('Enter');
    await page.untilFocused('code');
    await page.view.press('Enter');
    await page.untilText('#code-error', /Enter all six digits/);
    await page.pressKeys(await outboxCode(server, email));
    expect(await isLive(token)).toBe(true);
    await page.view.press('Enter');
    await page.untilText('#account-closed h1', /^Your account was deleted$/);
    expect(await page.text('#account-closed')).toContain('only the people who run this server can help');
    expect(await isLive(token)).toBe(false);
    await expectSoundPage();
    await later(server, 31_000);
    const refused = await request(server, 'POST', '/api/v1/auth/otp/send', {
      body: { email, clientId: server.clientId },
    });
    expect(refused.json.error ?? 'sent').toBeOneOf(['user_deleted', 'sent']);
  });

  test('cannot be deleted while a change of address can be reverted, and the page says why', async () => {
    const [from, to] = [newAddress(), newAddress()];
    const { token } = await personAt(server, from);
    const call = async (path: string, body?: unknown) =>
      (await request(server, 'POST', `/api/account${path}`, { token, body })).json.data;
    const give = async (path: string, { challengeId }: { challengeId: string }, email: string) =>
      call(`${path}/confirm`, { challengeId, code: await outboxCode(server, email) });
    await give('/proof', await call('/proof'), from);
    await give('/email', await call('/email', { email: to }), to);
    await page.openAs(token, 'data');
    await page.press('#close-account');
    await page.untilText('#close-error', /your e-mail address was changed less than seven days ago/);
    expect(await isLive(token)).toBe(true);
    await expectSoundPage();
  });
});

/** Returns null while the JSON is incomplete. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
