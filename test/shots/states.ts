/** Every state of the hosted pages with the steps that reach it. */
import { AppError } from '../../src/core/error.ts';
import type { Locale } from '../../src/core/locale.ts';
import { renderProblemPage } from '../../src/pages/problem/page.tsx';
import { outboxCode, request } from '../support/binary.ts';
import type { Page } from '../support/browser.ts';
import { ACCOUNT } from './account-states.ts';
import { OPENID } from './openid-states.ts';
import {
  type Application,
  askForCode,
  LONG_NAME,
  press,
  type Scene,
  signInHere,
  signInTwice,
  type State,
  withPasskeys,
} from './scene.ts';

async function openSignIn(page: Page, scene: Scene, { clientId }: Application): Promise<void> {
  await page.open(scene.address('/sign-in', { clientId }));
}

/** Enters a right code and is refused. */
async function refused(page: Page, scene: Scene, application: Application, email = scene.newEmail()): Promise<void> {
  await openSignIn(page, scene, application);
  await signInHere(page, scene, email);
  await page.untilVisible('#refused');
}

/** Signs in with an address that has requested access before. */
async function waiting(page: Page, scene: Scene, application: Application, email: string): Promise<void> {
  const body = { kind: 'request', email };
  await request(scene.server, 'POST', `/api/applications/${application.id}/public/access-interest`, { body });
  await refused(page, scene, application, email);
}

async function wrongCode(page: Page, { server }: Scene, email: string): Promise<void> {
  const code = await outboxCode(server, email);
  await page.fill('#code', code === '000000' ? '000001' : '000000');
  await page.untilText('#code-error', /\S/);
  await page.untilVisible('#code:not([readonly])');
}

