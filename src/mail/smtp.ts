/** The SMTP transport: nodemailer behind our own interface, loaded at its first use so that start-up does not wait. */
import type { Transporter } from 'nodemailer';
import { MailError, type MailTransport } from './transport.ts';

const CONNECTIONS = 8;
const TIMEOUT_MS = 20_000;

/** @param url `smtp://` or `smtps://`, with the credentials. It is never logged. */
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
    // A connection for each, so that none waits inside the pool for another.
    places: CONNECTIONS,
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
        throw refusalOf(error);
      }
      return { status: 'sent' };
    },
    close() {
      void transporter?.then((open) => open.close());
    },
  };
}

/** Keeps the codes alone of what the server said: the text beside them may name the recipient. */
function refusalOf(cause: unknown): MailError {
  const { responseCode, response, code, name } = cause as {
    responseCode?: number;
    response?: string;
    code?: string;
    name?: string;
  };
  if (responseCode === undefined) return new MailError(code ?? name ?? 'unknown error', false, { cause });
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1];
  // Where the server refuses our log-in, the settings are wrong and not the mail: it is sent again.
  const isPermanent = responseCode >= 500 && code !== 'EAUTH';
  return new MailError(['SMTP', responseCode, enhanced].filter(Boolean).join(' '), isPermanent, { cause });
}
