/** The documentation: its search, the self-contained reference and its requests, and the public guides. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { GUIDES } from '@/modules/docs/guides.ts';
import { blocksOfGuides } from '../modules/docs/blocks.ts';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, forgetPeople, openBrowserPage, type Page } from '../support/browser.ts';
import { findings, look, LOOKS } from './axe.ts';
import { leaving } from './leaving.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
let page: Page;

beforeAll(async () => {
  server = await startEphemeral();
  page = await openBrowserPage({ width: 1280, height: 900 });
});
afterAll(async () => {
  page.close();
  closeBrowser();
  await server.stop();
});

async function open(path: string, scheme = 'light', width = 1280): Promise<void> {
  await look(page, scheme, width);
  page.problems.length = page.requested.length = 0;
  await page.open(server.url + path);
}

function expectNothingFromElsewhere(): void {
  expect(page.problems).toEqual([]);
  const own = [server.url, 'about:', 'data:', 'blob:'];
  expect(page.requested.filter((url) => !own.some((start) => url.startsWith(start)))).toEqual([]);
}

const GUIDE_PATHS = GUIDES.map(({ slug }) => `/docs/guides/${slug}`);

describe('no serious accessibility violation', () => {
  // These have everything that a guide is made of: prose, code, tables and pictures.
  const paths = ['/docs', ...['webhooks', 'verify', 'errors-and-limits'].map((slug) => `/docs/guides/${slug}`)];
  test.each(paths.map((path, index) => [path, LOOKS[index % 2]!] as const))(
    'at %s',
    async (path, { scheme, width }) => {
      await open(path, scheme, width);
      expect([scheme, width, await findings(page)]).toEqual([scheme, width, []]);
    },
  );

  test('no page is wider than a phone, loads from another host, or violates its CSP', async () => {
    for (const path of ['/docs', ...GUIDE_PATHS]) {
      await open(path, 'dark', 360);
      expect([path, await page.sidewaysScroll()]).toEqual([path, 0]);
      expectNothingFromElsewhere();
    }
  });
});

describe('the reference', () => {
  /** The reference takes seconds of CPU time to start. */
  const PATIENCE_MS = 40_000;
  const sectionOf = (path: string) => `document.querySelector('section[id$="/${path}"]')`;
  const isDrawn = (path: string) =>
    eventually('the operation is drawn', () => page.evaluate<boolean>(`${sectionOf(path)} !== null`), PATIENCE_MS);

  test('shows every tag and its operations without another host, also on a phone in dark mode', async () => {
    await open('/docs/reference', 'dark', 360);
    await isDrawn('otp/send');
    const { tags } = (await request(server, 'GET', '/openapi.json?part=all')).json;
    const text = await page.evaluate<string>(`document.querySelector('#reference').textContent`);
    for (const { name } of tags) expect(text).toContain(name);
    expect(await page.sidewaysScroll()).toBe(0);
    expect(page.requested).toContain(`${server.url}/openapi.json?part=all`);
    expectNothingFromElsewhere();
  });

  test('can be read before the renderer has come, and without scripts', async () => {
    await open('/docs', 'dark', 360);
    await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: true });
    await open('/docs/reference#tag/operation/GET/healthz', 'dark', 360);
    expect(await page.text('h1')).toBe('API reference');
    const operation = 'article[id="tag/operation/GET/healthz"]';
    expect(await page.text(operation)).toContain('GET /healthz');
    const top = await page.evaluate<number>(`document.querySelector('${operation}').getBoundingClientRect().top`);
    expect(top).toBeWithin(0, 900);
    const shown = (name: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${name}')).display`);
    expect([await shown('.without-script'), await shown('.with-script')]).toEqual(['block', 'none']);
    expect(await page.sidewaysScroll()).toBe(0);
    expect(page.requested.filter((url) => url.includes('/assets/reference.'))).toEqual([]);
    await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: false });
    expect(await findings(page)).toEqual([]);
  });

  test('is drawn at the operation that is being read', async () => {
    await open('/docs');
    await page.view.cdp('Page.enable', {});
    const scroll = `document.getElementById('tag/users/POST/api/applications/{id}/users/{userId}/ban').scrollIntoView()`;
    const { identifier } = (await page.view.cdp('Page.addScriptToEvaluateOnNewDocument', {
      source: `document.addEventListener('DOMContentLoaded', () => ${scroll})`,
    })) as { identifier: string };
    await open('/docs/reference');
    await page.view.cdp('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    await isDrawn('users/{userId}/ban');
    expect(await page.evaluate<boolean>(`document.querySelector('#outline') === null`)).toBe(true);
    const top = `${sectionOf('users/{userId}/ban')}.getBoundingClientRect().top`;
    const isInView = () => page.evaluate<boolean>(`Math.abs(${top} - 56) < 300`);
    await eventually('it is in view', isInView, PATIENCE_MS);
  });

  test('finds an operation, which can be called on this instance', async () => {
    await open('/docs');
    await page.view.press('/');
    await page.untilFocused('search');
    await page.view.type('healthz');
    await page.untilText('#found', /GET \/healthz/);
    await leaving(page, () => page.view.press('Enter'));
    expect(decodeURIComponent((await page.address()).href)).toEndWith('/docs/reference#tag/operation/GET/healthz');
    await isDrawn('operation/GET/healthz');
    const section = sectionOf('operation/GET/healthz');
    const top = () => page.evaluate<number>(`${section}.getBoundingClientRect().top`);
    await eventually('it is in view', async () => Math.abs((await top()) - 56) < 300, PATIENCE_MS);
    const tryIt = `${section}.querySelector('.show-api-client-button')`;
    await eventually('it can be tried', () => page.evaluate<boolean>(`${tryIt} !== null`), PATIENCE_MS);
    await page.evaluate(`void ${tryIt}.click()`);
    const send = `[...document.querySelectorAll('button.scalar-button-solid')].find((one) => one.checkVisibility() && one.innerText.includes('Send'))`;
    // The client takes the focus when it is ready.
    const isReady = `${send} !== undefined && document.activeElement.closest('[role=dialog]') !== null`;
    await eventually('it can be sent', () => page.evaluate<boolean>(isReady), PATIENCE_MS);
    await page.evaluate(`void ${send}.click()`);
    await page.untilText('[role=dialog]', /200\s*OK/);
    expect(page.requested).toContain(`${server.url}/healthz`);
    expectNothingFromElsewhere();
  });
});

