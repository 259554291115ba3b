/** Every mail in a browser, as mail programs draw it: readable in light and dark, and within a phone's width. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type Filling, LETTERS } from '../support/letters.ts';
import { expectAccessible, look } from './axe.ts';

setDefaultTimeout(120_000);

/** Longer than a line of a phone, as one word. */
const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

const filling = (name: string): Filling => ({
  application: {
    name,
    workspaceId: 'ws_1',
    clientId: 'cli_1',
    supportEmail: null,
    support: 'https://harbour.example/help/account-and-sign-in',
    logoUrl: null,
    logoDarkUrl: null,
    accentColor: '#0f766e',
  },
  name,
  url: 'https://id.harbour.example/account/devices?clientId=cli_01kat1h5ppe3bv2d9g3wq5r1xm',
  host: 'id.harbour.example',
  email: 'ada@example.com',
  line: name,
});

let page: Page;
let server: Bun.Server<undefined>;

beforeAll(async () => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const { pathname, searchParams } = new URL(url);
      const make = LETTERS[decodeURIComponent(pathname.slice(1))];
      if (!make) return new Response(null, { status: 204 });
      const { html } = make(searchParams.get('locale') as 'de', filling(searchParams.get('name') ?? ''));
      return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    },
  });
  page = await openBrowserPage({ width: 360, height: 740 });
});
afterAll(async () => {
  page.close();
  closeBrowser();
  await server.stop(true);
});

const open = (kind: string, locale: string, name: string) =>
  page.open(`http://127.0.0.1:${server.port}/${encodeURIComponent(kind)}?${new URLSearchParams({ locale, name })}`);

/** Rules about whole pages: a mail is a part of the mail client's. */
const OF_PAGES = ['landmark-one-main', 'region'];
/** Rules about colours, which are the same in all languages. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

describe('every mail', () => {
  test.each(['de', 'el'])('fits a phone in %s, even with a name that is one very long word', async (locale) => {
    for (const kind of Object.keys(LETTERS)) {
      await look(page, 'light', 360);
      await open(kind, locale, LONG);
      expect([kind, await page.sidewaysScroll()]).toEqual([kind, 0]);
    }
  });

  test.each(['en', 'de', 'el'])('is readable for everybody in %s, in light and dark', async (locale) => {
    for (const [index, kind] of Object.keys(LETTERS).entries()) {
      await open(kind, locale, 'Harbour');
      if (locale === 'en') await expectAccessible(page, 0, OF_PAGES);
      else await expectAccessible(page, index, [...OF_PAGES, ...OF_COLOURS]);
    }
  });
});