const SIGN_IN: readonly State[] = [
  { name: 'sign-in/start', reach: async (page, scene) => openSignIn(page, scene, await scene.application()) },
  {
    name: 'sign-in/long-name',
    reach: async (page, scene) => openSignIn(page, scene, await scene.application('public', LONG_NAME)),
  },
  {
    name: 'sign-in/last-used',
    async reach(page, scene) {
      const application = await scene.application();
      await openSignIn(page, scene, application);
      const last = JSON.stringify({ method: 'provider', email: 'ada.lovelace@example.com' });
      await page.evaluate(`localStorage.setItem('gatehouse.last-sign-in', ${JSON.stringify(last)})`);
      await page.open('about:blank');
      await openSignIn(page, scene, application);
    },
  },
  {
    name: 'sign-in/passkey-first',
    async reach(page, scene) {
      const application = await scene.application();
      await openSignIn(page, scene, application);
      await page.evaluate(`document.cookie = 'gatehouse.method=passkey; Path=/'`);
      await page.open('about:blank');
      await openSignIn(page, scene, application);
      await page.untilVisible('#passkey.primary');
      await page.evaluate(`document.cookie = 'gatehouse.method=passkey; Path=/; Max-Age=0'`);
    },
  },
  {
    name: 'sign-in/accounts',
    async reach(page, scene) {
      await signInTwice(page, scene, await scene.application());
      const { clientId } = await scene.application();
      await page.open(scene.address('/sign-in', { clientId }));
      await page.untilVisible('#accounts');
    },
  },
  {
    name: 'sign-in/wrong-address',
    async reach(page, scene) {
      await openSignIn(page, scene, await scene.application());
      await page.fill('#email', 'ada.lovelace');
      await page.view.press('Enter');
      await page.untilText('#email-error', /\S/);
    },
  },
  {
    name: 'sign-in/code',
    async reach(page, scene) {
      await openSignIn(page, scene, await scene.application());
      await askForCode(page, scene.newEmail());
    },
  },
  {
    name: 'sign-in/code-wrong',
    async reach(page, scene) {
      const email = scene.newEmail();
      await openSignIn(page, scene, await scene.application());
      await askForCode(page, email);
      await wrongCode(page, scene, email);
    },
  },
  {
    name: 'sign-in/code-dead',
    async reach(page, scene) {
      const email = scene.newEmail();
      await openSignIn(page, scene, await scene.application());
      await askForCode(page, email);
      for (let tries = 0; tries < 5; tries += 1) {
        await page.evaluate(`document.querySelector('#code-error').textContent = ''`);
        await wrongCode(page, scene, email);
      }
      await page.untilVisible('[data-spent]');
    },
  },
  {
    name: 'sign-in/mail-off',
    async reach(page, { fresh, locale }) {
      await page.open(`${fresh.url}/sign-in?locale=${locale}`);
      await askForCode(page, 'ada.lovelace@example.com');
    },
  },
  {
    name: 'sign-in/private-beta',
    reach: async (page, scene) => openSignIn(page, scene, await scene.application('private_beta')),
  },
  {
    name: 'sign-in/no-sign-ups',
    reach: async (page, scene) => openSignIn(page, scene, await scene.application('closed')),
  },
  {
    name: 'sign-in/request',
    async reach(page, scene) {
      await openSignIn(page, scene, await scene.application('private_beta'));
      await page.view.click('#ask-access');
      await page.untilVisible('#request-form');
    },
  },
  {
    name: 'sign-in/remembered-request',
    async reach(page, scene) {
      const application = await scene.application('private_beta');
      await openSignIn(page, scene, application);
      await page.view.click('#ask-access');
      await page.untilVisible('#request-form');
      await page.fill('#request-email', scene.newEmail());
      await page.view.press('Enter');
      await page.untilVisible('#refused');
      await page.open('about:blank');
      await openSignIn(page, scene, application);
      await page.untilVisible('#gate:not(:has(#ask-access))');
    },
  },
  {
    name: 'sign-in/waiting',
    async reach(page, scene) {
      const email = scene.newEmail();
      await waiting(page, scene, await scene.application('private_beta'), email);
    },
  },
  {
    name: 'sign-in/no-place-yet',
    async reach(page, scene) {
      const application = await scene.application('private_beta');
      await scene.manage('POST', `/api/applications/${application.id}/beta-policy`, { policy: 'auto_decline' });
      await waiting(page, scene, application, scene.newEmail());
    },
  },
  {
    name: 'sign-in/waitlist',
    reach: async (page, scene) => refused(page, scene, await scene.application('private_beta')),
  },
  {
    name: 'sign-in/requested',
    async reach(page, scene) {
      await refused(page, scene, await scene.application('private_beta'));
      await page.view.click('#interest');
      await page.untilVisible('#refused:not(:has(#interest))');
    },
  },
  { name: 'sign-in/closed', reach: async (page, scene) => refused(page, scene, await scene.application('closed')) },
  {
    name: 'sign-in/will-be-told',
    async reach(page, scene) {
      await refused(page, scene, await scene.application('closed'));
      await page.view.click('#interest');
      await page.untilVisible('#refused:not(:has(#interest))');
    },
  },
  { name: 'sign-in/draft', reach: async (page, scene) => refused(page, scene, await scene.application('draft')) },
  {
    name: 'sign-in/archived',
    async reach(page, scene) {
      const application = await scene.application('closed');
      await openSignIn(page, scene, application);
      await askForCode(page, scene.newEmail());
      await scene.archive(application);
      await page.pressKeys('000000');
      await page.untilVisible('[data-spent]');
      await page.view.click('#resend');
      await page.untilVisible('#refused');
    },
  },
  {
    name: 'sign-in/blocked',
    async reach(page, scene) {
      const [email, application] = [scene.newEmail(), await scene.application()];
      const { userId } = await scene.person(email, application);
      await scene.manage('POST', `/api/applications/${application.id}/users/${userId}/ban`);
      await later(scene);
      await refused(page, scene, application, email);
    },
  },
  {
    name: 'sign-in/deleted',
    async reach(page, scene) {
      const [email, application] = [scene.newEmail(), await scene.application()];
      await openSignIn(page, scene, application);
      await page.open(`${scene.address('/sign-in', { clientId: application.clientId, email })}#error=user_deleted`);
      await page.untilVisible('#refused');
    },
  },
  {
    name: 'sign-in/moved',
    async reach(page, scene) {
      const [email, application] = [scene.newEmail(), await scene.application()];
      await page.open(`${scene.address('/sign-in', { clientId: application.clientId, email })}#error=email_archived`);
      await page.untilVisible('#refused');
    },
  },
  {
    name: 'sign-in/opened',
    async reach(page, scene) {
      const application = await scene.application('private_beta');
      await refused(page, scene, application);
      await scene.manage('POST', `/api/applications/${application.id}/signin-gate`, { gate: 'public' });
      // The page checks again when it becomes visible.
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await page.untilVisible('#sign-in-now');
    },
  },
  {
    name: 'sign-in/passkey-offer',
    async reach(page, scene) {
      await withPasskeys(page);
      await openSignIn(page, scene, await scene.application());
      await signInHere(page, scene, scene.newEmail());
      await page.untilVisible('#offer');
    },
  },
  {
    name: 'sign-in/signed-in',
    async reach(page, scene) {
      const application = await scene.application();
      await openSignIn(page, scene, application);
      await page.evaluate(`localStorage.setItem('gatehouse.passkey-offered', 'before')`);
      await signInHere(page, scene, scene.newEmail());
      await page.untilVisible('#signed-in');
    },
  },
  {
    name: 'sign-in/trial',
    async reach(page, scene) {
      const { id } = await scene.application();
      const { url } = await scene.manage('POST', `/api/applications/${id}/sign-in-trial`);
      await page.open(`${url}&locale=${scene.locale}`);
      await signInHere(page, scene, scene.newEmail());
      await page.untilVisible('#trial-token');
    },
  },
];

