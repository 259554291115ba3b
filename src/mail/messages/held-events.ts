/** The mail that warns owners some days before deliveries held for a webhook endpoint are dropped. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { dayIn, letterMail, type MailContent, PRODUCT } from '../letter.tsx';

export interface HeldEventsMail {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly applicationName: string;
  readonly url: string;
  /** True if the endpoint is disabled, false if quarantined. */
  readonly isSwitchedOff: boolean;
  readonly count: number;
  /** The first day on which deliveries are dropped, in epoch milliseconds. */
  readonly dropsAt: number;
  /** The endpoint's page in the console. */
  readonly consoleUrl: string;
}

/** Contains no event data. */
export function heldEventsMail(mail: HeldEventsMail): MailContent {
  const { locale, workspaceName: workspace, applicationName: app, url, count, isSwitchedOff } = mail;
  const text = textsFor(locale);
  const title = text('email.held.title', { app });
  const date = dayIn(text.locale, mail.dropsAt);
  return letterMail({
    text,
    sender: PRODUCT,
    subject: title,
    heading: title,
    lead: [
      text('email.held.waiting', { count, url }),
      text('email.held.drop', { date }),
      isSwitchedOff ? text('email.held.enable') : text('email.held.release'),
    ],
    link: { label: text('email.held.open'), url: mail.consoleUrl },
    small: [text('email.ownerReason', { workspace })],
  });
}
