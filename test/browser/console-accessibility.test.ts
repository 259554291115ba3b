/** Every state of the console under axe-core, and whole on half a screen and on a phone, on realistic data. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type ConsoleScene, setConsoleScene } from '../shots/console-scene.ts';
import { cutOff } from '../shots/cut-off.ts';
import { CONSOLE, LIKE_ANOTHER } from '../shots/console-states.ts';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { isLong } from '../support/long.ts';
import { expectAccessible, look } from './axe.ts';

setDefaultTimeout(120_000);

/** Percentage of the demo's people, enough for some rows of every kind. */
const SMALL_DEMO = 10;

let demo: ConsoleScene;
let page: Page;

beforeAll(async () => {
  demo = await setConsoleScene(SMALL_DEMO);
  page = await openBrowserPage({ width: 1280, height: 900 });
});
afterAll(async () => {
  page.close();
  closeBrowser();
  await demo.stop();
});

const HALF_A_SCREEN = 1024;
const PHONE = 390;

const examined = CONSOLE.filter(({ name }) => isLong || !LIKE_ANOTHER.has(name));

test.each(examined.map((state, index) => [state.name, state, index] as const))(
  'no accessibility violation, and nothing cut off without a sign, at %s',
  async (_, { reach }, index) => {
    await look(page, 'light', 1280);
    page.problems.length = 0;
    await reach(page, demo);
    await expectAccessible(page, index);
    for (const width of [HALF_A_SCREEN, PHONE]) {
      await look(page, 'light', width);
      expect([width, await cutOff(page)]).toEqual([width, []]);
      expect([width, await page.sidewaysScroll()]).toEqual([width, 0]);
    }
    expect(page.problems).toEqual([]);
  },
);

test('text that is cut off is found, unless an ellipsis, a title or a way to scroll says so', async () => {
  const box = (name: string, style: string, title = '') =>
    `<div id="${name}" title="${title}" style="width:40px;white-space:nowrap;${style}">A long line of text</div>`;
  const html = [
    box('hidden', 'overflow:hidden'),
    box('clipped', 'overflow:clip'),
    box('ellipsis', 'overflow:hidden;text-overflow:ellipsis'),
    box('scrolling', 'overflow:auto'),
    box('titled', 'overflow:hidden', 'A long line of text'),
    box('wrapping', 'white-space:normal'),
    '<div style="overflow:hidden;height:10px"><p id="low">Two<br>lines</p></div>',
    box('beyond', 'margin-left:380px'),
  ];
  // The last state of the other page may ask before it is left.
  const blank = await openBrowserPage({ width: PHONE, height: 900 });
  await blank.evaluate(
    `void (document.body.innerHTML = ${JSON.stringify(`<div style="font:16px sans-serif">${html.join('')}</div>`)})`,
  );
  const found = (await cutOff(blank)).map((line) => line.replace(/ is cut.*/, ''));
  expect([...new Set(found)]).toEqual(['div#hidden', 'div#clipped', 'p#low', 'div#beyond']);
  blank.close();
});