const later = ({ server }: Scene) => request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });

/** A device requests a code, and the page that decides it is opened. */
async function device(page: Page, scene: Scene): Promise<Application> {
  const application = await scene.application();
  const body = { client_id: application.clientId, device_name: 'harbour-cli on build-07' };
  const { json } = await request(scene.server, 'POST', '/api/v1/device/code', { body });
  await page.open(scene.address('/device', { code: json.user_code }));
  return application;
}

async function deviceRequest(page: Page, scene: Scene): Promise<void> {
  const email = scene.newEmail();
  const application = await device(page, scene);
  await scene.person(email, application);
  await later(scene);
  await signInHere(page, scene, email);
  await page.untilVisible('#confirm');
}

const DEVICE: readonly State[] = [
  { name: 'device/code', reach: (page, scene) => page.open(scene.address('/device')) },
  { name: 'device/wrong', reach: (page, scene) => page.open(scene.address('/device', { code: 'BCDF-GHJK' })) },
  { name: 'device/sign-in', reach: async (page, scene) => void (await device(page, scene)) },
  { name: 'device/request', reach: deviceRequest },
  {
    name: 'device/approved',
    async reach(page, scene) {
      await deviceRequest(page, scene);
      await press(page, '#approve');
      await page.untilVisible('#approved');
    },
  },
  {
    name: 'device/declined',
    async reach(page, scene) {
      await deviceRequest(page, scene);
      await press(page, '#deny');
      await page.untilVisible('#declined');
    },
  },
  {
    name: 'device/failed',
    async reach(page, scene) {
      await deviceRequest(page, scene);
      await page.evaluate(`void (window.fetch = () => Promise.reject(new TypeError('offline')))`);
      await press(page, '#approve');
      await page.untilVisible('#failed');
    },
  },
];

/** The link works once: later states continue in the same page. */
const SETUP: readonly State[] = [
  { name: 'setup/ask', reach: (page, { fresh, locale }) => page.open(`${fresh.setupUrl!}&locale=${locale}`) },
  {
    name: 'setup/done',
    async reach(page, { fresh, locale }) {
      await page.open(`${fresh.setupUrl!}&locale=${locale}`);
      await page.fill('#email', 'ada.lovelace@example.com');
      await page.view.press('Enter');
      await page.untilVisible('#done');
    },
  },
  {
    name: 'setup/key',
    async reach(page) {
      await press(page, '#create-key');
      await page.untilVisible('#key');
    },
  },
  {
    name: 'setup/key-again',
    async reach(page) {
      await page.view.reload();
      await page.untilVisible('#earlier-key');
    },
  },
  { name: 'setup/spent', reach: (page, { fresh, locale }) => page.open(`${fresh.setupUrl!}&locale=${locale}`) },
];

