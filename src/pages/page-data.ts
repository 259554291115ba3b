/** What the server hands to the pages' scripts. Types only, so that both sides can share them. */

import type { Catalogue } from '../i18n/catalogue.ts';

/** What signing in needs, on whichever page it stands. */
export interface SignInData {
  /** The reader's own, for the mail with the code; the page may be in another. */
  locale: string;
  clientId: string;
  appName: string;
  /** The host that passkeys of this server belong to; null where the application takes none. */
  passkeyHost: string | null;
  text: Catalogue['signin'];
  errors: Catalogue['errors'];
}

/** Of the sign-in page. */
export interface SignInPageData extends SignInData {
  returnTo: string | null;
}

/** Of the page that takes the code. */
export interface DeviceCodePageData {
  text: Catalogue['device'];
}

/** Of the page behind a code that is good. */
export interface DevicePageData extends SignInData {
  userCode: string;
  device: Catalogue['device'];
}

/** Of the setup page; the token is the link's own. */
export interface SetupPageData {
  token: string;
  text: Catalogue['setup'];
  errors: Catalogue['errors'];
}
