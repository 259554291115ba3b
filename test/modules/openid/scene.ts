/** An application that another program signs people in to by OpenID Connect, and every step as program and person take it. */
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { MINUTE } from '@/core/clock.ts';
import { CONSOLE_CLIENT_ID } from '@/core/console.ts';
import { systemRandom } from '@/core/random.ts';
import { required } from '@/core/required.ts';
import { issueCode } from '@/modules/openid/codes.ts';
import { type Application, findApplicationByClientId } from '@/store/applications.ts';
import { type Page, pageBrowser, setUpPages } from '../../attack/page-browser.ts';
import { type Answer, createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';
import { basic, newSecret, sendForm, type Shown } from '../oauth/scene.ts';
import {
  authorizePath,
  CHALLENGE,
  type Changes,
  codeOf,
  given,
  NONCE,
  REDIRECT_URI,
  VERIFIER,
} from './authorization-scene.ts';

export const TOKEN = '/oauth/token';
export const USERINFO = '/oauth/userinfo';
export const ALL_SCOPES = 'openid profile email roles groups offline_access';

/** A person in their browser, signed in to the hosted pages. */
export interface SignedIn {
  readonly userId: string;
  readonly pageSessionId: string;
  readonly memberId: string;
  readonly browser: ReturnType<typeof pageBrowser>;
}

export interface CodeWanted {
  readonly scope?: string;
  readonly nonce?: string | null;
}

export type Scene = Awaited<ReturnType<typeof createScene>>;

export async function createScene(options: InstanceOptions = {}) {
  const instance = await createInstance({
    ...options,
    environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000', ...options.environment },
  });
  const application = await instance.createApplication();
  return sceneOf(instance, application);
}

/** Returns the same steps for another application, which gets a client secret and OpenID settings. */
export async function sceneOf(instance: Instance, application: Application, key = instance.workspaceKey) {
  const { id, clientId } = application;
  const shown: Shown = { clientId, secret: await newSecret(instance, application, key) };
  const settingsPath = `/api/applications/${id}/openid`;

  const configure = (settings: Record<string, unknown> = {}): Promise<Answer> =>
    instance.call('PUT', settingsPath, { token: key, body: { redirectUris: [REDIRECT_URI], ...settings } });

  /** Signs a person in on the hosted pages with a new browser. */
  async function signIn(email: string, page: Page = 'account'): Promise<SignedIn> {
    instance.clock.advance(MINUTE);
    const browser = pageBrowser(instance);
    const { json } = await browser.signIn(application, email, page);
    return { ...newestSession(instance), userId: json.data.userId, browser };
  }

  /** Opens the authorization endpoint in a browser. */
  const ask = (browser: Pick<SignedIn['browser'], 'visit'>, changes: Changes = {}): Promise<Answer> =>
    browser.visit(authorizePath(clientId, changes));

  /** Asks for a code in the browser of a person who is signed in. */
  const authorize = async ({ browser }: SignedIn, { scope = ALL_SCOPES, nonce = NONCE }: CodeWanted = {}) =>
    codeOf(await ask(browser, { scope, nonce, state: null }));

  const token = (fields: Changes, headers: Record<string, string> = basic(shown)): Promise<Answer> =>
    sendForm(instance, TOKEN, given(fields), headers);

  const exchange = (code: string, fields: Changes = {}, headers?: Record<string, string>) =>
    token(
      { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER, ...fields },
      headers,
    );

  const refresh = (refreshToken: string, fields: Record<string, string> = {}, headers?: Record<string, string>) =>
    token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...fields }, headers);

  /** Asks for a code where somebody is signed in, and returns the token endpoint's answer to it. */
  async function tokensIn(browser: Pick<SignedIn['browser'], 'visit'>, changes: Changes = {}) {
    const answer = await exchange(codeOf(await ask(browser, changes)));
    if (answer.status !== 200) throw new Error(`token answered ${answer.status}: ${answer.text}`);
    return answer.json as Record<string, string>;
  }

  /** Runs a whole sign-in, and returns the tokens. */
  async function flow(email = 'ada@example.com', wanted: CodeWanted = {}) {
    const person = await signIn(email);
    const answer = await exchange(await authorize(person, wanted));
    if (answer.status !== 200) throw new Error(`token answered ${answer.status}: ${answer.text}`);
    const { access_token, refresh_token, id_token } = answer.json as Record<string, string>;
    return {
      person,
      accessToken: access_token as string,
      refreshToken: refresh_token as string,
      idToken: id_token as string,
      answer,
    };
  }

  const userInfo = (accessToken: string): Promise<Answer> => instance.call('GET', USERINFO, { token: accessToken });

  /** Asks as a backend does whether a token is valid. */
  const verdict = async (accessToken: string): Promise<string> => {
    const { status, json } = await instance.call('POST', '/api/v1/session', { token: accessToken });
    return status === 200 ? 'ok' : json.error;
  };

  await configure();
  return {
    instance,
    application,
    clientId,
    shown,
    settingsPath,
    configure,
    signIn,
    ask,
    authorize,
    token,
    tokensIn,
    exchange,
    refresh,
    flow,
    userInfo,
    verdict,
  };
}

/** An instance on https with two clients of one workspace, and a browser. */
export async function createTwoClients() {
  const { instance, shop, forum, browser } = await setUpPages();
  const [party, other] = [await sceneOf(instance, shop), await sceneOf(instance, forum)];
  /** Signs a person in in the browser, as its pages do. @returns the id of the person. */
  const signIn = async (application: Application = shop, email = 'ada@example.com'): Promise<string> => {
    const { status, json } = await browser.signIn(application, email, 'account');
    if (status !== 200) throw new Error(`sign-in answered ${status}`);
    return json.data.userId;
  };
  return { instance, shop, browser, party, other, signIn };
}

/** Returns the steps of a client of the console, such as the command line; its people hold a session of the console. */
export async function consoleSceneOf(instance: Instance, clientId: string, redirectUri = 'http://127.0.0.1/callback') {
  const console = required(await findApplicationByClientId(instance.db.reader, CONSOLE_CLIENT_ID), 'the console');

  async function signIn(email: string): Promise<Omit<SignedIn, 'browser'>> {
    instance.clock.advance(MINUTE);
    const { userId } = await instance.signIn(CONSOLE_CLIENT_ID, email);
    return { ...newestSession(instance), userId };
  }

  /** Issues a code as the person's consent does, in a write of the test's own. */
  const issueCodeDirectly = (person: Omit<SignedIn, 'browser'>): Promise<string> =>
    instance.db.write({ ...SYSTEM_ACTOR, ip: '198.51.100.77', type: 'user', userId: person.userId }, (unit) =>
      issueCode(unit, systemRandom, {
        clientId,
        applicationId: console.id,
        applicationUserId: person.memberId,
        pageSessionId: person.pageSessionId,
        redirectUri,
        codeChallenge: CHALLENGE,
        scope: '',
        nonce: null,
        keyDays: null,
        userAgent: null,
      }),
    );

  const exchange = (code: string, fields: Record<string, string> = {}): Promise<Answer> =>
    sendForm(instance, TOKEN, {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: redirectUri,
      code_verifier: VERIFIER,
      ...fields,
    });

  return { console, signIn, issueCodeDirectly, exchange };
}

function newestSession({ sqlite }: Instance): { pageSessionId: string; memberId: string } {
  const row = sqlite
    .query('SELECT id AS "pageSessionId", application_user_id AS "memberId" FROM sessions ORDER BY id DESC LIMIT 1')
    .get();
  return row as { pageSessionId: string; memberId: string };
}
