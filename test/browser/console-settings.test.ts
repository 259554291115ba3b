/** The settings of an application in the console: saved, refused, and the application archived and restored. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser } from '../support/browser.ts';
import { addMember, type ConsolePage, openConsole, OWNER, PHONE } from './console-page.ts';

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
beforeEach(async () => {
  page = await openConsole(server);
});
afterEach(() => page.close());

async function manage(method: string, path: string, body?: unknown) {
  const { json } = await request(server, method, path, { token: server.workspaceKey, body });
  return json.data;
}

const ofApplication = (id = server.applicationId) => `/api/applications/${id}`;
const settings = (part: string, id = server.applicationId) => `/applications/${id}/settings/${part}`;
const errorOf = (field: string) => page.text(`#${field}-error`);

async function expectSound(): Promise<void> {
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
}

test('a new name appears everywhere at once; a taken slug is refused under its field and keeps the form’s values', async () => {
  await manage('POST', '/api/applications', { name: 'Taken', slug: 'taken' });
  await page.go(settings('general'));
  expect(await page.isVisible('#names-save')).toBe(false);
  await page.enter('#application-name', 'Northwind');
  await page.press('#names-save');
  await page.untilSaid(/^Saved/);
  await page.untilText('#open-switcher', /Northwind/);
  expect(await page.isVisible('#names-save')).toBe(false);

  await page.enter('#application-slug', 'taken');
  await page.press('#names-save');
  await page.untilText('#application-slug-error', /taken/);

  // Answers the browser's confirm dialog with no, then with yes.
  await page.evaluate('(window.confirm = () => { window.asked = (window.asked ?? 0) + 1; return false; }, null)');
  await page.pressNamed('URLs', '.settings-tabs');
  expect(await page.evaluate<number>('window.asked')).toBe(1);
  expect((await page.address()).pathname).toEndWith('/general');
  expect(await page.evaluate<string>('document.querySelector("#application-slug").value')).toBe('taken');
  await page.evaluate('(window.confirm = () => true, null)');
  await page.pressNamed('URLs', '.settings-tabs');
  await page.untilVisible('#return-urls');
  await page.view.cdp('Runtime.evaluate', { expression: 'history.back()', userGesture: true });
  await page.untilVisible('#names');
  expect(await page.evaluate<string>('document.querySelector("#application-slug").value')).not.toBe('taken');
  const { name, slug } = await manage('GET', ofApplication());
  expect(name).toBe('Northwind');
  expect(slug).not.toBe('taken');
  await expectSound();
});

test('a client secret is shown once, and replaced after a confirmation', async () => {
  await page.go(settings('general'));
  await page.press('#create-secret');
  await page.untilText('#client-secret', /^ecs_/);
  const first = await page.text('#client-secret');
  await page.press('#rotate-secret');
  await page.press('#rotate-secret-dialog-submit');
  await eventually('another secret is shown', async () => (await page.text('#client-secret')) !== first);
  const { clientSecretPrefix } = await manage('GET', ofApplication());
  expect(await page.text('#client-secret')).toStartWith(clientSecretPrefix);
  await page.go(settings('general'));
  await page.untilVisible('#rotate-secret');
  expect(await page.isVisible('#client-secret')).toBe(false);
  await expectSound();
});

test('the preview of the sign-in page follows the branding form, in light and dark, and cannot be clicked or focused', async () => {
  const inside = <Result>(scheme: string, expression: string) =>
    page.evaluate<Result>(
      `(() => { const root = document.querySelector('#preview-${scheme}').shadowRoot; return ${expression}; })()`,
    );
  const colorOf = (scheme: string, selector: string) =>
    inside<string>(scheme, `getComputedStyle(root.querySelector('${selector}')).backgroundColor`);
  await page.go(settings('branding'));
  await page.untilVisible('#preview-dark');
  expect(await inside<string>('light', 'root.querySelector("h1").innerText')).toMatch(/^Sign in to /);
  expect(await colorOf('light', '.card')).toBe('rgb(255, 255, 255)');
  expect(await colorOf('dark', '.card')).toBe('rgb(22, 25, 31)');
  await page.enter('#accent-color', '#0f766e');
  await eventually('the button has the colour', async () =>
    (await colorOf('light', '#email-submit')).includes('15, 118, 110'),
  );
  // A colour without contrast is darkened, as on the page.
  await page.enter('#accent-color', '#ffffff');
  await page.untilText('#accent-color-hint', /Contrast would be too low/);
  expect(await colorOf('light', '#email-submit')).not.toBe('rgb(255, 255, 255)');
  await page.enter('#accent-color', '#12');
  await page.press('#branding-save');
  await page.untilText('#accent-color-error', /#rrggbb/);
  await page.enter('#accent-color', '#0f766e');
  await page.press('#branding-save');
  await page.untilSaid(/^Saved/);
  expect((await manage('GET', ofApplication())).branding.accentColor).toBe('#0f766e');
  expect(await page.evaluate<boolean>('document.activeElement.shadowRoot === null')).toBe(true);
  await expectSound();
});

test('home and support are set beside the branding, and a wrong address is named at its field', async () => {
  await page.go(settings('branding'));
  await page.enter('#home-url', 'https://shop.example.com/');
  await page.enter('#support-email', 'help');
  await page.press('#contact-save');
  await page.untilText('#support-email-error', /e-mail address/);
  await page.enter('#support-email', 'help@shop.example.com');
  await page.press('#contact-save');
  await page.untilSaid(/^Saved/);
  expect((await manage('GET', ofApplication())).branding).toMatchObject({
    homeUrl: 'https://shop.example.com/',
    supportUrl: null,
    supportEmail: 'help@shop.example.com',
  });
  await expectSound();
});

test('the last sign-in method cannot be removed', async () => {
  await page.go(settings('sign-in'));
  for (const method of ['otp', 'passkey', 'provider']) await page.press(`#methods-list [value=${method}]`);
  await page.press('#methods-save');
  await page.untilText('#methods-list-error', /at least one/);
  await page.press('#methods-list [value=otp]');
  await page.press('#methods-save');
  await page.untilSaid(/^Saved/);
  expect((await manage('GET', ofApplication())).signinMethods).toEqual(['otp']);

  await page.choose('#lifetime-choice', 'custom');
  await page.enter('#lifetime-amount', '45');
  await page.press('#lifetime-save');
  // The message about the methods, saved a moment ago, may still be shown.
  await eventually('the lifetime is saved', async () => {
    const { sessionTtlSeconds } = await manage('GET', ofApplication());
    return sessionTtlSeconds === 45 * 86_400;
  });
  await expectSound();
});

test('an identity provider is set up and removed; an invalid issuer is refused under its field', async () => {
  await page.go(settings('sign-in'));
  await page.press('#set-provider');
  await page.press('#provider-kind [value=other]');
  await page.enter('#provider-issuer', 'http://login.example.com');
  await page.enter('#provider-client-id', 'gatehouse');
  await page.enter('#provider-client-secret', 'a-secret');
  await page.press('#provider-form-submit');
  await page.untilText('#provider-issuer-error', /./);
  await page.enter('#provider-issuer', 'https://login.example.com');
  await page.press('#provider-form-submit');
  await page.untilText('#provider-panel', /Continue with login\.example\.com/);
  expect(await page.text('#provider-panel')).not.toContain('a-secret');
  await page.press('#remove-provider');
  await page.press('#remove-provider-dialog-submit');
  await page.untilText('#provider-panel', /nor this application has a client/);
  await expectSound();
});

test('an invalid return URL is named under the field', async () => {
  await page.go(settings('urls'));
  await page.enter('#return-urls-lines', 'https://shop.example.com/in\nshop.example.com\nhttps://a@b.example/');
  await page.press('#return-urls-save');
  await page.untilText('#return-urls-lines-error', /“shop\.example\.com”, “https:\/\/a@b\.example\/”/);
  // An error that only the server can find is shown with the address too.
  await page.enter('#return-urls-lines', 'https://shop.example.com/in\nhttp://shop.example.com/');
  await page.press('#return-urls-save');
  await page.untilText('#return-urls-lines-error', /“http:\/\/shop\.example\.com\/”/);
  await page.enter('#return-urls-lines', 'https://shop.example.com/in\n\n https://shop.example.com/again ');
  await page.press('#return-urls-save');
  await page.untilSaid(/^Saved/);
  expect(await errorOf('return-urls-lines')).toBe('');
  expect((await manage('GET', ofApplication())).returnUrls).toEqual([
    'https://shop.example.com/in',
    'https://shop.example.com/again',
  ]);
  await page.enter('#terms-url', 'http://127.0.0.1:1/terms');
  await page.press('#legal-urls-save');
  await page.untilText('#terms-url-hint', /checked/);
  await expectSound();
});

test('a draft goes live step by step, and each step says what is still missing', async () => {
  const { id, clientId } = await manage('POST', '/api/applications', { name: 'New' });
  await page.go(settings('stage', id));
  expect(await page.text('#sign-in-link')).toBe(`${server.url}/sign-in?clientId=${clientId}`);
  await page.press('#next-stage');
  await page.press('#stage-dialog-submit');
  await page.untilText('#stage-warnings', /return URL/);
  await page.press('#next-stage');
  await page.press('#stage-dialog-submit');
  await page.untilText('.stages [aria-current]', /^Live/);
  expect(await page.isVisible('#next-stage')).toBe(false);
  await expectSound();
});

/** Enters the mailed code in the dialog that asks for it. */
async function giveCode(code: string): Promise<void> {
  await page.enter('#lifecycle-code', code);
  await page.press('#code-dialog-submit');
}

