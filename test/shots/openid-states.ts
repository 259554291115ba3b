/** States of the pages that OpenID clients lead to. */
import { outboxCode, request } from '../support/binary.ts';
import type { Page } from '../support/browser.ts';
import { type Application, press, type Scene, signInHere, type State } from './scene.ts';

const REDIRECT_URI = 'https://wiki.harbour.example/callback';
const LOOPBACK_URI = 'http://127.0.0.1:51004/callback';

const authorizeAddress = (scene: Scene, clientId: string, more: Record<string, string> = {}) =>
  scene.address('/oauth/authorize', {
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email',
    state: 'af0ifjsldkj',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    ...more,
  });

async function client(scene: Scene): Promise<Application> {
  const application = await scene.application();
  await scene.manage('PUT', `/api/applications/${application.id}/openid`, { redirectUris: [REDIRECT_URI] });
  return application;
}

async function signInTo(page: Page, scene: Scene, { clientId }: Application, name?: string): Promise<void> {
  await page.open(scene.address('/account', { clientId }));
  await page.untilVisible('#email-form, #another-account');
  if (await page.isVisible('#another-account')) await press(page, '#another-account');
  await signInHere(page, scene, scene.newEmail(name));
  await page.untilVisible('main.account-part h1');
}

/** Creates an application in a workspace of its own. */
async function elsewhere(scene: Scene): Promise<Application> {
  const { server } = scene;
  const post = async (path: string, body: object, token?: string) => {
    const { status, json, text } = await request(server, 'POST', path, { body, token });
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    return json.data ?? json;
  };
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });
  const owner = 'owner@example.test';
  const { challengeId } = await post('/api/v1/auth/otp/send', { email: owner, clientId: 'console' });
  const signedIn = await post('/api/v1/auth/otp/verify', { challengeId, code: await outboxCode(server, owner) });
  const { id } = await post('/api/workspaces', { name: 'Lighthouse' }, signedIn.token);
  const made = await post(`/api/applications?workspaceId=${id}`, { name: 'Lighthouse' }, signedIn.token);
  for (const step of ['publish', 'go-live']) await post(`/api/applications/${made.id}/${step}`, {}, signedIn.token);
  return made;
}

export const OPENID: readonly State[] = [
  {
    name: 'openid/sign-in',
    async reach(page, scene) {
      await page.open(authorizeAddress(scene, (await client(scene)).clientId));
    },
  },
  {
    name: 'openid/passed-on',
    async reach(page, scene) {
      await signInTo(page, scene, await elsewhere(scene));
      await page.open(authorizeAddress(scene, (await client(scene)).clientId));
      await page.untilVisible('#passed-on');
    },
  },
  {
    name: 'openid/consent',
    async reach(page, scene) {
      await request(scene.server, 'POST', '/test/clock', { body: { advanceMs: 61_000 } });
      await page.open(authorizeAddress(scene, 'gatehouse-cli', { redirect_uri: LOOPBACK_URI }));
      await signInHere(page, scene, 'owner@example.test');
      await page.untilVisible('#consent');
    },
  },
  {
    name: 'openid/sign-out',
    async reach(page, scene) {
      const application = await client(scene);
      await signInTo(page, scene, application);
      await page.open(scene.address('/oauth/end-session', { client_id: application.clientId }));
      await page.untilVisible('#confirm-sign-out');
    },
  },
  {
    name: 'openid/sign-out-all',
    async reach(page, scene) {
      await signInTo(page, scene, await client(scene));
      await signInTo(page, scene, await elsewhere(scene), 'grace.hopper');
      await page.open(scene.address('/oauth/end-session'));
      await page.untilVisible('#confirm-sign-out');
    },
  },
  {
    name: 'openid/signed-out',
    async reach(page, scene) {
      const application = await client(scene);
      await signInTo(page, scene, application);
      await page.open(scene.address('/oauth/end-session', { client_id: application.clientId }));
      await press(page, '#sign-out');
      await page.untilVisible('#signed-out');
    },
  },
];
