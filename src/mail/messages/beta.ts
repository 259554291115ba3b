/** The mails of the beta gate: you are in, not yet, and now open. */
import { type MailContent, noticeMail } from './notice.ts';

/** What became of a request to be let in. */
export type BetaMail = 'approved' | 'declined' | 'launched';

const TEXTS: Record<BetaMail, { subject: string; before: (app: string) => string[] }> = {
  approved: {
    subject: 'You can now sign in to',
    before: (app) => [`Your request was approved: you can sign in to ${app} with this e-mail address from now on.`],
  },
  declined: {
    subject: 'Your request for',
    before: (app) => [
      `Thank you for your interest in ${app}. There is no place for you yet, but we will be in touch: when it opens to everyone, you will hear of it.`,
    ],
  },
  launched: {
    subject: 'Now open:',
    before: (app) => [
      `You asked to hear when ${app} opens: it is open now, and you can sign in with this e-mail address.`,
    ],
  },
};

/** For people who may have no account: says why they get it. */
export function betaMail(kind: BetaMail, applicationName: string): MailContent {
  const { subject, before } = TEXTS[kind];
  return noticeMail({
    locale: 'en',
    subject: `${subject} ${applicationName}`,
    heading: `${subject} ${applicationName}`,
    before: before(applicationName),
    after: ['You get this mail because this address was left with us.'],
  });
}
