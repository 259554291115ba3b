/**
 * A real headless Chromium: the installed one, else the bundled one of the dev dependency `@sparticuz/chromium`.
 * `GATEHOUSE_TEST_BROWSER=bundled` always takes the bundled one, which lacks a desktop's parts and needs a third of the CPU
 * time. `BUN_CHROME_PATH` names any other.
 */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { eventually } from './binary.ts';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-gpu',
  '--disable-quic',
  // Containers often have a /dev/shm of 64 MB, which a renderer outgrows.
  '--disable-dev-shm-usage',
];

const INSTALLED = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PHONE = { width: 360, height: 740 };

export interface Page {
  readonly view: Bun.WebView;
  /**
   * Uncaught errors, errors and warnings on the console, policy violations, and resources that did not load. Excludes
   * refusals of the API and of the document itself, which tests provoke.
   */
  readonly problems: string[];
  /** Every address that the page requested. */
  readonly requested: string[];
  open(url: string): Promise<void>;
  /** Evaluates one expression in the page; again in the next one if a navigation cuts it off. */
  evaluate<Result>(expression: string): Promise<Result>;
  address(): Promise<URL>;
  isVisible(selector: string): Promise<boolean>;
  /** Returns the visible text. */
  text(selector: string): Promise<string>;
  untilVisible(selector: string): Promise<void>;
  /** Waits for the script of a hosted page: until then the buttons that the server has rendered do nothing. */
  untilReady(): Promise<void>;
  /** Waits for the focus: a page focuses its field some time after it has loaded. */
  untilFocused(id: string): Promise<void>;
  /** Waits a while for what loads, as a person does: the rows that come move the buttons below them. */
  untilLoaded(): Promise<void>;
  untilText(selector: string, pattern: RegExp): Promise<string>;
  untilAddress(pattern: RegExp): Promise<URL>;
  /** Clicks into the field and replaces its text; the focus stays there. */
  fill(selector: string, text: string): Promise<void>;
  /** Presses the keys of a text one after the other. */
  pressKeys(text: string): Promise<void>;
  /** Pastes a text into the focused field, as from the clipboard. */
  paste(text: string): Promise<void>;
  /** Returns how far the page can be scrolled sideways, in pixels; 0 if it fits. */
  sidewaysScroll(): Promise<number>;
  close(): void;
}

/** Some pages load forever where a test keeps their server away. */
const LOADING_LOOKS = 40;
const LOADING_MS = 50;

