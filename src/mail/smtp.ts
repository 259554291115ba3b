/** The SMTP transport: nodemailer behind our own interface, loaded at its first use so that start-up does not wait. */
import type { Transporter } from 'nodemailer';
import type { Logger } from 'nodemailer/lib/shared/index.js';
import { isLoopback } from '../core/ip-address.ts';
import { SENT_NOW_AT_ONCE } from './send-now.ts';
import { serverWords } from './server-words.ts';
import { smtpConversations } from './smtp-conversation.ts';
import { failureOf, type MailServer } from './smtp-failure.ts';
import type { MailTransport } from './transport.ts';

const CONNECTIONS = 12;
/** More of them, for mails that hang. */
const SLOW_CONNECTIONS = 20;
const TIMEOUT_MS = 20_000;

/** What would say otherwise whether a connection is encrypted. */
const TLS_PARAMETERS = ['tls', 'secure', 'requireTLS', 'ignoreTLS', 'opportunisticTLS'];

/** Whether mail may go to this server in plain text: to one on this machine, or where the address asks for it. */
function isPlainAllowed({ hostname, searchParams }: URL): boolean {
  return isLoopback(hostname) || searchParams.get('tls') === 'optional';
}

export interface SmtpOptions {
  readonly url: string;
  readonly from: string;
  /** How long the server may be silent. */
  readonly timeoutMs?: number;
}

/**
 * A server on another machine must offer STARTTLS (RFC 3207), unless its address ends in `?tls=optional`: whoever stands in
 * between could hide the offer, and read codes and the password.
 *
 * @param options.url `smtp://` or `smtps://`, with the credentials. It is never logged.
 */
export function smtpTransport({ url, from, timeoutMs = TIMEOUT_MS }: SmtpOptions): MailTransport {
  const { mailServer, credentials, connect } = smtpServer(url, timeoutMs);
  const conversations = smtpConversations();
  let transporter: Promise<Transporter> | undefined;

  return {
    places: CONNECTIONS,
    slowPlaces: SLOW_CONNECTIONS,
    server: mailServer.address,
    from,
    async send(mail) {
      const { id, recipient, subject, text, html } = mail;
      transporter ??= connect(conversations.logger);
      let response: unknown;
      try {
        ({ response } = await (
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
        }));
      } catch (error) {
        throw failureOf(error, mailServer, { credentials, mail }, conversations.momentOf(error));
      }
      return typeof response === 'string' ? serverWords(response, { credentials, mail }) : undefined;
    },
    close() {
      void transporter?.then((open) => open.close());
    },
  };
}

/** A mail server by its address, and how it is reached. */
export interface SmtpServer {
  readonly mailServer: MailServer;
  /** What it could repeat and nobody is to read. */
  readonly credentials: string[];
  /** Opens no connection yet. @param logger told of each line of the conversations. */
  connect(logger: Logger): Promise<Transporter>;
}

export function smtpServer(url: string, timeoutMs: number): SmtpServer {
  const server = new URL(url);
  const requireTLS = server.protocol === 'smtp:' && !isPlainAllowed(server);
  const mailServer: MailServer = {
    host: server.hostname,
    address: `${server.hostname}:${server.port || (server.protocol === 'smtps:' ? 465 : 587)}`,
    isTlsRequired: requireTLS,
    timeoutMs,
  };
  return {
    mailServer,
    credentials: credentialsOf(server),
    async connect(logger) {
      const { createTransport } = await import('nodemailer');
      for (const name of TLS_PARAMETERS) server.searchParams.delete(name);
      return createTransport({
        url: server.href,
        requireTLS,
        pool: true,
        // A connection for each, so that none waits inside the pool for another.
        maxConnections: CONNECTIONS + SLOW_CONNECTIONS + SENT_NOW_AT_ONCE,
        // An idle connection may have been closed under the mail; everything else is for the queue to try again.
        maxRequeues: 1,
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        logger,
        transactionLog: true,
        // Nothing of a message may make the server read a file or fetch an address.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    },
  };
}

/** As given, and as they are sent (RFC 4616, and AUTH LOGIN). */
function credentialsOf({ username, password }: URL): string[] {
  const [user, pass] = [decoded(username), decoded(password)];
  return [user, pass, `\0${user}\0${pass}`].flatMap((secret) => [secret, Buffer.from(secret).toString('base64')]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
