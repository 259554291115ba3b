/** A logo and an icon uploaded in the console, as the application's pages show them in light and dark mode. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { BLUE, type Colour, png, RED } from '../modules/images/pictures.ts';
import { type EphemeralServer, emptyFolder, eventually, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { expectAccessible } from './axe.ts';
import { type ConsolePage, openConsole } from './console-page.ts';

setDefaultTimeout(120_000);

const CLEAR: Colour = [0, 0, 0, 0];
const FILES: readonly (readonly [name: string, content: Uint8Array])[] = [
  ['logo.png', mark(480, 120, BLUE)],
  ['logo-dark.png', mark(480, 120, RED)],
  ['icon.png', mark(200, 200, BLUE)],
  ['logo.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
];

let server: EphemeralServer;
let folder: ReturnType<typeof emptyFolder>;
let page: Page | undefined;

beforeAll(async () => {
  folder = emptyFolder();
  for (const [name, content] of FILES) await Bun.write(join(folder.path, name), content);
  server = await startEphemeral();
});
afterEach(() => page?.close());
afterAll(async () => {
  closeBrowser();
  await server.stop();
  folder.remove();
});

/** Draws a disc without a background. */
function mark(width: number, height: number, colour: Colour) {
  return png(width, height, (x, y) => (Math.hypot(x - height / 2, y - height / 2) < height / 2 ? colour : CLEAR), {
    hasAlpha: true,
  });
}

async function choose(opened: ConsolePage, kind: string, file: string): Promise<void> {
  const { root } = (await opened.view.cdp('DOM.getDocument')) as { root: { nodeId: number } };
  const { nodeId } = (await opened.view.cdp('DOM.querySelector', {
    nodeId: root.nodeId,
    selector: `#${kind}-file`,
  })) as { nodeId: number };
  await opened.view.cdp('DOM.setFileInputFiles', { nodeId, files: [join(folder.path, file)] });
}

const scheme = (opened: Page, value: 'light' | 'dark') =>
  opened.view.cdp('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });

const logo = (opened: Page) =>
  opened.evaluate<{ path: string; width: number; height: number }>(`(() => {
    const image = document.querySelector('#logo');
    return { path: URL.parse(image.currentSrc)?.pathname ?? '', width: image.naturalWidth, height: image.height };
  })()`);

test('a logo is uploaded in the console, and an SVG is refused at its row', async () => {
  const opened = await openConsole(server);
  page = opened;
  await opened.go(`/applications/${server.applicationId}/settings/branding`);
  await opened.untilVisible('#logo-upload');
  await choose(opened, 'logo', 'logo.svg');
  await opened.untilText('#logo-file-error', /JPEG, PNG, WebP/);
  for (const kind of ['logo', 'logo-dark', 'icon']) {
    await choose(opened, kind, `${kind}.png`);
    await opened.untilVisible(`#${kind}-image`);
  }
  expect(await opened.text('#logo-file-error')).toBe('');
  await eventually('the preview has the logos', () =>
    opened.evaluate<boolean>(`['light', 'dark'].every((scheme) => {
      const file = scheme === 'dark' ? 'logo-dark.png' : 'logo.png';
      return document.querySelector('#preview-' + scheme)?.shadowRoot?.querySelector('#logo')?.src.includes('/' + file);
    })`),
  );
  expect(await opened.sidewaysScroll()).toBe(0);
  await expectAccessible(opened, 0);
});

test.each([360, 1280])('pages show it at %i px, in both schemes, from this host alone', async (width) => {
  page = await openBrowserPage({ width, height: 800 });
  await scheme(page, 'light');
  const address = `${server.url}/sign-in?${new URLSearchParams({ clientId: server.clientId })}`;
  await page.open(address);
  await page.untilVisible('#logo');
  const folderOfUploads = `/cdn/applications/${server.applicationId}`;
  await eventually('the logo has loaded', async () => (await logo(page!)).width === 352);
  expect(await logo(page)).toEqual({ path: `${folderOfUploads}/logo.png`, width: 352, height: 44 });
  await scheme(page, 'dark');
  await eventually(
    'the logo for dark mode is shown',
    async () => (await logo(page!)).path === `${folderOfUploads}/logo-dark.png`,
  );
  expect(await page.evaluate<string>('document.querySelector("link[rel=icon]").href')).toStartWith(
    `${server.url}${folderOfUploads}/icon.png?v=`,
  );
  await page.open(`${address}&returnTo=https://evil.example/`);
  await page.untilVisible('#logo');
  expect(page.requested.filter((url) => !url.startsWith(server.url) && !url.startsWith('data:'))).toEqual([]);
  expect(page.problems).toEqual([]);
  expect(await page.sidewaysScroll()).toBe(0);
  await expectAccessible(page, 0);
});

test('a removed logo gives way to the first letter, and the console says so', async () => {
  const opened = await openConsole(server);
  page = opened;
  await opened.go(`/applications/${server.applicationId}/settings/branding`);
  await opened.untilVisible('#logo-remove');
  await opened.press('#logo-remove');
  await opened.untilSaid(/^Removed/);
  expect(await opened.text('#logo-upload')).toMatch(/^Upload/);
  await opened.open(`${server.url}/sign-in?${new URLSearchParams({ clientId: server.clientId })}`);
  await opened.untilVisible('.tile');
});
