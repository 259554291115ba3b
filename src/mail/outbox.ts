/** The embedded outbox: mail stays in the database, to be read there; `serve --dev` prints it as well. */
import type { Mail, MailTransport } from './transport.ts';

/** @param onCapture sees each mail as it is captured. */
export function outboxTransport(onCapture: (mail: Mail) => void): MailTransport {
  return {
    async send(mail) {
      onCapture(mail);
      return { status: 'captured' };
    },
    close() {},
  };
}
