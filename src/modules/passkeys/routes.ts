import { type Operation, operation } from '../../http/operation.ts';
import { RemovalQuery, SignedIn } from '../sign-in/model.ts';
import { SIGN_IN_REFUSALS } from '../sign-in/complete.ts';
import type { PageBrowserOf } from '../sign-in/known-browsers.ts';
import type { SetSignInCookies } from '../sign-in/browser-cookies.ts';
import {
  AttestationOptions,
  NewPasskeyInput,
  PasskeyOptionsInput,
  PasskeyPatch,
  PasskeyRecord,
  PasskeyRemoved,
  PasskeyPage,
  PasskeySignInInput,
  AssertionOptions,
} from './model.ts';
import type { Passkeys } from './service.ts';
import type { PasskeySignIn } from './sign-in.ts';

export interface PasskeyRouteDependencies {
  readonly passkeys: Passkeys;
  readonly passkeySignIn: PasskeySignIn;
  readonly setSignInCookies: SetSignInCookies;
  readonly pageBrowserOf: PageBrowserOf;
}

const own = { tag: 'Account', access: 'session', scope: 'instance', limit: 'session' } as const;
const signIn = { tag: 'Sign-in', access: 'none', scope: 'instance', limit: 'passkey' } as const;

export function passkeyRoutes(dependencies: PasskeyRouteDependencies): Operation[] {
  const { passkeys, passkeySignIn, setSignInCookies, pageBrowserOf } = dependencies;
  return [
    operation({
      ...signIn,
      id: 'requestPasskeySignIn',
      method: 'POST',
      path: '/api/v1/auth/passkey/options',
      summary: 'Get options for signing in with a passkey',
      description:
        'Options for a discoverable credential with user verification; pass `options` to the browser, with or without conditional UI.',
      body: PasskeyOptionsInput,
      data: AssertionOptions,
      errors: ['not_found', 'application_archived', 'forbidden', 'invalid_state'],
      handle: ({ actor, body }) => passkeySignIn.options(actor, body.clientId),
    }),
    operation({
      ...signIn,
      id: 'verifyPasskeySignIn',
      method: 'POST',
      path: '/api/v1/auth/passkey/verify',
      summary: 'Exchange a passkey assertion for a session',
      description: 'A challenge is valid for five minutes and for one attempt, successful or not.',
      body: PasskeySignInInput,
      data: SignedIn,
      errors: [
        'passkey_unknown',
        'passkey_invalid',
        'code_expired',
        'code_consumed',
        'invalid_state',
        ...SIGN_IN_REFUSALS,
      ],
      async handle({ actor, body, context }) {
        const signedIn = await passkeySignIn.verify(actor, body, {
          userAgent: context.request.headers.get('user-agent'),
          pageBrowser: pageBrowserOf(context.request),
        });
        await setSignInCookies(context, actor, signedIn);
        return signedIn;
      },
    }),
    operation({
      ...own,
      id: 'listPasskeys',
      method: 'GET',
      path: '/api/account/passkeys',
      summary: 'List my passkeys',
      data: PasskeyPage,
      handle: ({ principal }) => passkeys.list(principal),
    }),
    operation({
      ...own,
      id: 'requestPasskey',
      method: 'POST',
      path: '/api/account/passkeys/options',
      summary: 'Get options for registering a passkey',
      description:
        'The passkey signs in to the applications of this workspace; registered in the console, to those of all workspaces. Needs a fresh session.',
      data: AttestationOptions,
      errors: ['reauthentication_required', 'invalid_state'],
      handle: ({ actor, principal }) => passkeys.options(actor, principal),
    }),
    operation({
      ...own,
      id: 'addPasskey',
      method: 'POST',
      path: '/api/account/passkeys',
      summary: 'Register a passkey',
      body: NewPasskeyInput,
      data: PasskeyRecord,
      errors: ['code_expired', 'code_consumed', 'passkey_invalid', 'conflict', 'invalid_state'],
      handle: ({ actor, principal, body }) => passkeys.add(actor, principal, body),
    }),
    operation({
      ...own,
      id: 'renamePasskey',
      method: 'PATCH',
      path: '/api/account/passkeys/:passkeyId',
      summary: 'Rename a passkey',
      body: PasskeyPatch,
      data: PasskeyRecord,
      errors: ['not_found'],
      handle: ({ actor, principal, params, body }) => passkeys.rename(actor, principal, params.passkeyId, body.name),
    }),
    operation({
      ...own,
      id: 'removePasskey',
      method: 'DELETE',
      path: '/api/account/passkeys/:passkeyId',
      summary: 'Remove a passkey',
      description:
        'Needs a fresh session. Removing the last sign-in method for an application needs `force=true`. Sessions made with the passkey end, including this one if it was; `endAllSessions=true` ends all others as well.',
      query: RemovalQuery,
      data: PasskeyRemoved,
      errors: ['not_found', 'reauthentication_required', 'invalid_state'],
      handle: ({ actor, principal, params, query }) => passkeys.remove(actor, principal, params.passkeyId, query),
    }),
  ];
}
