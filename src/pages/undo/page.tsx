/** Pages of the link that undoes an address change: confirmation and result. They work without JavaScript. */
import { CircleCheck } from 'lucide';
import { isClosed } from '../../core/application-state.ts';
import type { Locale } from '../../core/locale.ts';
import type { PageApplication } from '../../http/request-context.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { brandOf } from '../application-brand.ts';
import { ApplicationFrame } from '../components/application-frame.tsx';
import { Button, LinkButton } from '../components/button.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { renderPage } from '../document.tsx';
import { ownAddress } from '../sign-in/sign-in-data.ts';

interface Undo {
  readonly locale: Locale;
  /** Application that mailed the link. */
  readonly application: PageApplication | null;
}

export interface UndoPage extends Undo {
  /** Where the form is sent. */
  readonly action: string;
  /** Validated token of the link. */
  readonly token: string;
}

/** Renders the confirmation without personal data: holding the link proves nothing more. */
export function renderUndoPage({ locale, application, action, token }: UndoPage): string {
  const text = textsFor(locale);
  return renderPage({
    locale,
    title: text('account.undo.title'),
    brand: application && brandOf(application),
    module: 'language.js',
    body: (
      <ApplicationFrame application={application} locale={locale}>
        <section class="step">
          <h1>{text('account.undo.title')}</h1>
          <p class="lead">
            {text('account.undo.lead')} {text('account.undo.effect')}
          </p>
          <p class="lead">
            <strong>{text('account.undo.warning')}</strong>
          </p>
          <form method="post" action={action}>
            <input type="hidden" name="token" value={token} />
            <Button type="submit">{text('account.undo.confirm')}</Button>
          </form>
        </section>
      </ApplicationFrame>
    ),
  });
}

/** Without a language switch: the answer to a form cannot be loaded again. */
export function renderUndonePage({ locale, application }: Undo): string {
  const text = textsFor(locale);
  return renderPage({
    locale,
    title: text('account.undo.doneTitle'),
    brand: application && brandOf(application),
    body: (
      <ApplicationFrame application={application}>
        <OutcomeStep
          icon={CircleCheck}
          tone="good"
          title={text('account.undo.doneTitle')}
          lead={text('account.undo.done')}
        >
          {application && !isClosed(application) && (
            <LinkButton id="sign-in" href={ownAddress('/sign-in', { clientId: application.clientId, locale })}>
              {text('signin.verify')}
            </LinkButton>
          )}
        </OutcomeStep>
      </ApplicationFrame>
    ),
  });
}
