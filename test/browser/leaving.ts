/** Actions that navigate to another page, during which the browser answers nothing. */
import { eventually } from '../support/binary.ts';
import type { Page } from '../support/browser.ts';

/** Runs an action that may navigate. */
export async function mayLeave(act: () => Promise<unknown>): Promise<void> {
  await act().catch((error: unknown) => {
    if (!String(error).includes('navigated or closed')) throw error;
  });
}

/** Runs an action that navigates, and waits for the new page. */
export async function leaving(page: Page, act: () => Promise<unknown>): Promise<void> {
  const before = await page.evaluate<number>('performance.timeOrigin');
  await mayLeave(act);
  const arrived = `performance.timeOrigin !== ${before} && document.readyState === 'complete'`;
  await eventually('the next page is there', () => page.evaluate<boolean>(arrived).catch(() => false));
}

/** Waits until the page has loaded. */
export async function settled(page: Page): Promise<void> {
  const loaded = `document.readyState === 'complete'`;
  await eventually('the page has loaded', () => page.evaluate<boolean>(loaded).catch(() => false));
}
