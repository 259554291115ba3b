/** A page that says what went wrong, for a browser that asked for a page and cannot have it. Needs no script. */

import type { Locale } from '../core/locale.ts';
import { catalogueFor, format } from '../i18n/catalogue.ts';
import { html } from '../core/html.ts';
import { gateMark, renderPage } from './layout.ts';

export interface ProblemPage {
  locale: Locale;
  status: number;
  title: string;
  message: string;
  requestId: string;
}

/** The problem as a complete document; title and message are texts for the reader, never an error's own message. */
export function renderProblemPage({ locale, status, title, message, requestId }: ProblemPage): string {
  const { errors } = catalogueFor(locale);
  return renderPage({
    locale,
    title,
    brand: html`<span class="tile">${gateMark}</span>`,
    body: html`<p class="eyebrow">${status}</p>
      <h1>${title}</h1>
      <p class="lead">${message}</p>
      <p class="hint">${format(errors.reference, { requestId })}</p>`,
  });
}
