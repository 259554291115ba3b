/** Signing in as a part of a page: the e-mail form, the other ways of an application, the code, and a refusal. */

import { format } from '../core/format.ts';
import { html, type Html } from '../core/html.ts';
import type { Catalogue } from '../i18n/catalogue.ts';
import { emailField } from './email-field.ts';
import { otherWays, type SignInOffer } from './ways-in.ts';

/** What the part shows. `lead` may be HTML; all else is text. */
export interface SignInPart {
  text: Catalogue['signin'];
  appName: string;
  title: string;
  lead: Html | string;
  ways: SignInOffer;
  email?: string | null;
}

/** Its script finds everything by id, so a page has it once. */
export function signInPart({ text, appName, title, lead, ways, email }: SignInPart): Html {
  return html`<div id="steps">
      <h1 id="title">${title}</h1>
      <p class="lead" id="lead">${lead}</p>
      <p class="message" id="message" role="alert"></p>
      <p class="note" id="note" role="status"></p>
      <div id="ways">
        ${ways.isCodeAllowed && emailForm(text, email)} ${otherWays(text, ways)}
        <p class="message" id="no-ways" hidden>${format(text.noWays, { app: appName })}</p>
      </div>
      ${ways.isCodeAllowed && codeForm(text)}
    </div>
    <section id="refused" hidden>
      <h1 tabindex="-1" id="refused-title"></h1>
      <p class="lead" id="refused-text"></p>
      <a class="primary" id="back" hidden>${format(text.back, { app: appName })}</a>
      <div class="choices">
        <button class="quiet" id="refused-change-email" type="button">
          ${ways.isCodeAllowed ? text.changeEmail : text.otherWay}
        </button>
      </div>
    </section>
    <p class="visually-hidden" id="announcer" role="status"></p>`;
}

function emailForm(text: Catalogue['signin'], email: string | null | undefined): Html {
  return html`<form id="email-form" method="post" novalidate>
    ${emailField({ label: text.emailLabel, autocomplete: 'username webauthn', value: email })}
    <button class="primary" id="email-submit" type="submit">${text.continue}</button>
  </form>`;
}

function codeForm(text: Catalogue['signin']): Html {
  return html`<form id="code-form" method="post" novalidate hidden>
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
  </form>`;
}