/** Opens the link mailed to a moved account's previous address. @returns the link. */
async function openUndo(page: Page, scene: Scene): Promise<string> {
  const application = await scene.application();
  const [from, to] = [scene.newEmail(), scene.newEmail('countess')];
  const { token } = await scene.person(from, application);
  const { server } = scene;
  const call = async (path: string, body: object) =>
    (await request(server, 'POST', `/api/account${path}`, { token, body })).json.data;
  const confirm = async (path: string, { challengeId }: { challengeId: string }, email: string) =>
    call(`${path}/confirm`, { challengeId, code: await outboxCode(server, email) });
  await later(scene);
  await confirm('/proof', await call('/proof', { purpose: 'email_change', target: to }), from);
  await confirm('/email', await call('/email', { email: to }), to);
  const { json } = await request(server, 'GET', `/test/outbox?to=${from}`);
  const link = /\/undo-email-change\?token=([\w-]+)/.exec(json.data.items[0].text)!;
  const address = scene.address('/undo-email-change', { token: link[1]! });
  await page.open(address);
  return address;
}

async function undo(page: Page): Promise<void> {
  const title = await page.text('h1');
  await press(page, 'button.primary');
  await page.untilText('h1', new RegExp(`^(?!${RegExp.escape(title)}$).`));
}

const UNDO: readonly State[] = [
  { name: 'undo/ask', reach: async (page, scene) => void (await openUndo(page, scene)) },
  { name: 'undo/done', reach: undo },
  {
    name: 'undo/spent',
    async reach(page, scene) {
      const link = await openUndo(page, scene);
      await undo(page);
      await page.open(link);
    },
  },
];

/** A problem that is hard to cause, answered as by the server with the policy of its pages. */
function problem(code: 'forbidden' | 'unavailable', { retryAfterSeconds }: { retryAfterSeconds?: number } = {}): State {
  const error = new AppError(code, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  return {
    name: `problem/${error.status}`,
    async reach(page, scene) {
      const address = scene.address('/nothing');
      await page.open(address);
      const requestId = 'req_01kat1h5ppe3bv2d9g3wq5r1xm';
      const html = renderProblemPage(error, { request: new Request(address), requestId, application: null });
      const [, body] = /<body>([^]*)<\/body>/.exec(html)!;
      await page.evaluate(`void (document.body.innerHTML = ${JSON.stringify(body)})`);
    },
  };
}

const PROBLEMS: readonly State[] = [
  {
    name: 'problem/400',
    async reach(page, scene) {
      const { clientId } = await scene.application();
      await page.open(scene.address('/sign-in', { clientId, returnTo: 'https://elsewhere.example/' }));
    },
  },
  {
    name: 'problem/archived',
    async reach(page, scene) {
      const application = await scene.application();
      await scene.archive(application);
      await openSignIn(page, scene, application);
    },
  },
  problem('forbidden'),
  { name: 'problem/404', reach: (page, scene) => page.open(scene.address('/nothing')) },
  {
    name: 'problem/429',
    async reach(page, scene) {
      const address = scene.address('/setup', { token: 'gone' });
      for (let asked = 0; asked < 31; asked += 1) await fetch(address);
      await page.open(address);
    },
  },
  problem('unavailable', { retryAfterSeconds: 5 }),
];

/** Ordered so that continued states follow their predecessors. */
export const STATES: readonly State[] = [...SIGN_IN, ...DEVICE, ...OPENID, ...SETUP, ...UNDO, ...PROBLEMS, ...ACCOUNT];

/** States that continue from the previous one. */
export const CONTINUED = new Set(['setup/key', 'setup/key-again', 'undo/done', 'account/close-code']);

/** The default languages of the pictures. */
export const SHOWN_LOCALES: readonly Locale[] = ['en', 'de', 'el'];
