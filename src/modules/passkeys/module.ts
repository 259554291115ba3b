/** Passkeys: registration, management and sign-in. */
import { requireRelyingParty } from '../../core/relying-party.ts';
import type { Module, World } from '../module.ts';
import type { Sessions } from '../sessions/service.ts';
import type { SetSignInCookies } from '../sign-in/browser-cookies.ts';
import type { WaysIn } from '../sign-in/ways-in.ts';
import { passkeyRoutes } from './routes.ts';
import { passkeyService } from './service.ts';
import { passkeySignIn } from './sign-in.ts';

export interface PasskeysStandOn {
  readonly sessions: Sessions;
  readonly waysIn: WaysIn;
  readonly setSignInCookies: SetSignInCookies;
}

export function passkeysModule(
  { db, random, baseUrl }: World,
  { sessions, waysIn, setSignInCookies }: PasskeysStandOn,
): Module {
  const relyingParty = () => requireRelyingParty(baseUrl());
  return {
    operations: passkeyRoutes({
      passkeys: passkeyService({ db, random, waysIn, relyingParty }),
      passkeySignIn: passkeySignIn({ db, random, sessions, relyingParty }),
      setSignInCookies,
    }),
  };
}
