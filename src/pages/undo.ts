/** The pages behind the link that undoes a change of address: the question, and that it is done. They need no script. */

import type { Locale } from '../core/locale.ts';
import { catalogueFor } from '../i18n/catalogue.ts';
import { html } from '../core/html.ts';
import { gateMark, renderPage } from './layout.ts';

const brand = html`<span class="tile">${gateMark}</span>`;

/** What the question needs. */
export interface UndoPage {
  readonly locale: Locale;
  /** Where its form is sent. */
  readonly path: string;
  /** The link's token; the caller has found it valid. */
  readonly token: string;
}

/** Whom it is about does not stand in it: the link is all that its reader has shown. */
export function renderUndoPage({ locale, path, token }: UndoPage): string {
  const { locale: language, texts } = catalogueFor(locale);
  const { undo: text } = texts;
  return renderPage({
    locale: language,
    title: text.title,
    brand,
    body: html`<h1>${text.title}</h1>
      <p class="lead">${text.lead} ${text.effect}</p>
      <p class="lead"><strong>${text.warning}</strong></p>
      <form method="post" action="${path}">
        <input type="hidden" name="token" value="${token}" />
        <button class="primary" type="submit">${text.confirm}</button>
      </form>`,
  });
}

/** After the button. */
export function renderUndonePage(locale: Locale): string {
  const { locale: language, texts } = catalogueFor(locale);
  const { undo: text } = texts;
  return renderPage({
    locale: language,
    title: text.doneTitle,
    brand,
    body: html`<h1>${text.doneTitle}</h1>
      <p class="lead">${text.done}</p>`,
  });
}
