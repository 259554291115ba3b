/** A client's requests at the authorization and end session endpoints, as a browser makes them. */
import type { SignInPageProps } from '@/pages/sign-in/page.tsx';
import type { pageBrowser } from '../../attack/page-browser.ts';
import type { Answer } from '../../support/instance.ts';
import { challengeOf, REDIRECT_URI, VERIFIER } from './scene.ts';

type Browser = ReturnType<typeof pageBrowser>;

/** Changes of a parameter: null leaves it out. */
export type Changes = Readonly<Record<string, string | null>>;

export const STATE = 'af0ifjsldkj';

/** Returns the path of a complete request with these changes. */
export function authorizePath(clientId: string, changes: Changes = {}): string {
  const parameters: Changes = {
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email offline_access',
    state: STATE,
    nonce: 'n-0S6_WzA2Mj',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...changes,
  };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `/oauth/authorize?${new URLSearchParams(given)}`;
}

/** Returns the parameters of an answer at the client, which must have come there by a redirect. */
export function answerOf({ status, headers, text }: Answer, redirectUri = REDIRECT_URI): Record<string, string> {
  const location = headers.get('location') ?? '';
  if (status !== 302 && status !== 303) throw new Error(`no redirect but ${status}: ${text.slice(0, 300)}`);
  if (!location.startsWith(`${redirectUri}?`)) throw new Error(`redirected to ${location}`);
  return Object.fromEntries(new URL(location).searchParams);
}

/** Returns the props of the sign-in page that an answer shows. */
export function signInPageOf({ status, text }: Answer): SignInPageProps {
  const [, data] = /<script type="application\/json" id="page-data">(.*?)<\/script>/s.exec(text) ?? [];
  if (status !== 200 || data === undefined) throw new Error(`no sign-in page but ${status}: ${text.slice(0, 300)}`);
  return (JSON.parse(data) as { props: SignInPageProps }).props;
}

/** Returns the addresses that the page offers; none where it asks for a sign-in. */
export const offeredAt = (answer: Answer): string[] => signInPageOf(answer).accounts.map(({ email }) => email);

/** Goes on after a sign-in or a press, as the page does. */
export function goOn(browser: Browser, answer: Answer, userId: string): Promise<Answer> {
  const { authorization } = signInPageOf(answer);
  return browser.visit(`${authorization?.continueAt}&account=${userId}`);
}

/** Returns the hidden fields of a page's form. */
export function formOf({ text }: Answer): Record<string, string> {
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value(?:="([^"]*)")?/g)];
  return Object.fromEntries(fields.map(([, name, value = '']) => [name, value.replaceAll('&amp;', '&')]));
}

/** Sends a form as a page of this server does: without Referer, the browser hides its origin. */
export function submit(browser: Browser, path: string, fields: Record<string, string>): Promise<Answer> {
  return browser.visit(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null', 'sec-fetch-site': 'same-origin' },
  });
}
