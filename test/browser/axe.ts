/** Runs axe-core on a page in both colour schemes. */
import { expect } from 'bun:test';
import type { Page } from '../support/browser.ts';
import { isLong } from '../support/long.ts';

/** Injected through the DevTools protocol, which ignores the page's policy. */
const AXE = await Bun.file(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)).text();
/** Colours do not depend on the width, layout not on the colours, and structure on neither. */
export const LOOKS: readonly { scheme: string; width: number; rules?: readonly string[] }[] = [
  { scheme: 'light', width: 1280 },
  { scheme: 'dark', width: 360, rules: ['color-contrast', 'link-in-text-block', 'target-size'] },
];

export async function look(page: Page, scheme: string, width: number): Promise<void> {
  const height = width > 500 ? 900 : 740;
  await page.view.cdp('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await page.view.cdp('Emulation.setEmulatedMedia', {
    features: [
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ],
  });
}

/**
 * Examines a page in every look. Colours share their tokens among states, so a short run examines the second look of every
 * sixth state only; whether the page fits a phone is checked in each.
 */
export async function expectAccessible(page: Page, index: number, without: readonly string[] = []): Promise<void> {
  for (const { scheme, width, rules } of LOOKS) {
    await look(page, scheme, width);
    if (isLong || rules === undefined || index % 6 === 0)
      expect([scheme, width, await findings(page, rules, without)]).toEqual([scheme, width, []]);
    expect([width, await page.sidewaysScroll()]).toEqual([width, 0]);
  }
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** Returns axe's violations of any impact. @param rules all by default. */
export async function findings(
  page: Page,
  rules?: readonly string[],
  without: readonly string[] = [],
): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.view.cdp('Runtime.evaluate', { expression: AXE });
  const disabled = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const options = JSON.stringify({
    resultTypes: ['violations'],
    rules: disabled,
    // Previews are frames without an origin, which axe cannot ask; mails and pages are examined by themselves.
    iframes: false,
    ...(rules && { runOnly: rules }),
  });
  const found = await page.evaluate<string>(
    `axe.run(document, ${options}).then(({ violations }) => JSON.stringify(violations))`,
  );
  return (JSON.parse(found) as Finding[]).map(
    ({ id, impact, nodes }) =>
      `${id} (${impact}): ${nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`)}`,
  );
}
