import { requireRelyingParty } from '../../core/relying-party.ts';
import type { Module, ModuleContext } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import type { SetSignInCookies } from '../sign-in/browser-cookies.ts';
import type { PageBrowserOf } from '../sign-in/known-browsers.ts';
import type { LastMethodGuard } from '../sign-in/last-method.ts';
import { passkeyRoutes } from './routes.ts';
import { passkeyService } from './service.ts';
import { passkeySignIn } from './sign-in.ts';

export interface PasskeysStandOn {
  readonly sessions: Sessions;
  readonly lastMethodGuard: LastMethodGuard;
  readonly setSignInCookies: SetSignInCookies;
  readonly pageBrowserOf: PageBrowserOf;
}

export function passkeysModule(
  { db, random, baseUrl, notices }: ModuleContext,
  { sessions, lastMethodGuard, setSignInCookies, pageBrowserOf }: PasskeysStandOn,
): Module {
  const relyingParty = () => requireRelyingParty(baseUrl());
  return {
    operations: passkeyRoutes({
      passkeys: passkeyService({ db, random, lastMethodGuard, notices, relyingParty }),
      passkeySignIn: passkeySignIn({ db, random, sessions, relyingParty }),
      setSignInCookies,
      pageBrowserOf,
    }),
  };
}
