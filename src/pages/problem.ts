/** A page that says what went wrong, for a browser that asked for a page and cannot have it. Needs no script. */

import type { AppError, ErrorCode } from '../core/error.ts';
import { format } from '../core/format.ts';
import { html, type Html } from '../core/html.ts';
import type { RequestContext } from '../http/request-context.ts';
import { queryOf } from '../http/request-url.ts';
import { type Catalogue, catalogueFor } from '../i18n/catalogue.ts';
import { gateMark, renderPage } from './layout.ts';
import { localeOf } from './page-locale.ts';
import { waitText } from './wait-text.ts';
import { ownAddress } from './ways-in.ts';

const TITLES: Readonly<Record<number, keyof Catalogue['problem']>> = {
  400: 'linkTitle',
  403: 'refusedTitle',
  404: 'missingTitle',
  429: 'waitTitle',
};

/** Trying again may help. */
const PASSING: readonly ErrorCode[] = ['rate_limited', 'internal', 'unavailable'];
/** Another way to sign in may help. */
const OF_ONE_WAY: readonly ErrorCode[] = ['forbidden', 'invalid_state', 'provider_failed'];

/** The problem as a complete document, in the reader's words: what an error says to programs is never among them. */
export function renderProblemPage(error: AppError, context: Pick<RequestContext, 'request' | 'requestId'>): string {
  const { locale, texts } = catalogueFor(localeOf(context));
  const title = texts.problem[TITLES[error.status] ?? 'title'];
  return renderPage({
    locale,
    title,
    brand: html`<span class="tile">${gateMark}</span>`,
    body: html`<p class="eyebrow">${error.status}</p>
      <h1>${title}</h1>
      <p class="lead">${problemText(error, texts)}</p>
      ${wayOn(error, context, texts)}
      <p class="hint">${format(texts.errors.reference, { requestId: context.requestId })}</p>`,
  });
}

/** By the hint, where people can do something else about it than about its code. */
function problemText({ code, hint, status, retryAfterSeconds }: AppError, { errors, ...texts }: Catalogue): string {
  if (code === 'rate_limited') return waitText(errors, retryAfterSeconds ?? 60);
  const { setup, undo, problem, problems } = texts;
  const said: Record<string, string> = {
    ...errors,
    setup_link_spent: setup.linkSpent,
    undo_link_spent: undo.linkSpent,
    undo_address_taken: undo.addressTaken,
    ...problems,
  };
  return (hint && said[hint]) ?? said[code] ?? (status < 500 ? problem.other : errors.internal);
}

/** A link to where it goes on, within this server; a link that is wrong leads nowhere. */
function wayOn(
  { code, status }: AppError,
  { request }: Pick<RequestContext, 'request'>,
  { problem, signin }: Catalogue,
): Html | false {
  // An empty address is this very page.
  if (PASSING.includes(code)) return html`<a class="primary" href="">${problem.tryAgain}</a>`;
  const query = queryOf(request);
  const clientId = query.get('clientId');
  if (clientId !== null && OF_ONE_WAY.includes(code)) {
    const address = ownAddress('/sign-in', { clientId, locale: query.get('locale') });
    return html`<a class="primary" href="${address}">${signin.otherWay}</a>`;
  }
  return status !== 400 && html`<a class="primary" href="/">${problem.home}</a>`;
}
