/** Signing out of the account while the server cannot be reached: the page does not say that it is done. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openAccountPage, personAt } from './account-page.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;

beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(async () => {
  closeBrowser();
  await server.stop();
});

test('a sign-out that did not arrive says so and stays; the next one signs out', async () => {
  const page = await openAccountPage(server);
  const setOffline = (offline: boolean) =>
    page.view.cdp('Network.emulateNetworkConditions', {
      offline,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
  await page.openAs((await personAt(server, 'out@example.com')).token, 'profile');
  await setOffline(true);
  await page.signOut();
  await page.untilSaid(/could not be reached/);
  expect(await page.isVisible('#email-form')).toBe(false);
  expect(await page.text('main.account-part h1')).toBe('Profile');
  await setOffline(false);
  await page.press('#sign-out');
  await page.untilVisible('#email-form');
  await page.view.reload();
  await page.untilVisible('#email-form');
  page.close();
});
