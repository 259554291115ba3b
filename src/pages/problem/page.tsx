/** Error page for browsers that requested a page. Works without JavaScript. */
import type { AppError, ErrorCode } from '../../core/error.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import type { MessageKey, Texts } from '../../i18n/texts.ts';
import { homeOf } from '../application-home.ts';
import { ProductMark } from '../components/application-mark.tsx';
import { LinkButton } from '../components/button.tsx';
import { waitText } from '../components/failure-text.ts';
import { Frame } from '../components/frame.tsx';
import { renderPage } from '../document.tsx';
import { localeOf } from '../page-locale.ts';
import { ownAddress } from '../sign-in/sign-in-data.ts';

const TITLES: Readonly<Record<number, MessageKey>> = {
  400: 'errors.problem.linkTitle',
  403: 'errors.problem.refusedTitle',
  404: 'errors.problem.missingTitle',
  429: 'errors.problem.waitTitle',
};

/** Errors for which a retry may help. */
const PASSING: readonly ErrorCode[] = ['rate_limited', 'internal', 'unavailable'];
/** Errors for which another sign-in method may help. */
const OF_ONE_WAY: readonly ErrorCode[] = ['forbidden', 'invalid_state', 'provider_failed'];

type ProblemContext = Pick<RequestContext, 'request' | 'requestId' | 'application'>;

/** Renders the error in the reader's language; the error's own message is for developers. */
export function renderProblemPage(error: AppError, context: ProblemContext): string {
  const locale = localeOf(context);
  const text = textsFor(locale);
  const title = titleOf(error, text);
  const { requestId } = context;
  const wayOn = wayOnFrom(error, context, text);
  return renderPage({
    locale,
    title,
    body: (
      <Frame brand={<ProductMark />}>
        <section class="step">
          <p class="eyebrow">{error.status}</p>
          <h1>{title}</h1>
          <p class="lead">{problemText(error, text)}</p>
          {wayOn && (
            <div class="actions">
              <LinkButton href={wayOn.href}>{wayOn.label}</LinkButton>
            </div>
          )}
          <p class="hint">{text('errors.reference', { requestId })}</p>
        </section>
      </Frame>
    ),
  });
}

function titleOf({ status, hint }: AppError, text: Texts): string {
  if (hint === 'setup_link_spent') return text('signin.setup.spentTitle');
  return text(TITLES[status] ?? 'errors.problem.title');
}

/** Prefers the hint's text, which is more specific than the code's. */
function problemText({ code, hint, status, retryAfterSeconds }: AppError, text: Texts): string {
  if (code === 'rate_limited') return waitText(text, retryAfterSeconds ?? 60);
  for (const key of [`errors.${hint}`, `errors.problem.${code}`, `errors.${code}`]) if (text.has(key)) return text(key);
  return text(status < 500 ? 'errors.problem.other' : 'errors.internal');
}

/**
 * Returns the next link: this page again, another sign-in method, or the application's home; null if none is known.
 * Never this server's start page, which leads to the operator's console.
 */
function wayOnFrom({ code }: AppError, { request, application }: ProblemContext, text: Texts) {
  // An empty address means this page.
  if (PASSING.includes(code)) return { href: '', label: text('errors.problem.tryAgain') };
  const query = queryOf(request);
  const clientId = query.get('clientId');
  if (clientId !== null && OF_ONE_WAY.includes(code)) {
    const href = ownAddress('/sign-in', { clientId, locale: query.get('locale') });
    return { href, label: text('signin.otherWay') };
  }
  const home = application && homeOf(application);
  return home && application && { href: home, label: text('signin.back', { app: application.name }) };
}