test('an application is archived with the mailed code, after a wrong one was refused, and restored', async () => {
  const { id } = await manage('POST', '/api/applications', { name: 'Old Shop' });
  await page.go(settings('lifecycle', id));
  await page.press('#archive');
  await page.press('#lifecycle-dialog-submit');
  await page.untilVisible('#code-dialog');
  const code = await outboxCode(server, OWNER);
  await giveCode(code === '000000' ? '000001' : '000000');
  await page.untilText('#lifecycle-code-error', /code is wrong/);
  await giveCode(code);
  await page.untilText('#lifecycle-state', /Archived/);
  expect((await manage('GET', ofApplication(id))).archivedAt).not.toBeNull();
  await page.press('#unarchive');
  await page.untilText('#lifecycle-state', /In service/);
  expect((await manage('GET', ofApplication(id))).archivedAt).toBeNull();
  await expectSound();
});

test('an application is deleted after its slug is typed, shows when it will be hidden, and is restored', async () => {
  const { id, slug } = await manage('POST', '/api/applications', { name: 'Older Shop' });
  await page.go(settings('lifecycle', id));
  await page.press('#delete');
  await page.untilVisible('#lifecycle-dialog');
  expect(await page.evaluate<boolean>('document.querySelector("#lifecycle-dialog-submit").disabled')).toBe(true);
  await page.enter('#lifecycle-dialog-name', slug);
  await page.press('#lifecycle-dialog-submit');
  await page.untilVisible('#code-dialog');
  await giveCode(await outboxCode(server, OWNER));
  await page.untilText('#countdown', /^89 d 23 h/);
  await page.press('#restore');
  await page.untilText('#lifecycle-state', /In service/);
  expect((await manage('GET', ofApplication(id))).deletedAt).toBeNull();
  await expectSound();
});

