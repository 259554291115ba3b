/** The page behind a one-time setup link: makes the first owner, or gives access back, then offers an API key. */

import type { Locale } from '../core/locale.ts';
import { catalogueFor } from '../i18n/catalogue.ts';
import { html } from '../core/html.ts';
import { emailField } from './email-field.ts';
import { gateMark, renderPage } from './layout.ts';
import type { SetupPageData } from './page-data.ts';

/** What the setup page shows. */
export interface SetupPage {
  locale: Locale;
  /** The link's token; the caller has found it valid. */
  token: string;
  hasOwner: boolean;
}

/** The setup page as a complete document. */
export function renderSetupPage({ locale, token, hasOwner }: SetupPage): string {
  const { locale: language, texts } = catalogueFor(locale);
  const { setup: text, errors } = texts;
  const title = hasOwner ? text.recoverTitle : text.title;
  const data: SetupPageData = { token, text, errors };
  return renderPage({
    locale: language,
    title,
    brand: html`<span class="tile">${gateMark}</span>`,
    isWide: true,
    script: { asset: 'setup.js', data, neededText: text.scriptNeeded },
    body: html`<div id="ask">
        <h1>${title}</h1>
        <p class="lead">${hasOwner ? text.recoverLead : text.lead}</p>
        <p class="message" id="message" role="alert"></p>
        <form id="setup-form" method="post" novalidate>
          ${emailField({ label: text.emailLabel, autocomplete: 'username email' })}
          <button class="primary" id="setup-submit" type="submit">
            ${hasOwner ? text.recoverSubmit : text.submit}
          </button>
        </form>
      </div>
      <div id="done" hidden>
        <h1 id="done-title" tabindex="-1">${hasOwner ? text.recoverDoneTitle : text.doneTitle}</h1>
        <p class="lead" id="done-lead"></p>
        <section class="part" aria-labelledby="key-title">
          <div class="sample-head">
            <h2 id="key-title" tabindex="-1">${text.keyTitle}</h2>
            <button class="small" id="copy-key" type="button" aria-label="${text.copyKey}" hidden>${text.copy}</button>
          </div>
          <p class="lead" id="key-lead">${text.keyLead}</p>
          <p class="message" id="key-message" role="alert"></p>
          <button class="primary" id="create-key" type="button">${text.createKey}</button>
          <div id="key-result" hidden>
            <output class="sample" id="key" aria-labelledby="key-title" aria-live="off" translate="no"></output>
            <p class="hint">${text.keyWarning}</p>
            <div class="sample-head">
              <h3 id="example-title">${text.example}</h3>
              <button class="small" id="copy-example" type="button" aria-label="${text.copyExample}">
                ${text.copy}
              </button>
            </div>
            <pre class="sample" id="example" translate="no"></pre>
          </div>
        </section>
      </div>
      <p class="visually-hidden" id="announcer" role="status"></p>`,
  });
}
