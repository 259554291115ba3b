/**
 * Draws every state of the hosted pages, every mail and every view of the console into `shots/` for review: the pages at
 * 390 and 1280 pixels, the console at 390, 1024 (half a screen) and 1440.
 *
 *   bun run shots                                        everything, in English, German and Greek; the console in English
 *   bun run shots --locale en --scheme light --width 390 a part of it; separate several by commas
 *   bun run shots --only sign-in/code,mail               names with these prefixes
 *   bun run shots --out /tmp/before                      into another folder
 */
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Locale, LOCALES } from '../../src/core/locale.ts';
import { BINARY, request } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { setConsoleScene } from './console-scene.ts';
import { CONSOLE } from './console-states.ts';
import { forgetEverything, type Scene, setScene } from './scene.ts';
import { CONTINUED, SHOWN_LOCALES, STATES } from './states.ts';

const SCHEMES = ['light', 'dark'];
const PAGE_WIDTHS = ['390', '1280'];
const CONSOLE_WIDTHS = ['390', '1024', '1440'];
const PHONE = 390;

const { values: options } = parseArgs({
  options: {
    locale: { type: 'string', default: SHOWN_LOCALES.join() },
    scheme: { type: 'string', default: SCHEMES.join() },
    width: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    out: { type: 'string', default: resolve(import.meta.dir, '../../shots') },
  },
});
const chosen = (text: string) => text.split(',').filter(Boolean);
const [locales, schemes, askedWidths] = [chosen(options.locale), chosen(options.scheme), chosen(options.width)];
const widthsOr = (usual: readonly string[]) => (askedWidths.length > 0 ? askedWidths : usual);
const only = chosen(options.only);
const isChosen = (name: string) => only.length === 0 || only.some((start) => name.startsWith(start));

const unknown = [
  ...locales.filter((locale) => !LOCALES.includes(locale as Locale)),
  ...schemes.filter((scheme) => !SCHEMES.includes(scheme)),
  ...askedWidths.filter((width) => !(Number(width) >= 200)),
];
if (unknown.length > 0) {
  console.error(`shots: cannot draw ${unknown.join(', ')}.`);
  process.exit(2);
}
if (!(await Bun.file(BINARY).exists())) {
  console.error('shots: there is no binary; build it with `bun run build`.');
  process.exit(2);
}

let drawn = 0;
const failed: string[] = [];

/** Draws one picture per scheme and width, as high as the page; dialogs are drawn in view. */
async function draw(page: Page, locale: string, name: string, usual = PAGE_WIDTHS): Promise<void> {
  for (const scheme of schemes)
    for (const width of widthsOr(usual)) {
      await look(page, scheme, Number(width));
      const isCovered = await page.isVisible('dialog[open]');
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      const clip = { x: 0, y: 0, width: Number(width), height, scale: 1 };
      const picture = isCovered ? { format: 'png' } : { format: 'png', captureBeyondViewport: true, clip };
      const { data } = (await page.view.cdp('Page.captureScreenshot', picture)) as { data: string };
      const file = join(options.out, locale, `${scheme}-${width}`, `${name.replace('/', '-')}.png`);
      await Bun.write(file, Buffer.from(data, 'base64'));
      drawn += 1;
    }
}

/** Waits two frames, so that the layout is stable. */
async function look(page: Page, scheme: string, width: number): Promise<void> {
  const height = width === PHONE ? 844 : 900;
  await page.view.cdp('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await page.view.cdp('Emulation.setEmulatedMedia', {
    features: [
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ],
  });
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))');
}

async function drawStates(page: Page, scene: Scene): Promise<void> {
  for (const [index, { name, reach }] of STATES.entries()) {
    const next = STATES[index + 1];
    const isOnTheWay = next !== undefined && CONTINUED.has(next.name) && isChosen(next.name);
    if (!isChosen(name) && !isOnTheWay) continue;
    try {
      await look(page, schemes[0]!, 1280);
      if (!CONTINUED.has(name)) await forgetEverything(page, scene);
      await reach(page, scene);
      if (isChosen(name)) await draw(page, scene.locale, name);
    } catch (error) {
      failed.push(`${scene.locale} ${name}: ${(error as Error).message}`);
    }
  }
}

/** Draws the newest mail of every kind that was sent on the way to the states. */
async function drawMails(page: Page, { server, locale, sendMails }: Scene): Promise<void> {
  await sendMails();
  const { json } = await request(server, 'GET', '/test/outbox');
  const kinds = new Map<string, string>();
  for (const { subject, html } of json.data.items as { subject: string; html: string | null }[]) {
    const kind = subject
      .replace(/\d{4,}/g, '')
      .toLowerCase()
      .match(/\p{Letter}+/gu)!
      .join('-')
      .slice(0, 60);
    if (html !== null && !kinds.has(kind)) kinds.set(kind, html);
  }
  for (const [kind, html] of kinds) {
    await page.open(`data:text/html;base64,${Buffer.from(html).toString('base64')}`);
    await draw(page, locale, `mail/${kind}`);
  }
}

/** Draws the console from the demo's data, in its only language. */
async function drawConsole(): Promise<void> {
  const scene = await setConsoleScene(100);
  const page = await openBrowserPage({ width: 1280, height: 900 });
  try {
    for (const { name, reach } of CONSOLE.filter((state) => isChosen(state.name)))
      try {
        await look(page, schemes[0]!, 1280);
        await reach(page, scene);
        await draw(page, 'en', name, CONSOLE_WIDTHS);
      } catch (error) {
        failed.push(`${name}: ${(error as Error).message}`);
      }
  } finally {
    page.close();
    await scene.stop();
  }
}

if (only.length === 0) await rm(options.out, { recursive: true, force: true });
await mkdir(options.out, { recursive: true });
const isPageChosen = only.length === 0 || only.some((name) => !name.startsWith('console'));
for (const locale of isPageChosen ? locales : []) {
  const scene = await setScene(locale);
  const page = await openBrowserPage({ width: 1280, height: 900 });
  try {
    await drawStates(page, scene);
    if (only.length === 0 || only.some((name) => name.startsWith('mail'))) await drawMails(page, scene);
  } finally {
    page.close();
    await scene.stop();
  }
}
if (locales.includes('en') && CONSOLE.some(({ name }) => isChosen(name))) await drawConsole();
closeBrowser();
console.log(`${drawn} pictures in ${options.out}`);
for (const failure of failed) console.error(failure);
process.exit(failed.length > 0 ? 1 : 0);
