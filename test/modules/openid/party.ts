/** A relying party, by hand: its requests to an instance, and a person’s browser that carries them. */
import type { Application } from '@/store/applications.ts';
import { OWN, type PageBrowser, setUpPages } from '../../attack/page-browser.ts';
import type { Answer, Instance } from '../../support/instance.ts';

export { OWN } from '../../attack/page-browser.ts';

/** The pair of RFC 7636 Appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

export const CALLBACK = 'https://shop.example.net/callback';
export const ADA = 'ada@example.com';

export type Parameters = Readonly<Record<string, string | undefined>>;

export interface Settings {
  readonly redirectUris?: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  readonly clientType?: 'confidential' | 'public';
  readonly idTokenAlg?: 'RS256' | 'EdDSA';
  readonly jwks?: { readonly keys: readonly object[] } | null;
  readonly backchannelLogoutUri?: string | null;
}

/** Sends a form, as a client's server does. */
export function postForm(
  instance: Pick<Instance, 'call'>,
  path: string,
  form: Parameters,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return instance.call('POST', path, {
    body: encoded(form),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

function encoded(parameters: Parameters): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}

export const basic = (clientId: string, secret: string) => ({
  authorization: `Basic ${btoa(`${clientId}:${secret}`)}`,
});

/** Sets an application up as a client. @returns what it needs to act as one. */
export async function createParty(instance: Instance, application: Application, settings: Settings = {}) {
  const manage = (method: string, path: string, body?: unknown) =>
    instance.call(method, `/api/applications/${application.id}${path}`, { token: instance.workspaceKey, body });
  const body = { redirectUris: [CALLBACK], postLogoutRedirectUris: ['https://shop.example.net/bye'], ...settings };
  const saved = await manage('PUT', '/openid', body);
  if (saved.status !== 200) throw new Error(`openid answered ${saved.status}: ${saved.text}`);
  const secret: string = (await manage('POST', '/rotate-secret')).json.data.clientSecret;
  const { clientId } = application;
  const shown = settings.clientType === 'public' ? {} : basic(clientId, secret);

  const addressOf = (changes: Parameters = {}) =>
    `/oauth/authorize?${encoded({
      client_id: clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid profile email',
      state: 'the-state',
      nonce: 'the-nonce',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...changes,
    })}`;

  return {
    application,
    clientId,
    secret,
    manage,
    addressOf,
    /** Opens the authorization endpoint in a browser. */
    authorize: (browser: Pick<PageBrowser, 'visit'>, changes?: Parameters) => browser.visit(addressOf(changes)),
    /** Calls the token endpoint with the client's own authentication, unless other headers are given. */
    token: (form: Parameters, headers: Record<string, string> = shown) =>
      postForm(
        instance,
        '/oauth/token',
        settings.clientType === 'public' ? { client_id: clientId, ...form } : form,
        headers,
      ),
    exchange(code: string, changes: Parameters = {}, headers?: Record<string, string>) {
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: CALLBACK,
        code_verifier: VERIFIER,
        ...changes,
      };
      return this.token(form, headers);
    },
    userinfo: (token: string) => instance.call('GET', '/oauth/userinfo', { token }),
    /** Signs the browser in where it must be, and returns the tokens. */
    async tokens(browser: Pick<PageBrowser, 'visit'>, changes?: Parameters): Promise<Record<string, string>> {
      const answer = await this.exchange(codeOf(await this.authorize(browser, changes)));
      if (answer.status !== 200) throw new Error(`token answered ${answer.status}: ${answer.text}`);
      return answer.json;
    },
  };
}

export type Party = Awaited<ReturnType<typeof createParty>>;

/** Returns where a redirect leads. @throws if the answer is none. */
export function redirectOf({ status, headers, text }: Answer): URL {
  const location = headers.get('location');
  if (location === null) throw new Error(`no redirect but ${status}: ${text.slice(0, 2000)}`);
  return new URL(location, OWN);
}

export const parametersOf = (answer: Answer): Record<string, string> =>
  Object.fromEntries(redirectOf(answer).searchParams);

export function codeOf(answer: Answer): string {
  const { code } = parametersOf(answer);
  if (code === undefined) throw new Error(`no code but ${redirectOf(answer).href}`);
  return code;
}

/** Returns header and payload of a JWT, without verifying it. */
export function decoded(jwt: string): { header: Record<string, any>; payload: Record<string, any> } {
  const [header = '', payload = ''] = jwt.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header), payload: JSON.parse(payload) };
}

/** An instance with two clients of one workspace, and a browser in which Ada is signed in at both. */
export async function setUpParties(settings: Settings = {}) {
  const { instance, shop, forum, browser } = await setUpPages();
  const [party, other] = [await createParty(instance, shop, settings), await createParty(instance, forum)];
  const signIn = async (application: Application = shop, email = ADA) => {
    const { status, json } = await browser.signIn(application, email, 'account');
    if (status !== 200) throw new Error(`sign-in answered ${status}`);
    return json.data as { userId: string };
  };
  return { instance, shop, forum, browser, party, other, signIn };
}
