import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, PRODUCT } from '../letter.tsx';

export interface QuarantineMail {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly applicationName: string;
  readonly url: string;
  /** True if it is sent logout tokens, false for a webhook. */
  readonly isOfLogout: boolean;
  /** Number of failed attempts; null if the endpoint answered 410 Gone. */
  readonly failedAttempts: number | null;
}

/** Contains no event data. */
export function quarantineMail(mail: QuarantineMail): MailContent {
  const { locale, workspaceName: workspace, applicationName: app, url, isOfLogout, failedAttempts: attempts } = mail;
  const text = textsFor(locale);
  const title = isOfLogout ? text('email.quarantine.signOutTitle', { app }) : text('email.quarantine.title', { app });
  return letterMail({
    text,
    sender: PRODUCT,
    subject: title,
    heading: title,
    lead: [
      attempts === null ? text('email.quarantine.gone', { url }) : text('email.quarantine.failed', { url, attempts }),
      isOfLogout ? text('email.quarantine.signOutNext', { app }) : text('email.quarantine.next'),
    ],
    small: [text('email.ownerReason', { workspace })],
  });
}