/** Errors of an evaluation whose document a navigation replaced; the new one evaluates it again. */
const CUT_OFF = /navigated or closed|context was destroyed|cannot find context/i;
/** Expressions that act, and lead to a navigation themselves. */
const ACTION = /\.(?:click|submit|requestSubmit|dispatchEvent|back|forward|go|reload)\(/;

function unlessCutOff(error: unknown): void {
  if (!CUT_OFF.test(String(error))) throw error;
}

let openPages = 0;

/** Deletes the cookies of applications; an operator stays signed in to the console. */
export async function forgetPeople(view: Bun.WebView): Promise<void> {
  const { cookies } = await view.cdp<{ cookies: { name: string; domain: string; path: string }[] }>(
    'Network.getAllCookies',
  );
  for (const { name, domain, path } of cookies)
    if (name.includes('gatehouse-')) await view.cdp('Network.deleteCookies', { name, domain, path });
}

/** Opens a new tab at the width of a small phone. The first one is a new person's, whom no cookie knows. */
export async function openBrowserPage(size = PHONE): Promise<Page> {
  const problems: string[] = [];
  const requested: string[] = [];
  let documentUrl = '';
  const view = new Bun.WebView({
    ...size,
    backend: { type: 'chrome', url: false, path: await browserPath(), argv: ARGUMENTS },
    console: (type, ...values) => {
      if (type === 'error' || type === 'warn' || type === 'warning')
        problems.push(`console.${type}: ${values.join(' ')}`);
    },
  });
  for (const act of ['click', 'press', 'type'] as const) {
    const original = view[act].bind(view) as (...given: unknown[]) => Promise<void>;
    view[act] = (...given: unknown[]) => original(...given).catch(unlessCutOff);
  }
  await view.navigate('about:blank');
  const listen = <Data>(type: string, listener: (data: Data) => void) =>
    view.addEventListener(type, (event: Event) => listener((event as Event & { data: Data }).data));
  listen<LogEntryAdded>('Log.entryAdded', ({ entry }) => {
    const { source, level, text, url = '' } = entry;
    const isProvoked = source === 'network' && (url === documentUrl || new URL(url).pathname.startsWith('/api/'));
    if (level !== 'verbose' && level !== 'info' && !isProvoked) problems.push(`${source}: ${text} ${url}`);
  });
  listen<ExceptionThrown>('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    problems.push(`uncaught: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  });
  listen<RequestWillBeSent>('Network.requestWillBeSent', ({ request, type }) => {
    requested.push(request.url);
    if (type === 'Document') documentUrl = request.url;
  });
  for (const domain of ['Log', 'Runtime', 'Network']) await view.cdp(`${domain}.enable`);
  if (openPages === 0) await forgetPeople(view);
  openPages += 1;

  async function evaluate<Result>(expression: string): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await view.evaluate<Result>(expression);
      } catch (error) {
        if (tries === LOADING_LOOKS) throw error;
        unlessCutOff(error);
        if (ACTION.test(expression)) return undefined as Result;
        await Bun.sleep(LOADING_MS);
      }
    }
  }
  const call = <Result>(body: string, ...values: unknown[]) =>
    evaluate<Result>(`((...values) => { ${body} })(${values.map((value) => JSON.stringify(value)).join(', ')})`);
  const isNewDocument = () =>
    evaluate<boolean>(`!window.isLeft && document.readyState !== 'loading'`).catch(() => false);
  const reload = view.reload.bind(view);
  view.reload = async () => {
    await evaluate('void (window.isLeft = true)');
    await reload();
    // The document before must not answer the next questions.
    await eventually('the page is loaded again', isNewDocument);
  };
  const page: Page = {
    view,
    problems,
    requested,
    evaluate,
    async open(url) {
      await evaluate('void (window.isLeft = true)');
      await view.navigate(url).catch((error: unknown) => {
        unlessCutOff(error);
        // The page before was on its way elsewhere, as after a form.
        return view.navigate(url);
      });
      // The document before may have ended its own load only now.
      if (!url.includes('#')) await eventually(`${url} is loaded`, isNewDocument);
    },
    address: async () => new URL(await evaluate<string>('location.href')),
    isVisible: (selector) =>
      call(
        'const found = document.querySelector(values[0]); return found !== null && found.checkVisibility();',
        selector,
      ),
    text: (selector) => call('return document.querySelector(values[0])?.innerText.trim() ?? "";', selector),
    async untilVisible(selector) {
      // An evaluation fails while a navigation is in progress.
      await eventually(`${selector} is visible`, () => page.isVisible(selector).catch(() => false));
    },
    async untilReady() {
      await eventually('the page is ready', () =>
        evaluate<boolean>(`document.documentElement.dataset.ready === ''`).catch(() => false),
      );
    },
    async untilFocused(id) {
      const focused = () => evaluate<string>('document.activeElement?.id ?? ""').catch(() => '');
      await eventually(`the cursor is in #${id}`, async () => (await focused()) === id);
    },
    async untilText(selector, pattern) {
      let text = '';
      const isSaid = eventually(`${selector} says ${pattern}`, async () => {
        text = await page.text(selector).catch(() => '');
        return pattern.test(text) ? text : null;
      });
      return isSaid.catch(async (error: Error) => {
        throw new Error(`${error.message}; at ${await evaluate<string>('location.href')} it says: ${text}`);
      });
    },
    async untilLoaded() {
      for (let looks = 0; looks < LOADING_LOOKS; looks += 1) {
        if (await evaluate<boolean>(`document.querySelector('.skeleton') === null`)) return;
        await Bun.sleep(LOADING_MS);
      }
    },
    untilAddress(pattern) {
      return eventually(`the address is ${pattern}`, async () => {
        // An evaluation fails while a navigation is in progress.
        const address = await page.address().catch(() => null);
        return address && pattern.test(address.href) ? address : null;
      });
    },
    async fill(selector, text) {
      await view.click(selector);
      await call('document.querySelector(values[0]).select();', selector);
      await view.type(text);
    },
    async pressKeys(text) {
      for (const key of text) await view.press(key);
    },
    async paste(text) {
      await call(
        `const clipboardData = new DataTransfer();
         clipboardData.setData('text/plain', values[0]);
         const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
         document.activeElement.dispatchEvent(event);`,
        text,
      );
    },
    async sidewaysScroll() {
      // A document has no element yet where its address has just been reached.
      await eventually('the page has a body', () => evaluate('document.body !== null'));
      return evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    },
    close() {
      openPages -= 1;
      view.close();
    },
  };
  return page;
}

