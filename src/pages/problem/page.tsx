/** Error page for browsers that requested a page. Works without JavaScript. */
import { Archive } from 'lucide';
import type { AppError } from '../../core/error.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { pathOf } from '../../http/request-url.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import type { MessageKey, Texts } from '../../i18n/texts.ts';
import { brandOf } from '../application-brand.ts';
import { ApplicationFrame } from '../components/application-frame.tsx';
import { waitText } from '../components/failure-text.ts';
import { hyphenated } from '../../core/hyphenated.ts';
import { OutcomeStep } from '../components/outcome.tsx';
import { renderPage } from '../document.tsx';
import { localeOf } from '../page-locale.ts';
import { WaysOn } from './ways-on.tsx';

const TITLES: Readonly<Record<number, MessageKey>> = {
  400: 'errors.problem.linkTitle',
  403: 'errors.problem.refusedTitle',
  404: 'errors.problem.missingTitle',
  429: 'errors.problem.waitTitle',
};

export type ProblemContext = Pick<RequestContext, 'request' | 'requestId' | 'application'>;

/** Renders the error in the reader's language; the error's own message is for developers. */
export function renderProblemPage(error: AppError, context: ProblemContext): string {
  const { application } = context;
  const locale = localeOf(context);
  const text = textsFor(locale);
  const isArchived = error.code === 'application_archived' && application !== null;
  const title = isArchived ? text('signin.archivedTitle', { app: hyphenated(application.name) }) : titleOf(error, text);
  return renderPage({
    locale,
    title,
    brand: application && brandOf(application),
    module: 'language.js',
    body: (
      <ApplicationFrame application={application} locale={canBeRead(context.request) ? locale : undefined}>
        {isArchived ? (
          <OutcomeStep icon={Archive} tone="neutral" title={title} lead={text('signin.archivedLead')}>
            <WaysOn error={error} context={context} />
          </OutcomeStep>
        ) : (
          <section class="step">
            <h1>{title}</h1>
            <p class="lead">{problemText(error, text)}</p>
            <WaysOn error={error} context={context} />
            <p class="hint">
              {text('errors.reference', { requestId: `${error.status}\u00a0·\u00a0${context.requestId}` })}
            </p>
          </section>
        )}
      </ApplicationFrame>
    ),
  });
}

/** A form's answer and a provider's answer are gone when their address is loaded again. */
const canBeRead = (request: Request) => request.method === 'GET' && !pathOf(request).startsWith('/api/');

function titleOf({ status, hint }: AppError, text: Texts): string {
  if (hint === 'setup_link_spent') return text('signin.setup.spentTitle');
  if (hint === 'undo_link_spent') return text('errors.problem.spentTitle');
  return text(TITLES[status] ?? 'errors.problem.title');
}

/** Prefers the hint's text, which is more specific than the code's. */
function problemText({ code, hint, status, retryAfterSeconds }: AppError, text: Texts): string {
  if (code === 'rate_limited') return waitText(text, retryAfterSeconds ?? 60);
  for (const key of [`errors.${hint}`, `errors.problem.${code}`, `errors.${code}`]) if (text.has(key)) return text(key);
  return text(status < 500 ? 'errors.problem.other' : 'errors.internal');
}
