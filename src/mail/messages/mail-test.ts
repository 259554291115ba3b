/** The mail that shows whether mail arrives; for the people who run a workspace. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, PRODUCT } from '../letter.tsx';

/** Whose mail is tested. */
export interface MailTest {
  readonly locale: Locale;
  readonly workspaceName: string;
  /** The name that this server goes by. */
  readonly host: string;
}

/** Says that it is a test, who asked for it, and nothing else. */
export function mailTestMail({ locale, workspaceName: workspace, host }: MailTest): MailContent {
  const text = textsFor(locale);
  const title = text('email.mailTest.title', { workspace });
  return letterMail({
    text,
    sender: PRODUCT,
    subject: title,
    heading: title,
    lead: [text('email.mailTest.lead', { host })],
    small: [text('email.mailTest.reason', { workspace })],
  });
}
