/** The SMTP transport: nodemailer behind our own interface, loaded at its first use so that start-up does not wait. */
import { isIP } from 'node:net';
import type { Transporter } from 'nodemailer';
import { MailError, type MailTransport } from './transport.ts';

const CONNECTIONS = 8;
const TIMEOUT_MS = 20_000;

/** What would say otherwise whether a connection is encrypted. */
const TLS_PARAMETERS = ['tls', 'secure', 'requireTLS', 'ignoreTLS', 'opportunisticTLS'];

/** Whether mail may go to this server in plain text: to one on this machine, or where the address asks for it. */
function isPlainAllowed({ hostname, searchParams }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return isLoopback || searchParams.get('tls') === 'optional';
}

/**
 * A server on another machine must offer STARTTLS (RFC 3207), unless its address ends in `?tls=optional`: whoever stands in
 * between could hide the offer, and read codes and the password.
 *
 * @param url `smtp://` or `smtps://`, with the credentials. It is never logged.
 */
export function smtpTransport({ url, from }: { url: string; from: string }): MailTransport {
  let transporter: Promise<Transporter> | undefined;

  async function connect(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const server = new URL(url);
    const requireTLS = server.protocol === 'smtp:' && !isPlainAllowed(server);
    for (const name of TLS_PARAMETERS) server.searchParams.delete(name);
    return createTransport({
      url: server.href,
      requireTLS,
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

const NO_STARTTLS =
  'the mail server takes no STARTTLS, and mail is not sent to another host in plain text; use smtps://, or add ?tls=optional to GATEHOUSE_SMTP_URL';

/** Keeps the codes alone of what the server said: the text beside them may name the recipient. */
function refusalOf(cause: unknown): MailError {
  const { responseCode, response, code, name } = cause as {
    responseCode?: number;
    response?: string;
    code?: string;
    name?: string;
  };
  // With a reply it is the offer that is missing; without one the handshake failed.
  if (code === 'ETLS' && responseCode !== undefined) return new MailError(NO_STARTTLS, false, { cause });
  if (responseCode === undefined) return new MailError(code ?? name ?? 'unknown error', false, { cause });
  const enhanced = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1];
  // Where the server refuses our log-in or greeting, the settings are wrong and not the mail: it is sent again.
  const isPermanent = responseCode >= 500 && code !== 'EAUTH' && code !== 'ECONNECTION';
  return new MailError(['SMTP', responseCode, enhanced].filter(Boolean).join(' '), isPermanent, { cause });
}
