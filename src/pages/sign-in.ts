/** The hosted sign-in page of an application, and the offer of a passkey at its end. Its script does the asking. */

import type { Locale } from '../core/locale.ts';
import { format } from '../core/format.ts';
import { html } from '../core/html.ts';
import { catalogueFor } from '../i18n/catalogue.ts';
import { applicationMark, type ShownApplication } from './application.ts';
import { renderPage } from './layout.ts';
import type { SignInPageData } from './page-data.ts';
import { signInPart } from './sign-in-part.ts';
import type { SignInOffer } from './ways-in.ts';

/** What the sign-in page shows. */
export interface SignInPage {
  locale: Locale;
  application: ShownApplication;
  ways: SignInOffer;
  /** Where the session token goes, in the fragment. The caller has checked it against the registered return URLs. */
  returnTo: string | null;
  email?: string | null;
}

/** The sign-in page of one application as a complete document. */
export function renderSignInPage({ locale, application, ways, returnTo, email }: SignInPage): string {
  const { locale: language, texts } = catalogueFor(locale);
  const { signin: text, errors } = texts;
  const { name: appName, clientId } = application;
  const title = format(text.title, { app: appName });
  const lead = ways.isCodeAllowed ? text.lead : text.leadWithoutCode;
  const data: SignInPageData = {
    locale,
    clientId,
    appName,
    passkeyHost: ways.passkeyHost,
    returnTo,
    text,
    errors,
  };
  return renderPage({
    locale: language,
    title,
    brand: applicationMark(application),
    accentColor: application.accentColor,
    script: { asset: 'sign-in.js', data, neededText: text.scriptNeeded },
    body: html`${signInPart({ text, appName, title, lead, ways, email })}
      <section id="offer" hidden>
        <h1 tabindex="-1">${text.offerTitle}</h1>
        <p class="lead">${text.offerLead}</p>
        <button class="primary" id="offer-create" type="button">${text.offerCreate}</button>
        <button class="way" id="offer-skip" type="button">${text.offerSkip}</button>
      </section>
      <section id="signed-in" hidden>
        <h1 tabindex="-1">${text.signedInTitle}</h1>
        <p class="lead" id="signed-in-text">${text.signedIn}</p>
      </section>`,
  });
}