/** Ends the browser; the next page starts a new one. */
export function closeBrowser(): void {
  openPages = 0;
  Bun.WebView.closeAll();
}

let path: Promise<string> | undefined;

/** Returns the browser's executable; looked up, or unpacked, once per process. */
function browserPath(): Promise<string> {
  return (path ??= (async () => {
    const isBundledAsked = process.env['GATEHOUSE_TEST_BROWSER'] === 'bundled';
    return (isBundledAsked ? null : installedBrowser()) ?? bundledBrowser();
  })());
}

function installedBrowser(): string | null {
  const given = process.env['BUN_CHROME_PATH'];
  return given || (INSTALLED.map((name) => Bun.which(name)).find((found) => found !== null) ?? null);
}

/**
 * Unpacks the browser from the package's archive, once per machine. Test files that unpack at the same time use a
 * folder each, and the first to finish renames its own to the shared name.
 */
async function bundledBrowser(): Promise<string> {
  const version = `${manifest.devDependencies['@sparticuz/chromium']}-${Bun.hash(LAUNCHER).toString(36)}`;
  const home = join(tmpdir(), `gatehouse-chromium-${version}`);
  const launcher = join(home, 'launch');
  if (existsSync(launcher)) return launcher;
  const unpacked = mkdtempSync(`${home}-`);
  // For that environment the package also unpacks the libraries that a bare machine lacks.
  const child = Bun.spawn(
    [process.execPath, '-e', "await (await import('@sparticuz/chromium')).default.executablePath()"],
    {
      cwd: import.meta.dir,
      env: { ...process.env, TMPDIR: unpacked, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' },
      stdout: 'ignore',
      stderr: 'inherit',
    },
  );
  if ((await child.exited) !== 0) throw new Error('the bundled Chromium could not be unpacked');
  await Bun.write(join(unpacked, 'fonts', 'fonts.conf'), FONTS);
  await Bun.write(join(unpacked, 'launch'), LAUNCHER);
  await Bun.$`chmod +x ${join(unpacked, 'launch')}`;
  try {
    renameSync(unpacked, home);
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true });
    if (!existsSync(launcher)) throw error;
  }
  return launcher;
}

/** Adds the bundled libraries and fonts only where this machine has none. */
const LAUNCHER = `#!/bin/sh
home=$(dirname "$0")
ldd "$home/chromium" 2>&1 | grep -q -e 'not found' -e 'error while loading' &&
  export LD_LIBRARY_PATH="$home/al2023/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$home/fonts/fonts.conf"
# The locale of a bare machine would give navigator.language a name that is no language tag.
export LC_ALL=en_US.UTF-8
exec "$home/chromium" "$@"
`;

const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

interface LogEntryAdded {
  readonly entry: { readonly source: string; readonly level: string; readonly text: string; readonly url?: string };
}

interface ExceptionThrown {
  readonly exceptionDetails: { readonly text: string; readonly exception?: { readonly description?: string } };
}

interface RequestWillBeSent {
  readonly request: { readonly url: string };
  readonly type?: string;
}
