/** Sets a sign-in's cookies: the console's session, and the known browser. Other applications get only their token. */
import type { RequestContext } from '../../http/request-context.ts';
import { type SessionCookie } from '../../http/session-cookie.ts';
import { isFromOwnPage } from '../../http/csrf.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import type { SignedIn } from './model.ts';

export type SetSignInCookies = (context: RequestContext, session: SignedIn) => void;

export interface SignInCookieDependencies {
  readonly cookie: SessionCookie;
  readonly knownBrowsers: KnownBrowsers;
  readonly baseUrl: string;
  /** Called at each sign-in: the id is known only after the first start. */
  readonly consoleId: () => string;
}

export function signInCookies(dependencies: SignInCookieDependencies): SetSignInCookies {
  const { cookie, knownBrowsers, baseUrl, consoleId } = dependencies;
  return ({ request, cookies }, { token, expiresAt, userId, applicationId }) => {
    if (applicationId === consoleId()) cookies.push(cookie.write(token, Date.parse(expiresAt)));
    // Only a sign-in on this server's own page shows which browser the person uses.
    if (isFromOwnPage(request, baseUrl)) cookies.push(knownBrowsers.remember(request, userId));
  };
}
