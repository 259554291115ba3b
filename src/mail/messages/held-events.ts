/** The mail that tells owners, some days before, that what is held for a webhook endpoint will be dropped. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { dayIn, letterMail, type MailContent, PRODUCT } from '../letter.tsx';

/** What waits for which endpoint, and until when. */
export interface HeldEventsMail {
  readonly locale: Locale;
  readonly workspaceName: string;
  readonly applicationName: string;
  /** The endpoint's. */
  readonly url: string;
  /** It was switched off; else it is in quarantine. */
  readonly isSwitchedOff: boolean;
  readonly count: number;
  /** The first day on which something is dropped, in epoch milliseconds. */
  readonly dropsAt: number;
  /** Of the endpoint in the console. */
  readonly consoleUrl: string;
}

/** Holds nothing of the events themselves. */
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
