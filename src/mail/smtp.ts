/** The SMTP transport: nodemailer behind our own interface, loaded at its first use so that start-up does not wait. */
import type { Transporter } from 'nodemailer';
import { type MailTransport, PermanentMailError } from './transport.ts';

const CONNECTIONS = 4;
const TIMEOUT_MS = 20_000;

export function smtpTransport({ url, from }: { url: string; from: string }): MailTransport {
  let transporter: Promise<Transporter> | undefined;

  async function connect(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // Nothing of a message may make the server read a file or fetch an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  return {
    async send({ id, recipient, subject, text, html }) {
      transporter ??= connect();
      try {
        await (
          await transporter
        ).sendMail({
          from,
          to: { name: '', address: recipient },
          subject,
          text: text ?? '',
          html: html ?? '',
          // The same id at a retry lets a receiver drop the duplicate.
          messageId: `<${id}@${from.match(/@([^>\s]+)/)?.[1] ?? 'localhost'}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
      } catch (error) {
        const { responseCode, code } = error as { responseCode?: number; code?: string };
        const isRefused = responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH';
        if (isRefused) throw new PermanentMailError(`the mail server answered ${responseCode}`, { cause: error });
        throw error;
      }
      return { status: 'sent' };
    },
    close() {
      void transporter?.then((open) => open.close());
    },
  };
}