describe('the search', () => {
  test('works with the keyboard, and says when it finds nothing', async () => {
    await open('/docs');
    await page.view.press('/');
    await page.untilFocused('search');
    await page.view.type('zzzz');
    await page.untilText('#found-none', /Nothing found for “zzzz”/);
    await page.view.press('Escape');
    expect(await page.isVisible('#found-none')).toBe(false);
    await page.view.press('/');
    await page.view.type('membership_blocked');
    await page.untilText('#found [aria-selected=true]', /^membership_blocked\s*Error code/);
    await leaving(page, () => page.view.press('Enter'));
    expect((await page.address()).href).toEndWith('/docs/guides/errors-and-limits#membership_blocked');
    await page.untilVisible('#membership_blocked');
    await page.view.press('/');
    await page.view.type('rotate secret');
    await page.untilText('#found [aria-selected=true]', /^Rotate the secret/);
    await page.view.press('ArrowDown');
    await page.untilText('#found [aria-selected=true]', /^(?!Rotate the secret)/);
    await page.view.press('ArrowUp');
    expect(await findings(page)).toEqual([]);
    await leaving(page, () => page.view.press('Enter'));
    expect((await page.address()).href).toEndWith('/docs/guides/webhooks#rotate-the-secret');
    expectNothingFromElsewhere();
  });
});

describe('a guide', () => {
  test('is readable and links its neighbours without scripts, and its contents open at 360 pixels', async () => {
    await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: true });
    await open('/docs/guides/webhooks', 'light', 360);
    expect(await page.text('h1')).toBe('Receive webhooks');
    expect(await page.isVisible('.copy')).toBe(false);
    const click = (selector: string) => page.evaluate(`void document.querySelector('${selector}').click()`);
    await click('.menu');
    await page.untilVisible('#contents');
    await leaving(page, () => click('#contents a[href="/docs/guides/verify"]'));
    expect(await page.text('h1')).toBe('Verify in a backend');
    await page.view.cdp('Emulation.setScriptExecutionDisabled', { value: false });
  });

  test('has code blocks that can be copied', async () => {
    await open('/docs/guides/webhooks');
    await page.evaluate(`void document.querySelector('.copy').focus()`);
    await page.view.press('Enter');
    await page.untilText('.copy', /Copied|Press/);
    expectNothingFromElsewhere();
  });
});

describe('the example page of a guide', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-guide-page-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(['ts', 'js'])('in %s signs in, and rejects a token that it did not request', async (language) => {
    const { code = '' } = blocksOfGuides(server.url).find(({ name }) => name === `on-a-page ${language} 0`) ?? {};
    const entry = join(folder, `page.${language}`);
    const client = resolve(import.meta.dir, '../../src/client/gatehouse.ts');
    await Bun.write(entry, code.replace('cli_…', server.clientId).replace("'gatehouse'", `'${client}'`));
    const built = await Bun.build({ entrypoints: [entry], target: 'browser' });
    const script = await built.outputs[0]!.text();
    const html =
      '<!doctype html><title>Shop</title><button id="sign-in">Sign in</button><script type="module" src="/page.js"></script>';
    const shop = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      routes: {
        '/': new Response(html, { headers: { 'content-type': 'text/html' } }),
        '/page.js': new Response(script, { headers: { 'content-type': 'text/javascript' } }),
      },
    });
    const kept = () => page.evaluate<string | null>('sessionStorage.getItem("token")');
    await forgetPeople(page.view);
    await page.open(shop.url.href);
    await leaving(page, () => page.view.click('#sign-in'));
    await page.untilFocused('email');
    const email = `${language}@example.com`;
    await page.fill('#email', email);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    const code6 = await outboxCode(server, email);
    await leaving(page, () => page.pressKeys(code6));
    const token = await eventually('it has the token', kept);
    expect((await page.address()).hash).toBe('');
    const verdict = await request(server, 'POST', '/api/v1/verify', { token: server.workspaceKey, body: { token } });
    expect(verdict.json.data.email).toBe(email);

    await page.evaluate('sessionStorage.clear()');
    await page.open(`${shop.url.href}?state=1#token=est_0`);
    expect(await kept()).toBeNull();
    await shop.stop(true);
  });
});
