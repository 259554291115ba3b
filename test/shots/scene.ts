/** A server with believable data and a browser, from which every state of the pages is reached. */
import {
  type EphemeralServer,
  emptyFolder,
  outboxCode,
  request,
  type RunningServer,
  startEphemeral,
  startServer,
} from '../support/binary.ts';
import type { Page } from '../support/browser.ts';
import { addAuthenticator, type VirtualAuthenticator } from '../browser/virtual-authenticator.ts';

export interface Application {
  readonly id: string;
  readonly clientId: string;
}

/** The state of an application; live and open to everyone by default. */
type Standing = 'public' | 'private_beta' | 'closed' | 'draft';

export interface State {
  /** The name, as in `page/state`. */
  readonly name: string;
  /** Leaves the page at the state. */
  reach(page: Page, scene: Scene): Promise<void>;
}

export interface Scene {
  /** Captures its mail; reached by name, since an IP address has no passkeys. */
  readonly server: EphemeralServer;
  /** The same server at its own base URL, since cookies are set only there. */
  readonly ownUrl: string;
  /** A server on an empty folder, without an owner and a mail server. */
  readonly fresh: RunningServer;
  readonly locale: string;
  /** Returns an unused address. */
  newEmail(name?: string): string;
  manage(method: string, path: string, body?: unknown): Promise<any>;
  application(standing?: Standing, name?: string): Promise<Application>;
  archive(application: Application): Promise<void>;
  /** Creates a person with a filled account. @returns their session. */
  person(email: string, application: Application): Promise<{ readonly token: string; readonly userId: string }>;
  /** Triggers mails that no state leads to: to the team, and to people on the waitlist. */
  sendMails(): Promise<void>;
  /** Returns the address of a page in the language of the scene. */
  address(path: string, parameters?: Record<string, string>): string;
  stop(): Promise<void>;
}

/** A realistically long name. */
export const LONG_NAME = 'Donaudampfschifffahrtsgesellschaft Kundenbereich und Frachtverwaltung';

const ACCENT = '#0f766e';
const BRANDING = {
  accentColor: ACCENT,
  homeUrl: 'https://harbour.example/',
  supportEmail: 'help@harbour.example',
};
const LEGAL = {
  terms: 'https://harbour.example/terms',
  privacy: 'https://harbour.example/privacy',
  imprint: 'https://harbour.example/imprint',
};
const PROVIDER = { GATEHOUSE_GOOGLE_CLIENT_ID: 'harbour', GATEHOUSE_GOOGLE_CLIENT_SECRET: 'only for show' };

