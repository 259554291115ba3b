/** Drives the sign-in page: signs the reader in and takes them back to the application with a session token. */

import { format } from '../../core/format.ts';
import type { SignInPageData } from '../page-data.ts';
import { failureOfCode } from './api.ts';
import { showApplicationLook } from './application-look.ts';
import { element, readPageData } from './dom.ts';
import { offerPasskey } from './passkey-offer.ts';
import { takeProviderReturn } from './provider-return.ts';
import { addressBack } from './return-url.ts';
import { createSignIn } from './sign-in-methods.ts';

const data = readPageData<SignInPageData>();

const { view, start } = createSignIn(data, {
  backTo: (reason) => addressBack(data.returnTo, { error: reason }),
  async onSignedIn({ token, expiresAt }, method) {
    if (method === 'otp') await offerPasskey(data, view, token);
    finish({ token, expiresAt });
  },
});

/** The token goes on in a fragment, exactly as a link straight to the application would carry it. */
function finish(session: { token: string; expiresAt: string }): void {
  const address = addressBack(data.returnTo, session);
  if (address) element('signed-in-text', HTMLElement).textContent = format(data.text.returning, { app: data.appName });
  view.showOnly(element('signed-in', HTMLElement));
  if (address) location.replace(address);
}

showApplicationLook();
const back = takeProviderReturn();
if (back && 'token' in back) finish(back);
else {
  start();
  if (back) view.showFailure(failureOfCode(back.error));
}
