/** The mail that tells owners that a webhook endpoint was put in quarantine. */
import { type MailContent, noticeMail } from './notice.ts';

/** Which endpoint was put in quarantine, and why. */
export interface QuarantineMail {
  readonly applicationName: string;
  readonly url: string;
  readonly reason: string;
}

/** Holds nothing of the events that wait. */
export function quarantineMail({ applicationName, url, reason }: QuarantineMail): MailContent {
  return noticeMail({
    locale: 'en',
    subject: `A webhook of ${applicationName} is in quarantine`,
    heading: `A webhook of ${applicationName} is in quarantine`,
    before: [`Events cannot be delivered to ${url}: ${reason}.`],
    after: [
      'Nothing is lost: later events are held. Mend the endpoint, then release the webhook, and they are sent in order.',
    ],
  });
}
