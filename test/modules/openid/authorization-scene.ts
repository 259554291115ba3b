/** A client's requests at the authorization and end session endpoints, as a browser makes them. */
import type { SignInPageProps } from '@/pages/sign-in/page.tsx';
import type { pageBrowser } from '../../attack/page-browser.ts';
import type { Answer } from '../../support/instance.ts';

type Browser = ReturnType<typeof pageBrowser>;

/** Changes of a request's parameters: null and undefined leave one out. */
export type Changes = Readonly<Record<string, string | null | undefined>>;

export const REDIRECT_URI = 'https://wiki.example.com/callback';
export const STATE = 'af0ifjsldkj';
export const NONCE = 'n-0S6_WzA2Mj';

/** A PKCE pair (RFC 7636 appendix B). */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** Returns the parameters that are not left out. */
export function given(parameters: Changes): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] != null));
}

/** Returns the path of a complete request with these changes. */
export function authorizePath(clientId: string, changes: Changes = {}): string {
  const parameters: Changes = {
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile email',
    state: STATE,
    nonce: NONCE,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...changes,
  };
  return `/oauth/authorize?${new URLSearchParams(given(parameters))}`;
}

/** Returns where a redirect leads. @throws if the answer is none. */
export function redirectOf({ status, headers, text }: Answer): string {
  const location = headers.get('location');
  if (location === null || (status !== 302 && status !== 303))
    throw new Error(`no redirect but ${status}: ${text.slice(0, 300)}`);
  return location;
}

/** Returns the parameters of an answer at the client, which must have come there by a redirect. */
export function answerOf(answer: Answer, redirectUri = REDIRECT_URI): Record<string, string> {
  const location = redirectOf(answer);
  if (!location.startsWith(`${redirectUri}?`)) throw new Error(`redirected to ${location}`);
  return Object.fromEntries(new URL(location).searchParams);
}

export function codeOf(answer: Answer): string {
  const { code, ...others } = answerOf(answer);
  if (code === undefined) throw new Error(`no code but ${JSON.stringify(others)}`);
  return code;
}

/** Returns the header of a JWT, unverified. */
export const headerIn = (jwt: string): Record<string, unknown> => partOf(jwt, 0);

/** Returns the claims of a JWT, unverified. */
export const claimsIn = (jwt: string): Record<string, unknown> => partOf(jwt, 1);

function partOf(jwt: string, index: number): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split('.')[index] ?? '', 'base64url').toString());
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
