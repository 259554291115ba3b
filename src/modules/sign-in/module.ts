/** Sign-in by a code, and what the other sign-in methods share with it. */
import { sessionCookie } from '../../http/session-cookie.ts';
import type { WaitlistStandings } from '../beta/standing.ts';
import type { CodeChallenges } from '../codes/code-challenge.ts';
import type { Module, ModuleContext } from '../module.ts';
import type { BrowserSessions } from '../page-sessions/browser-sessions.ts';
import type { Sessions } from '../sessions/service.ts';
import { placeOfPage, type SetSignInCookies, signInCookies } from './browser-cookies.ts';
import { knownBrowsers as knownBrowsersOf, type PageBrowserOf } from './known-browsers.ts';
import { otpService } from './otp.ts';
import { signInRoutes } from './routes.ts';

export interface SignInStandsOn {
  readonly challenges: CodeChallenges;
  readonly sessions: Sessions;
  readonly standings: WaitlistStandings;
  readonly browserSessions: BrowserSessions;
  readonly consoleId: () => string;
}

export function signInModule(
  context: ModuleContext,
  { challenges, sessions, standings, browserSessions, consoleId }: SignInStandsOn,
): Module & { readonly setSignInCookies: SetSignInCookies; readonly pageBrowserOf: PageBrowserOf } {
  const baseUrl = context.baseUrl();
  const knownBrowsers = knownBrowsersOf({ ...context, baseUrl });
  const cookie = sessionCookie(baseUrl);
  const setSignInCookies = signInCookies({ cookie, knownBrowsers, browserSessions, baseUrl, consoleId });
  const isOfPage = (request: Request) => placeOfPage(request, baseUrl) !== null;
  const otp = otpService({ ...context, challenges, sessions, standings });
  const pageBrowserOf = knownBrowsers.recogniseOnPage;
  return {
    setSignInCookies,
    pageBrowserOf,
    operations: signInRoutes({ otp, knownBrowsers, isOfPage, setSignInCookies }),
  };
}
