/** The example for React, built by Vite and used in a browser. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { leaving } from '../../browser/leaving.ts';
import { freePort } from '../../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../../support/browser.ts';
import { Example, RUNTIME, signInOnPage } from './example.ts';

setDefaultTimeout(120_000);

let example: Example;
let site = '';

beforeAll(async () => {
  example = await Example.install('react');
  const { url, clientId } = example.server;
  const vite = [RUNTIME, example.bin('vite/bin/vite.js')];
  await example.run([...vite, 'build'], { VITE_GATEHOUSE: url, VITE_CLIENT_ID: clientId });
  const port = String(freePort());
  site = `http://localhost:${port}`;
  await example.allowReturnTo(`${site}/`);
  await example.start([...vite, 'preview', '--host', 'localhost', '--port', port, '--strictPort'], {}, /Local/);
});
afterAll(async () => {
  closeBrowser();
  await example.end();
});

async function signIn(page: Page, email: string): Promise<void> {
  await page.open(`${site}/`);
  await page.untilText('header button', /^Sign in$/);
  await leaving(page, () => page.view.click('header button'));
  await signInOnPage(page, example.server, email);
  await page.untilText('p', new RegExp(`^Hello, ${email}`));
}

test('a visitor signs in, sees what is theirs, and signs out from the menu', async () => {
  await example.signInAs('ada@example.com', 'editor');
  const page = await openBrowserPage();
  await page.open(`${site}/`);
  await page.untilText('p', /^Hello, whoever you are\.$/);
  expect(await page.isVisible('summary')).toBe(false);
  await signIn(page, 'ada@example.com');
  expect(await page.text('p')).toBe('Hello, ada@example.com: editor');
  expect((await page.address()).href).toBe(`${site}/`);
  expect(await page.text('a[href="/new"]')).toBe('Write an article');

  // The session lasts over a reload.
  await page.view.reload();
  await page.untilText('p', /^Hello, ada@example\.com/);
  expect(await page.isVisible('header > button')).toBe(false);

  await page.view.click('summary');
  expect(await page.text('details a')).toBe('Account');
  const account = await page.evaluate<string>(`document.querySelector('details a').href`);
  expect(account).toBe(`${example.server.url}/account?clientId=${example.server.clientId}`);
  await page.view.press('Escape');
  expect(await page.evaluate('document.querySelector("details").open')).toBe(false);
  expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
  await page.view.click('summary');
  await page.view.click('p');
  expect(await page.evaluate('document.querySelector("details").open')).toBe(false);

  const token = await page.evaluate<string>('sessionStorage.getItem("gatehouse.token")');
  const verdict = () => example.client.post('/api/v1/verify', { body: { token } });
  expect(await verdict()).toMatchObject({ email: 'ada@example.com' });
  await page.view.click('summary');
  await page.view.click('details button');
  await page.untilText('p', /^Hello, whoever you are\.$/);
  expect(await page.isVisible('a[href="/new"]')).toBe(false);
  expect(await page.evaluate('sessionStorage.getItem("gatehouse.token")')).toBeNull();
  expect(page.problems).toEqual([]);
  page.close();
});

test('a ban shows as soon as the tab is looked at again', async () => {
  const page = await openBrowserPage();
  await signIn(page, 'mallory@example.com');
  const { userId } = await example.server.signIn('mallory@example.com');
  const path = { id: example.server.applicationId, userId };
  await example.client.post('/api/applications/{id}/users/{userId}/ban', { path });
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await page.untilText('p', /^Not signed in: membership_blocked$/);
  expect(await page.evaluate('sessionStorage.getItem("gatehouse.token")')).toBeNull();
  page.close();
});

test('a link with somebody else’s token signs nobody in', async () => {
  const { token } = await example.server.signIn('eve@example.com');
  const page = await openBrowserPage();
  await page.open(`${site}/#token=${token}&expiresAt=x`);
  await page.untilText('p', /^Not signed in: state_mismatch$/);
  expect((await page.address()).href).toBe(`${site}/`);
  page.close();
});
