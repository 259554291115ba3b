/** The account's pages in a real browser: opened by somebody who is signed in, and worked with. */
import { type EphemeralServer, outboxCode, request, signIn } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

export interface AccountPage extends Page {
  /** Opens a part of the account as whoever holds the token. */
  openAs(token: string, part: string, origin?: string): Promise<void>;
  /** The page is longer than the phone: what is to be clicked is scrolled to first. */
  press(selector: string): Promise<void>;
  /** Presses the button that a screen reader calls so. */
  pressNamed(name: string): Promise<void>;
  /** Answers the question for a code by the one that was mailed last. */
  prove(email: string): Promise<void>;
  /** Waits until a passing message says so. */
  untilSaid(pattern: RegExp): Promise<void>;
}

/** A new tab. @param size of a small phone where left out. */
export async function openAccountPage(
  server: EphemeralServer,
  size?: { width: number; height: number },
): Promise<AccountPage> {
  const page = await openBrowserPage(size);
  for (const origin of [server.url, byName(server)])
    await page.view.cdp('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  async function press(selector: string): Promise<void> {
    await page.untilVisible(selector);
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
    await page.view.click(selector);
  }
  return {
    ...page,
    async openAs(token, part, origin = server.url) {
      const address = `${origin}/account/${part}?clientId=${server.clientId}`;
      await page.open(address);
      await page.untilVisible('#email-form');
      const headers = JSON.stringify({ authorization: `Bearer ${token}` });
      await page.evaluate(
        `fetch('/account/session', { method: 'PUT', headers: ${headers} }).then(({ status }) => status)`,
      );
      await page.open('about:blank');
      await page.open(address);
      await page.untilVisible('main.account-part h1');
    },
    press,
    pressNamed: (name) => press(`[aria-label=${JSON.stringify(name)}]`),
    async prove(email) {
      await page.untilVisible('#proof #code:not([readonly])');
      await page.pressKeys(await outboxCode(server, email));
    },
    async untilSaid(pattern) {
      await page.untilText('#toast', pattern);
    },
  };
}

/** The same server by its name: an address has no passkeys. */
export const byName = ({ url }: EphemeralServer) => url.replace('127.0.0.1', 'localhost');

export { closeBrowser };

/** So long that no sign-in of before is fresh any more, and codes can be asked for again. */
export const later = (server: EphemeralServer, advanceMs = 11 * 60_000) =>
  request(server, 'POST', '/test/clock', { body: { advanceMs } });

/** Signs a person in to the application. */
export const personAt = (server: EphemeralServer, email: string) => signIn(server, email, server.clientId);
