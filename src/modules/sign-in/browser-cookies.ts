/**
 * The cookies that a sign-in leaves in the browser: that of a session of the console, by which this server's pages manage it,
 * and the one by which the browser is known again. Every other application gets its token and nothing else.
 */
import type { RequestContext } from '../../http/request-context.ts';
import { isFromOwnPage, type SessionCookie } from '../../http/session-cookie.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { SignedIn } from './model.ts';

/** Sets the cookies on the answer. */
export type SetSignInCookies = (context: RequestContext, session: SignedIn) => void;

export interface SignInCookieDependencies {
  readonly cookie: SessionCookie;
  readonly knownBrowsers: KnownBrowsers;
  readonly baseUrl: string;
  /** Asked at each sign-in: it is known only after the first start. */
  readonly consoleId: () => string;
}

export function signInCookies(dependencies: SignInCookieDependencies): SetSignInCookies {
  const { cookie, knownBrowsers, baseUrl, consoleId } = dependencies;
  return ({ request, cookies }, { token, expiresAt, userId, applicationId }) => {
    if (applicationId === consoleId()) cookies.push(cookie.write(token, Date.parse(expiresAt)));
    // Whoever signs in through an application's own page is not in a browser of this server's.
    if (isFromOwnPage(request, baseUrl)) cookies.push(knownBrowsers.remember(request, userId));
  };
}