export async function setScene(locale: string): Promise<Scene> {
  const folder = emptyFolder();
  const [running, fresh] = await Promise.all([startEphemeral([], PROVIDER), startServer(folder.path)]);
  const server = { ...running, url: running.url.replace('127.0.0.1', 'localhost') };
  let people = 0;

  async function call(token: string, method: string, path: string, body?: unknown) {
    const { status, text, json } = await request(server, method, path, { token, body });
    if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json.data;
  }
  const manage = (method: string, path: string, body?: unknown) => call(server.workspaceKey, method, path, body);

  async function application(standing: Standing = 'public', name = 'Harbour'): Promise<Application> {
    const made = await manage('POST', '/api/applications', { name, branding: BRANDING });
    await manage('PATCH', `/api/applications/${made.id}`, { legalUrls: LEGAL });
    if (standing === 'draft') return made;
    for (const step of ['publish', 'go-live']) await manage('POST', `/api/applications/${made.id}/${step}`);
    await manage('POST', `/api/applications/${made.id}/signin-gate`, { gate: standing });
    return made;
  }

  const passMinute = () => request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });

  /** Opens a session from another browser. */
  async function signInWith(
    agent: string,
    email: string,
    clientId: string,
  ): Promise<{ token: string; userId: string }> {
    const headers = { 'user-agent': agent };
    const post = async (path: string, body: object) =>
      (await request(server, 'POST', `/api/v1/auth/otp/${path}`, { body, headers })).json.data;
    const { challengeId } = await post('send', { email, clientId, locale });
    return post('verify', { challengeId, code: await outboxCode(server, email) });
  }

  async function connectDevice(give: typeof manage, client_id: string): Promise<void> {
    const ask = async (step: string, body: object) =>
      (await request(server, 'POST', `/api/v1/device/${step}`, { body: { client_id, ...body } })).json;
    const { user_code, device_code } = await ask('code', { device_name: 'harbour-cli on build-07' });
    await give('POST', '/device/approve', { user_code });
    await request(server, 'POST', '/test/clock', { body: { advanceMs: 6_000 } });
    await ask('token', { device_code });
  }

  return {
    server,
    ownUrl: running.url,
    fresh,
    locale,
    newEmail: (name = 'ada.lovelace') => `${name}${(people += 1) > 1 ? people : ''}@example.com`,
    manage,
    application,
    async archive({ id }) {
      const path = `/api/applications/${id}/lifecycle`;
      const { challengeId } = await manage('POST', `${path}/send`, { kind: 'archive' });
      await manage('POST', `${path}/confirm`, { challengeId, code: await outboxCode(server, 'owner@example.test') });
    },
    async person(email, { clientId }) {
      const { token, userId } = await signInWith(DESKTOP, email, clientId);
      const give = (method: string, path: string, body: unknown) => call(token, method, `/api/account${path}`, body);
      await give('PATCH', '/profile/identity', {
        givenName: 'Ada',
        familyName: 'Lovelace',
        fullName: 'Ada Lovelace',
        locale,
      });
      await give('PATCH', '/username', { username: `ada${people}` });
      await give('PUT', '/profile/region', {
        country: 'AT',
        currency: 'EUR',
        timeZone: 'Europe/Vienna',
        measurementSystem: 'metric',
      });
      for (const address of [HOME, OFFICE]) await give('POST', '/profile/addresses', address);
      await give('POST', '/profile/entities', ENTITY);
      await give('POST', '/profile/languages', { code: 'de', level: 'NATIVE' });
      await connectDevice(give, clientId);
      await passMinute();
      await signInWith(PHONE, email, clientId);
      return { token, userId };
    },
    async sendMails() {
      await manage('POST', '/api/workspace/members', { email: 'grace.hopper@example.com', role: 'admin' });
      const { id } = await application('private_beta');
      const beta = `/api/applications/${id}`;
      for (const [kind, email] of [
        ['request', 'grace.hopper@example.com'],
        ['notify', 'mary.somerville@example.com'],
      ])
        await request(server, 'POST', `${beta}/public/access-interest`, { body: { email, kind } });
      const { items } = await manage('GET', `${beta}/beta-interests`);
      for (const interest of items as { id: string; status: string }[])
        if (interest.status === 'pending')
          await manage('POST', `${beta}/beta-interests/${interest.id}/approve`, { notify: true });
      await manage('POST', `${beta}/signin-gate`, { gate: 'public' });
      await manage('POST', `${beta}/lifecycle/send`, { kind: 'delete' });
      await passMinute();
    },
    address: (path, parameters = {}) => `${server.url}${path}?${new URLSearchParams({ ...parameters, locale })}`,
    async stop() {
      await Promise.all([running.stop(), fresh.stop()]);
      folder.remove();
    },
  };
}

const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

const HOME = {
  kind: 'shipping',
  label: 'Home',
  recipient: 'Ada Lovelace',
  line1: 'Lindengasse 12',
  city: 'Wien',
  postalCode: '1070',
  country: 'AT',
};
const OFFICE = {
  ...HOME,
  kind: 'billing',
  label: 'Office',
  company: 'Analytical Engines Ltd',
  line1: '12 St James’s Square',
};
const ENTITY = {
  country: 'GB',
  legalName: 'Analytical Engines Ltd',
  taxId: 'GB123456789',
  registrationNumber: '01234567',
};

/** Clears the browser's data of earlier states. */
export async function forgetEverything(page: Page, { server, ownUrl, fresh }: Scene): Promise<void> {
  await page.open('about:blank');
  await keepers.get(page)?.clear();
  for (const origin of [server.url, ownUrl, fresh.url])
    await page.view.cdp('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
}

/** Requests a code on the open page. */
export async function askForCode(page: Page, email: string): Promise<void> {
  await page.untilVisible('#email-form');
  await page.fill('#email', email);
  await page.view.press('Enter');
  await page.untilVisible('#code-form');
}

/** Signs in on the open page, or is refused. */
export async function signInHere(page: Page, { server }: Scene, email: string): Promise<void> {
  await askForCode(page, email);
  await page.pressKeys(await outboxCode(server, email));
}

/** Scrolls to an element and clicks it. */
export async function press(page: Page, selector: string): Promise<void> {
  await page.untilVisible(selector);
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'center' })`);
  await page.view.click(selector);
}

const keepers = new WeakMap<Page, VirtualAuthenticator>();

/** Lets the browser store passkeys from now on. */
export async function withPasskeys(page: Page): Promise<void> {
  if (!keepers.has(page)) keepers.set(page, await addAuthenticator(page));
}

/** Signs two people in to the application's pages, one after the other, in this browser. */
export async function signInTwice(page: Page, scene: Scene, application: Application): Promise<Application> {
  for (const name of ['grace.hopper', 'ada.lovelace']) {
    await page.open(scene.address('/account', { clientId: application.clientId }));
    await page.untilVisible('#email-form, #account-menu');
    if (await page.isVisible('#account-menu')) {
      await press(page, '#account-menu');
      await press(page, '#another-account');
      await page.untilVisible('#email-form');
    }
    await signInHere(page, scene, scene.newEmail(name));
    await page.untilVisible('main.account-part h1');
  }
  return application;
}
