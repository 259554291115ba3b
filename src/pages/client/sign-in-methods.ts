/** The ways to sign in that a page offers, put together; each of them ends at `onSignedIn`. */

import type { SignInData } from '../page-data.ts';
import type { SignedIn } from './api.ts';
import { findElement } from './dom.ts';
import { createEmailCode } from './email-code.ts';
import { createPasskeySignIn } from './passkey-sign-in.ts';
import { rememberDeparture } from './provider-return.ts';
import { createSignInView, type SignInView, type SignInViewOptions } from './sign-in-view.ts';
import { canUsePasskeys } from './webauthn.ts';

type Method = 'otp' | 'passkey';

/** What the page does with a sign-in. */
export interface SignInOptions extends Pick<SignInViewOptions, 'backTo'> {
  readonly onSignedIn: (signedIn: SignedIn, method: Method) => Promise<void>;
}

/** The sign-in part of a page. */
export interface SignIn {
  readonly view: SignInView;
  /** Goes on where a reload came in between, and offers passkeys in the e-mail field. */
  start(): void;
}

/** Shows the ways that the server has put on the page and this browser can go. */
export function createSignIn(data: SignInData, { backTo, onSignedIn }: SignInOptions): SignIn {
  const view = createSignInView(data, { backTo, onRefused: () => emailCode?.forget() });
  const passkeyButton = findElement('passkey', HTMLButtonElement);
  const provider = findElement('provider', HTMLAnchorElement);
  const hasPasskeys = canUsePasskeys(data.passkeyHost);
  const passkeys =
    passkeyButton && hasPasskeys
      ? createPasskeySignIn(data, view, (signedIn) => onSignedIn(signedIn, 'passkey'))
      : null;
  const emailCode = findElement('email-form', HTMLFormElement)
    ? createEmailCode(data, view, {
        onSignedIn: (signedIn) => onSignedIn(signedIn, 'otp'),
        onChosen: () => passkeys?.cancel(),
      })
    : null;
  provider?.addEventListener('click', rememberDeparture);

  hide(passkeyButton, !passkeys);
  hide(findElement('divider', HTMLElement), !passkeys && !provider);
  const hasWay = Boolean(emailCode ?? passkeys ?? provider);
  hide(findElement('no-ways', HTMLElement), hasWay);
  hide(findElement('lead', HTMLElement), !hasWay);

  return {
    view,
    start() {
      emailCode?.resume();
      if (emailCode) void passkeys?.suggest();
    },
  };
}

function hide(found: HTMLElement | null, isHidden: boolean): void {
  if (found) found.hidden = isHidden;
}
