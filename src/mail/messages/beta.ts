/** The mails of the beta gate: you are in, not yet, and now open. */
import type { Locale } from '../../core/locale.ts';
import { textsFor } from '../../i18n/catalogue.ts';
import { letterMail, type MailContent, type Sender } from '../letter.tsx';

/** What became of a request to be let in. */
export type BetaMail = 'approved' | 'declined' | 'launched';

const SERVICES = { approved: 'betaApproved', declined: 'betaDeclined', launched: 'betaLaunched' } as const;

/** For people who may have no account: says why they get it. @param signInUrl where those who may sign in do so. */
export function betaMail(kind: BetaMail, locale: Locale, application: Sender, signInUrl: string): MailContent {
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
    small: [text('email.betaReason', { app })],
  });
}
