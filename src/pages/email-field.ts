/** The field for an e-mail address, as every page that asks for one shows it. */

import { html, type Html } from '../core/html.ts';

/** How the field is labelled and filled. */
export interface EmailField {
  label: string;
  /** What the browser may offer to fill in; the values of the HTML standard's `autocomplete` (§4.10.18.7). */
  autocomplete: string;
  value?: string | null | undefined;
}

/** The label and its field, which has the focus and is described by the page's `#message`. */
export function emailField({ label, autocomplete, value }: EmailField): Html {
  return html`<label for="email">${label}</label>
    <input
      id="email"
      name="email"
      type="email"
      value="${value}"
      autocomplete="${autocomplete}"
      inputmode="email"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      maxlength="254"
      required
      autofocus
      aria-describedby="message"
    />`;
}
