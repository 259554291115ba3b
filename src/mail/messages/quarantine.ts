/** The mail that tells owners that a webhook endpoint was put in quarantine. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, PRODUCT } from '../letter.tsx';

/** Which endpoint was put in quarantine, and why. */
export interface QuarantineMail {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly applicationName: string;
  readonly url: string;
  /** How many attempts failed; null where the endpoint said that it is gone. */
  readonly failedAttempts: number | null;
}

/** Holds nothing of the events that wait. */
export function quarantineMail(mail: QuarantineMail): MailContent {
  const { locale, workspaceName: workspace, applicationName: app, url, failedAttempts: attempts } = mail;
  const text = textsFor(locale);
  const title = text('email.quarantine.title', { app });
  return letterMail({
    text,
    sender: PRODUCT,
    subject: title,
    heading: title,
    lead: [
      attempts === null ? text('email.quarantine.gone', { url }) : text('email.quarantine.failed', { url, attempts }),
      text('email.quarantine.next'),
    ],
    small: [text('email.ownerReason', { workspace })],
  });
}
