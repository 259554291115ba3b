/** Opens the account's pages in a real browser as a signed-in person, and operates them. */
import { type EphemeralServer, outboxCode, request, signIn } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';

export interface AccountPage extends Page {
  /** Opens a part of the account with the token's session. */
  openAs(token: string, part: string, origin?: string): Promise<void>;
  /** Scrolls to an element, since the page is longer than the phone, and clicks it. */
  press(selector: string): Promise<void>;
  /** Presses the button with this accessible name. */
  pressNamed(name: string): Promise<void>;
  /** Enters the newest mailed code where the page asks for one. */
  prove(email: string): Promise<void>;
  signOut(): Promise<void>;
  /** Waits for a toast with this text. */
  untilSaid(pattern: RegExp): Promise<void>;
}

/** Opens a new tab. @param size a small phone by default. */
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
    async signOut() {
      await press('#account-menu');
      await press('#sign-out');
    },
    async untilSaid(pattern) {
      await page.untilText('#toast', pattern);
    },
  };
}

/** Returns the server's address by host name, since passkeys need one. */
export const byName = ({ url }: EphemeralServer) => url.replace('127.0.0.1', 'localhost');

export { closeBrowser };

/** Moves the clock so far that no sign-in is fresh and the cool-down of codes has ended. */
export const later = (server: EphemeralServer, advanceMs = 11 * 60_000) =>
  request(server, 'POST', '/test/clock', { body: { advanceMs } });

/** Signs a person in to the application. */
export const personAt = (server: EphemeralServer, email: string) => signIn(server, email, server.clientId);
