/** Sign-in by a code, and what the other sign-in methods share with it. */
import { sessionCookie } from '../../http/session-cookie.ts';
import type { CodeChallenges } from '../codes/code-challenge.ts';
import type { Module, ModuleContext } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import { type SetSignInCookies, signInCookies } from './browser-cookies.ts';
import { knownBrowsers as knownBrowsersOf } from './known-browsers.ts';
import { otpService } from './otp.ts';
import { signInRoutes } from './routes.ts';

export interface SignInStandsOn {
  readonly challenges: CodeChallenges;
  readonly sessions: Sessions;
  readonly consoleId: () => string;
}

export function signInModule(
  context: ModuleContext,
  { challenges, sessions, consoleId }: SignInStandsOn,
): Module & { readonly setSignInCookies: SetSignInCookies } {
  const baseUrl = context.baseUrl();
  const knownBrowsers = knownBrowsersOf({ ...context, baseUrl });
  const setSignInCookies = signInCookies({ cookie: sessionCookie(baseUrl), knownBrowsers, baseUrl, consoleId });
  const otp = otpService({ ...context, challenges, sessions });
  return { setSignInCookies, operations: signInRoutes({ otp, knownBrowsers, setSignInCookies }) };
}
