/** The embedded outbox: mail stays in the database, to be read there; `serve --dev` prints it as well. */
import type { Mail } from '../store/mails.ts';
import type { MailTransport } from './transport.ts';

/** Nothing is waited for, so this is how many are recorded together. */
const PLACES = 48;

/** @param onCapture sees each mail as it is captured. */
export function outboxTransport(onCapture: (mail: Mail) => void): MailTransport {
  return {
    places: PLACES,
    async send(mail) {
      onCapture(mail);
      return { status: 'captured' };
    },
    close() {},
  };
}
