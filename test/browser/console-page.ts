/** Opens the console in a real browser as a signed-in member, and operates it. */
import { type EphemeralServer, request, signIn } from '../support/binary.ts';
import { openBrowserPage, type Page } from '../support/browser.ts';

export interface ConsolePage extends Page {
  /** Opens a view as the member; `path` within `/console`. */
  go(path: string): Promise<void>;
  /** Scrolls to an element and clicks it. */
  press(selector: string): Promise<void>;
  /** Presses the visible button, link or entry with this accessible name. */
  pressNamed(name: string, within?: string): Promise<void>;
  choose(selector: string, value: string): Promise<void>;
  /** Replaces the text of a field that a framework listens to. */
  enter(selector: string, text: string): Promise<void>;
  /** Waits for a toast with this text. */
  untilSaid(pattern: RegExp): Promise<void>;
}

export const DESK = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** Owner of an ephemeral server. */
export const OWNER = 'owner@example.test';

/** @param member the e-mail address of a workspace member. */
export async function openConsole(
  server: { readonly url: string; readonly folder?: string },
  { member = OWNER, size = DESK }: { readonly member?: string; readonly size?: typeof DESK } = {},
): Promise<ConsolePage> {
  const page = await openBrowserPage(size);
  await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
  const { token } = await signIn(server, member);
  await page.view.cdp('Network.setCookie', { name: 'gatehouse', value: token, url: server.url, httpOnly: true });

  async function press(selector: string): Promise<void> {
    await page.untilVisible(selector);
    await page.untilLoaded();
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
    await page.view.click(selector);
  }

  return {
    ...page,
    press,
    async go(path) {
      await page.open(`${server.url}/console${path}`);
      await page.untilVisible('#main h1, .message h1');
    },
    async pressNamed(name, within = 'body') {
      const mark = `(() => {
        for (const old of document.querySelectorAll('[data-pressed]')) delete old.dataset.pressed;
        const all = [...document.querySelectorAll(${JSON.stringify(`${within} :is(button, a, [role=menuitem])`)})];
        const named = all.find((one) => one.checkVisibility() && !one.disabled &&
          (one.getAttribute('aria-label') ?? one.innerText).trim() === ${JSON.stringify(name)});
        if (named) named.dataset.pressed = '';
        return named !== undefined;
      })()`;
      while (!(await page.evaluate<boolean>(mark))) await page.untilVisible(within);
      await press('[data-pressed]');
    },
    async choose(selector, value) {
      await page.untilVisible(selector);
      await page.evaluate(`(() => {
        const list = document.querySelector(${JSON.stringify(selector)});
        list.value = ${JSON.stringify(value)};
        list.dispatchEvent(new Event('change', { bubbles: true }));
      })()`);
    },
    async enter(selector, text) {
      await press(selector);
      await page.fill(selector, text);
    },
    untilSaid: (pattern) => page.untilText('#toast', pattern).then(() => {}),
  };
}

/** Adds a member to the server's workspace. */
export async function addMember(server: EphemeralServer, email: string, role: 'admin' | 'member'): Promise<void> {
  const added = await request(server, 'POST', '/api/workspace/members', {
    token: server.workspaceKey,
    body: { email, role },
  });
  if (added.status !== 200) throw new Error(`the member was not added: ${added.text}`);
}
