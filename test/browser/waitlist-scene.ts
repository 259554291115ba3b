/** An application behind a gate, and the walks of a person who is not let in yet. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'bun:test';
import { closeBrowser, openBrowserPage, type Page } from '../support/browser.ts';
import { type EphemeralServer, eventually, outboxCode, request, startEphemeral } from '../support/binary.ts';

/** The page asks about every six seconds. */
const POLL_MS = 15_000;

const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
];

export interface Application {
  readonly id: string;
  readonly clientId: string;
}

export type Waitlist = Awaited<ReturnType<typeof startWaitlist>>;

export async function startWaitlist() {
  const server: EphemeralServer = await startEphemeral();
  let people = 0;

  async function manage(method: string, path: string, body?: unknown) {
    const { status, text, json } = await request(server, method, path, { token: server.workspaceKey, body });
    if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json.data;
  }

  const setGate = ({ id }: Application, gate: 'public' | 'private_beta' | 'closed') =>
    manage('POST', `/api/applications/${id}/signin-gate`, { gate });

  return {
    manage,
    setGate,
    newAddress: () => `wait${(people += 1)}@example.com`,
    /** Moves past the cool-down of codes. */
    later: () => request(server, 'POST', '/test/clock', { body: { advanceMs: 60_000 } }),

    async stop(): Promise<void> {
      closeBrowser();
      await server.stop();
    },

    async createApplication(name: string, gate: 'closed' | 'private_beta'): Promise<Application> {
      const application = await manage('POST', '/api/applications', { name });
      for (const step of ['publish', 'go-live']) await manage('POST', `/api/applications/${application.id}/${step}`);
      await setGate(application, gate);
      return application;
    },

    async archive({ id }: Application): Promise<void> {
      const { challengeId } = await manage('POST', `/api/applications/${id}/lifecycle/send`, { kind: 'archive' });
      const code = await outboxCode(server, 'owner@example.test');
      await manage('POST', `/api/applications/${id}/lifecycle/confirm`, { challengeId, code });
    },

    /** Decides the only request of an application. */
    async decide({ id }: Application, decision: 'approve' | 'soft_decline'): Promise<void> {
      const { items } = await manage('GET', `/api/applications/${id}/beta-interests`);
      await manage('POST', `/api/applications/${id}/beta-interests/decide`, { decision, ids: [items[0].id] });
    },

    /** Returns the newest mail to an address. */
    mailTo: (email: string) =>
      eventually('the mail has come', async () => {
        const { json } = await request(server, 'GET', `/test/outbox?to=${encodeURIComponent(email)}`);
        return json.data.items[0] ?? null;
      }),

    openPage: async (size: { width: number; height: number }) => {
      const page = await openBrowserPage(size);
      const walk = walkOf(page, server);
      await walk.forget();
      return { ...page, ...walk };
    },
  };
}

export type Visitor = Awaited<ReturnType<Waitlist['openPage']>>;

/** The waitlist and the open page, for tests of {@link atBothWidths}. */
export interface WaitlistScene {
  readonly waitlist: Waitlist;
  readonly page: Visitor;
}

/** Declares tests at both widths, each with a page of its own, which must fit and have no problem at its end. */
export function atBothWidths(declare: (scene: WaitlistScene) => void): void {
  const scene = {} as { waitlist: Waitlist; page: Visitor };
  beforeAll(async () => {
    scene.waitlist = await startWaitlist();
  });
  afterAll(() => scene.waitlist.stop());
  describe.each(SIZES)('at $width px', (size) => {
    beforeEach(async () => {
      scene.page = await scene.waitlist.openPage(size);
    });
    afterEach(async () => {
      expect(scene.page.problems).toEqual([]);
      expect(await scene.page.sidewaysScroll()).toBe(0);
      scene.page.close();
    });
    declare(scene);
  });
}

function walkOf(page: Page, server: EphemeralServer) {
  async function visit({ clientId }: Application, locale = 'en'): Promise<void> {
    await page.open(`${server.url}/sign-in?${new URLSearchParams({ clientId, locale })}`);
    await page.untilReady();
  }
  const untilText = (selector: string, pattern: RegExp) =>
    eventually(
      `${selector} says ${pattern}`,
      async () => pattern.test(await page.text(selector).catch(() => '')),
      POLL_MS,
    );
  return {
    visit,
    async visitAgain(application: Application): Promise<void> {
      await page.open('about:blank');
      await visit(application);
    },
    /** Clears all that the browser remembers. */
    async forget(): Promise<void> {
      await page.open('about:blank');
      await page.view.cdp('Storage.clearDataForOrigin', { origin: server.url, storageTypes: 'all' });
    },
    async reload(): Promise<void> {
      await page.view.reload();
      await page.untilVisible('h1');
      await page.untilReady();
    },
    untilHeading: (pattern: RegExp) => untilText('h1', pattern),
    untilGate: (pattern: RegExp) => untilText('#gate', pattern),
    untilOpen: () => eventually('the gate says nothing', async () => !(await page.isVisible('#gate')), POLL_MS),
    async prove(email: string): Promise<void> {
      await page.untilVisible('#email-form');
      await page.fill('#email', email);
      await page.view.press('Enter');
      await page.untilFocused('code');
      await page.pressKeys(await outboxCode(server, email));
    },
    /** Opens the form from the line of the first step, and sends it. */
    async request(email: string): Promise<void> {
      await page.view.click('#ask-access');
      await page.untilFocused('request-email');
      await page.fill('#request-email', email);
      await page.view.press('Enter');
    },
    typedAddress: () => page.evaluate<string>(`document.querySelector('#email').value`),
    /** Returns today as the page writes it in English. */
    async today(): Promise<string> {
      const day = `new Date().toLocaleDateString('en', { day: 'numeric', month: 'long' })`;
      return (await page.evaluate<string>(day)).replaceAll(' ', '\u00a0');
    },
  };
}
