/** A browser at the hosted pages: it keeps their cookies, and calls the server as their scripts do. */
import type { Application } from '@/store/applications.ts';
import { type Browser, createBrowser } from '../modules/provider/browser.ts';
import type { SoftPasskey } from '../support/authenticator.ts';
import { usePasskey } from '../support/authenticator.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

/** The server's https origin, where its cookies have the `__Host-` prefix. */
export const OWN = 'https://id.example.com';

/** An instance with two applications of one workspace, and a browser. */
export async function setUpPages() {
  const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: OWN } });
  const shop = await instance.createApplication({ name: 'Shop' });
  const forum = await instance.createApplication({ name: 'Forum' });
  return { instance, shop, forum, browser: pageBrowser(instance) };
}

export type Page = 'sign-in' | 'account';

export type PageBrowser = ReturnType<typeof pageBrowser>;

export function pageBrowser(instance: Instance, from: Browser = createBrowser(instance)) {
  const origin = instance.config.baseUrl ?? 'http://localhost:8080';
  const sent = { origin, 'sec-fetch-site': 'same-origin' };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    from.visit(path, { method: 'POST', body, headers: { ...sent, ...headers } });

  return {
    ...from,
    sent,
    post,
    /** Signs in with a mailed code. */
    async signIn({ clientId }: Application, email: string, page: Page | null = 'sign-in'): Promise<Answer> {
      const headers = page === null ? undefined : { 'gatehouse-page': page };
      const asked = await post('/api/v1/auth/otp/send', { email, clientId }, headers);
      const { challengeId } = asked.json.data;
      return post('/api/v1/auth/otp/verify', { challengeId, code: instance.codeFor(email) }, headers);
    },
    async signInWith({ clientId }: Application, passkey: SoftPasskey): Promise<Answer> {
      const { challengeId, options } = (await post('/api/v1/auth/passkey/options', { clientId })).json.data;
      const credential = usePasskey(passkey, options, { origin });
      return post('/api/v1/auth/passkey/verify', { challengeId, credential }, { 'gatehouse-page': 'sign-in' });
    },
    /** Returns the addresses that the application's page offers, and who is signed in there. */
    async offered({ clientId }: Application): Promise<{ emails: string[]; current: string | null }> {
      const { json } = await from.visit(`/account/session?clientId=${clientId}`, { headers: sent });
      const accounts = json.data.accounts as { email: string; isCurrent: boolean }[];
      const current = accounts.find(({ isCurrent }) => isCurrent)?.email ?? null;
      if (json.data.signedIn !== (current !== null)) throw new Error('signedIn differs from the accounts');
      return { emails: accounts.map(({ email }) => email), current };
    },
    continueAs: (
      { clientId }: Application,
      userId: string,
      { page = 'sign-in', headers = {} }: { page?: Page; headers?: Record<string, string> } = {},
    ): Promise<Answer> => post('/account/session', { clientId, userId, page }, headers),
    /** Calls the API as the account page of an application does. */
    account: ({ clientId }: Application, method = 'GET', path = '/api/account', body?: unknown): Promise<Answer> =>
      from.visit(path, { method, body, headers: { ...sent, 'gatehouse-client': clientId } }),
    signOut: ({ clientId }: Application): Promise<Answer> =>
      from.visit('/account/session', { method: 'DELETE', headers: { ...sent, 'gatehouse-client': clientId } }),
  };
}
