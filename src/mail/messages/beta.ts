/** Mails of the waitlist: approved, declined, launched. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';

export type BetaMail = 'approved' | 'declined' | 'launched';

const SERVICES = { approved: 'betaApproved', declined: 'betaDeclined', launched: 'betaLaunched' } as const;

/** Explains why the reader gets it, since they may have no account. @param line the application's own. */
export function betaMail(
  kind: BetaMail,
  locale: Locale,
  application: Sender,
  signInUrl: string,
  line: string | null,
): MailContent {
  const text = textsFor(locale);
  const app = application.name;
  const service = SERVICES[kind];
  const title = text(`email.${service}.title`, { app });
  return letterMail({
    text,
    sender: application,
    subject: title,
    heading: title,
    lead: [text(`email.${service}.lead`, { app })],
    ...(kind !== 'declined' && { link: { label: text('email.signInAction', { app }), url: signInUrl } }),
    line,
    small: [text('email.betaReason', { app })],
  });
}
