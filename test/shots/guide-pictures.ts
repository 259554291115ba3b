/**
 * Draws the pictures of the guides and the README from the demo's data, light and dark, into src/modules/docs/guides/images.
 *
 *   bun run pictures                 all of them, after bun run build
 *   bun run pictures sign-in,users   the named ones
 */
import { join, resolve } from 'node:path';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { ACCOUNT } from './account-states.ts';
import { setConsoleScene } from './console-scene.ts';
import { CONSOLE } from './console-states.ts';
import { forgetEverything, setScene } from './scene.ts';
import { STATES } from './states.ts';

interface Picture {
  readonly name: string;
  /** The name of its state in states.ts, account-states.ts or console-states.ts. */
  readonly state: string;
  readonly width: number;
  readonly height: number;
}

const CONSOLE_SIZE = { width: 1360, height: 800 };
const PICTURES: readonly Picture[] = [
  { name: 'sign-in', state: 'sign-in/last-used', width: 720, height: 760 },
  { name: 'account', state: 'account/passkey', width: 1040, height: 700 },
  { name: 'console', state: 'console/overview', ...CONSOLE_SIZE },
  { name: 'users', state: 'console/user', ...CONSOLE_SIZE },
  { name: 'webhooks', state: 'console/quarantine', ...CONSOLE_SIZE },
];
const SCHEMES = ['light', 'dark'];
const FOLDER = resolve(import.meta.dir, '../../src/modules/docs/guides/images');
const QUALITY = 66;
/** Rounded corners, so that the picture fits pages of both schemes. */
const FRAME = 'display: block; width: 100%; box-sizing: border-box; border: 1px solid #8886; border-radius: 12px';

const only = process.argv[2]?.split(',');
const chosen = PICTURES.filter(({ name }) => only?.includes(name) ?? true);

async function draw(page: Page, picture: Picture): Promise<void> {
  for (const scheme of SCHEMES) {
    await setSize(page, picture);
    await page.view.cdp('Emulation.setScrollbarsHidden', { hidden: true });
    await page.view.cdp('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: scheme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ],
    });
    await page.evaluate(`void document.querySelector('#toast')?.hidePopover()`);
    await page.evaluate('void (scrollTo(0, 0), document.activeElement?.blur())');
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))');
    const file = join(FOLDER, `${picture.name}-${scheme}.webp`);
    await Bun.write(file, await framed(await capture(page, { format: 'png' }), picture));
    console.log(`${file}  ${(Bun.file(file).size / 1024).toFixed(0)} KiB`);
  }
}

async function framed(png: Buffer, picture: Picture): Promise<Buffer> {
  await setSize(frame, picture);
  await frame.view.cdp('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
  const source = JSON.stringify(`data:image/png;base64,${png.toString('base64')}`);
  await frame.evaluate(
    `(() => {
      document.body.innerHTML = '<style>body { margin: 0; overflow: hidden }</style><img style="${FRAME}">';
      const image = document.querySelector('img');
      image.src = ${source};
      return image.decode().then(() => true);
    })()`,
  );
  return capture(frame, { format: 'webp', quality: QUALITY });
}

async function setSize(page: Page, { width, height }: Picture): Promise<void> {
  await page.view.cdp('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 2, mobile: false });
}

async function capture(page: Page, options: Record<string, unknown>): Promise<Buffer> {
  const { data } = (await page.view.cdp('Page.captureScreenshot', options)) as { data: string };
  return Buffer.from(data, 'base64');
}

const frame = await openBrowserPage();
const hosted = chosen.filter(({ state }) => !state.startsWith('console/'));
if (hosted.length > 0) {
  const scene = await setScene('en');
  const page = await openBrowserPage({ width: 1280, height: 900 });
  for (const picture of hosted) {
    await forgetEverything(page, scene);
    await [...STATES, ...ACCOUNT].find(({ name }) => name === picture.state)?.reach(page, scene);
    await draw(page, picture);
  }
  page.close();
  await scene.stop();
}

const inConsole = chosen.filter(({ state }) => state.startsWith('console/'));
if (inConsole.length > 0) {
  const scene = await setConsoleScene(100);
  const page = await openBrowserPage(CONSOLE_SIZE);
  for (const picture of inConsole) {
    await CONSOLE.find(({ name }) => name === picture.state)?.reach(page, scene);
    await draw(page, picture);
  }
  page.close();
  await scene.stop();
}
closeBrowser();
