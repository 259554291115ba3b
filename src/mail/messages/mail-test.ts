/** The test mail, for people who run a workspace. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, PRODUCT } from '../letter.tsx';

export interface MailTest {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly host: string;
}

/** States that it is a test and which server sent it, and nothing else. */
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
