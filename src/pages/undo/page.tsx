/** Pages of the link that undoes an address change: confirmation and result. They work without JavaScript. */
import { CircleCheck } from 'lucide';
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { ProductMark } from '../components/application-mark.tsx';
import { Button } from '../components/button.tsx';
import { Frame } from '../components/frame.tsx';
import { OutcomeStep } from '../components/outcome.tsx';
import { renderPage } from '../document.tsx';

export interface UndoPage {
  readonly locale: Locale;
  readonly path: string;
  /** Validated token of the link. */
  readonly token: string;
}

/** Renders the confirmation without personal data: holding the link proves nothing more. */
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
