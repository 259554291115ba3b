/** The pages behind the link that undoes a change of address: the question, and that it is done. They need no script. */
import { CircleCheck } from 'lucide';
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { ProductMark } from '../components/application-mark.tsx';
import { Button } from '../components/button.tsx';
import { Frame } from '../components/frame.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { renderPage } from '../document.tsx';

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
  const text = textsFor(locale);
  return renderPage({
    locale,
    title: text('account.undo.title'),
    body: (
      <Frame brand={<ProductMark />}>
        <section class="step">
          <h1>{text('account.undo.title')}</h1>
          <p class="lead">
            {text('account.undo.lead')} {text('account.undo.effect')}
          </p>
          <p class="lead">
            <strong>{text('account.undo.warning')}</strong>
          </p>
          <form method="post" action={path}>
            <input type="hidden" name="token" value={token} />
            <Button type="submit">{text('account.undo.confirm')}</Button>
          </form>
        </section>
      </Frame>
    ),
  });
}

/** After the button. */
export function renderUndonePage(locale: Locale): string {
  const text = textsFor(locale);
  return renderPage({
    locale,
    title: text('account.undo.doneTitle'),
    body: (
      <Frame brand={<ProductMark />}>
        <OutcomeStep
          icon={CircleCheck}
          tone="good"
          title={text('account.undo.doneTitle')}
          lead={text('account.undo.done')}
        />
      </Frame>
    ),
  });
}