test('a read-only member sees every section, also on a phone, and why nothing can be changed', async () => {
  await addMember(server, 'reader@example.com', 'member');
  page.close();
  page = await openConsole(server, { member: 'reader@example.com', size: PHONE });
  for (const part of ['general', 'branding', 'sign-in', 'account', 'urls', 'stage', 'lifecycle']) {
    await page.go(settings(part));
    await page.untilVisible('.settings-tabs [aria-current]');
    await eventually(`the tab of ${part} is in view`, () =>
      page.evaluate<boolean>(`(() => {
        const [row, tab] = ['.settings-tabs', '.settings-tabs [aria-current]']
          .map((selector) => document.querySelector(selector).getBoundingClientRect());
        return Math.ceil(tab.left) >= row.left && Math.floor(tab.right) <= row.right;
      })()`),
    );
    expect(await page.sidewaysScroll()).toBe(0);
  }
  expect(await page.evaluate<boolean>('document.querySelector("#archive").disabled')).toBe(true);
  expect(await page.evaluate<string>('document.querySelector("#archive").title')).toMatch(/only admins and owners/);
  await page.go(settings('general'));
  await page.untilVisible('#default-roles-list');
  expect(await page.evaluate<boolean>('document.querySelector("#application-name").matches(":disabled")')).toBe(true);
  expect(page.problems).toEqual([]);
});
