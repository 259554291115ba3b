/** A server on the demo's data with its team in the console, from which every view is reached. */
import { type Demo, seedDemo } from '../demo/seed.ts';
import type { Colleague } from '../demo/team.ts';
import { emptyFolder, request, type RunningServer, signIn, startServer } from '../support/binary.ts';
import type { Page } from '../support/browser.ts';

export interface ConsoleScene {
  readonly server: RunningServer;
  readonly demo: Demo;
  /** Reads as the owner. @returns the answer's data. */
  read(path: string): Promise<any>;
  /** Changes as the owner. @throws if it is refused. */
  change(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<void>;
  /** Opens a view and waits until it is filled. @param path within `/console`. */
  open(page: Page, path: string, as?: Colleague): Promise<void>;
  stop(): Promise<void>;
}

/** Parts that still load. */
const WAITING = '.skeleton, [aria-busy=true]';

/** @param size percent of the people and their visits. */
export async function setConsoleScene(size: number): Promise<ConsoleScene> {
  const folder = emptyFolder();
  const demo = await seedDemo(folder.path, { size });
  const server = await startServer(folder.path, {}, ['--dev']);
  const tokens = new Map<Colleague, string>();
  let seated: Colleague | null = null;

  async function tokenOf(who: Colleague): Promise<string> {
    const token = tokens.get(who) ?? (await signIn(server, demo.team[who])).token;
    tokens.set(who, token);
    return token;
  }

  async function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<any> {
    const token = await tokenOf('owner');
    const { status, text, json } = await request(server, method, path, { token, ...(body && { body }) });
    if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json.data;
  }

  return {
    server,
    demo,
    read: (path) => call('GET', path),
    change: call,
    async open(page, path, as = 'owner') {
      if (seated !== as) {
        const cookie = { name: 'gatehouse', value: await tokenOf(as), url: server.url, httpOnly: true };
        await page.view.cdp('Network.setCookie', cookie);
        seated = as;
      }
      await page.open(`${server.url}/console${path}`);
      await page.untilVisible('#main :is(h1, h2), .message h1');
      await page.untilVisible(`body:not(:has(#main :is(${WAITING})))`);
    },
    async stop() {
      await server.stop();
      folder.remove();
    },
  };
}
