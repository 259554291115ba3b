import { requireRelyingParty } from '../../core/relying-party.ts';
import type { Module, ModuleContext } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import type { SetSignInCookies } from '../sign-in/browser-cookies.ts';
import type { LastMethodGuard } from '../sign-in/last-method.ts';
import { passkeyRoutes } from './routes.ts';
import { passkeyService } from './service.ts';
import { passkeySignIn } from './sign-in.ts';

export interface PasskeysStandOn {
  readonly sessions: Sessions;
  readonly lastMethodGuard: LastMethodGuard;
  readonly setSignInCookies: SetSignInCookies;
}

export function passkeysModule(
  { db, random, baseUrl }: ModuleContext,
  { sessions, lastMethodGuard, setSignInCookies }: PasskeysStandOn,
): Module {
  const relyingParty = () => requireRelyingParty(baseUrl());
  return {
    operations: passkeyRoutes({
      passkeys: passkeyService({ db, random, lastMethodGuard, relyingParty }),
      passkeySignIn: passkeySignIn({ db, random, sessions, relyingParty }),
      setSignInCookies,
    }),
  };
}
