/** The hosted sign-in page: asks for an e-mail address, then for the code sent to it. Its script does the asking. */

import type { Locale } from '../core/locale.ts';
import { catalogueFor, format } from '../i18n/catalogue.ts';
import { html, type Html } from '../core/html.ts';
import { renderPage } from './layout.ts';
import type { SignInPageData } from './page-data.ts';

export interface SignInPage {
  locale: Locale;
  application: { name: string; clientId: string; logoUrl: string | null; accentColor: string | null };
  /** Where the session token goes, in the fragment. The caller has checked it against the registered return URLs. */
  returnTo: string | null;
  email?: string | null;
}

/** The sign-in page of one application as a complete document. */
export function renderSignInPage({ locale, application, returnTo, email }: SignInPage): string {
  const { signin: text, errors } = catalogueFor(locale);
  const title = format(text.title, { app: application.name });
  const data: SignInPageData = {
    locale,
    clientId: application.clientId,
    appName: application.name,
    returnTo,
    text,
    errors,
  };
  return renderPage({
    locale,
    title,
    brand: applicationMark(application),
    accentColor: application.accentColor,
    script: { asset: 'sign-in.js', data, neededText: text.scriptNeeded },
    body: html`<div id="steps">
        <h1 id="title">${title}</h1>
        <p class="lead" id="lead">${text.lead}</p>
        <p class="message" id="message" role="alert"></p>
        <p class="note" id="note" role="status"></p>
        <form id="email-form" method="post" novalidate>
          <label for="email">${text.emailLabel}</label>
          <input
            id="email"
            name="email"
            type="email"
            value="${email}"
            autocomplete="username email"
            inputmode="email"
            autocapitalize="none"
            autocorrect="off"
            spellcheck="false"
            maxlength="254"
            required
            autofocus
            aria-describedby="message"
          />
          <button class="primary" id="email-submit" type="submit">${text.continue}</button>
        </form>
        <form id="code-form" method="post" novalidate hidden>
          <label for="code">${text.codeLabel}</label>
          <input
            class="code"
            id="code"
            name="code"
            type="text"
            autocomplete="one-time-code"
            inputmode="numeric"
            autocapitalize="none"
            autocorrect="off"
            spellcheck="false"
            maxlength="64"
            required
            aria-describedby="lead message"
          />
          <button class="primary" id="code-submit" type="submit">${text.verify}</button>
          <div class="choices">
            <button class="quiet" id="resend" type="button">${text.resend}</button>
            <button class="quiet" id="change-email" type="button">${text.changeEmail}</button>
          </div>
        </form>
      </div>
      <section id="signed-in" hidden>
        <h1 tabindex="-1">${text.signedInTitle}</h1>
        <p class="lead" id="signed-in-text">${text.signedIn}</p>
      </section>
      <section id="refused" hidden>
        <h1 tabindex="-1" id="refused-title">${format(text.refusedTitle, { app: application.name })}</h1>
        <p class="lead" id="refused-text"></p>
        <a class="primary" id="back" hidden>${format(text.back, { app: application.name })}</a>
        <div class="choices">
          <button class="quiet" id="refused-change-email" type="button">${text.changeEmail}</button>
        </div>
      </section>
      <p class="visually-hidden" id="announcer" role="status"></p>`,
  });
}

/** The logo, with the name's first letter behind it for when there is none or it does not load. */
function applicationMark({ name, logoUrl }: SignInPage['application']): Html {
  const [initial = ''] = name.trim().toUpperCase();
  const canShow = logoUrl !== null && /^(?:https:\/\/|data:image\/|\/(?!\/))/i.test(logoUrl);
  return html`<span class="tile" aria-hidden="true"
    >${initial}${canShow && html`<img id="logo" src="${logoUrl}" alt="" />`}</span
  >`;
}
