/** What the server hands to the pages' scripts. Types only, so that both sides can share them. */

import type { Catalogue } from '../i18n/catalogue.ts';

export interface SignInPageData {
  locale: string;
  clientId: string;
  appName: string;
  returnTo: string | null;
  text: Catalogue['signin'];
  errors: Catalogue['errors'];
}

export interface SetupPageData {
  locale: string;
  token: string;
  text: Catalogue['setup'];
  errors: Catalogue['errors'];
}
