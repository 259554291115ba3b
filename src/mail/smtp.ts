/** The SMTP transport: nodemailer behind our own interface, loaded at first use to keep start-up fast. */
import type { Transporter } from 'nodemailer';
import type { Logger } from 'nodemailer/lib/shared/index.js';
import { isLoopback } from '../core/ip-address.ts';
import { mailboxOf } from './sender.ts';
import { SENT_NOW_AT_ONCE } from './send-now.ts';
import { serverWords } from './server-words.ts';
import { smtpConversations } from './smtp-conversation.ts';
import { failureOf, type MailServer } from './smtp-failure.ts';
import type { MailTransport } from './transport.ts';

const CONNECTIONS = 12;
/** Additional connections for stalled mails. */
const SLOW_CONNECTIONS = 20;
export const SMTP_CONCURRENCY = { slots: CONNECTIONS, slowSlots: SLOW_CONNECTIONS } as const;
const TIMEOUT_MS = 20_000;

/** URL parameters that would override the encryption policy. */
const TLS_PARAMETERS = ['tls', 'secure', 'requireTLS', 'ignoreTLS', 'opportunisticTLS'];

/** Returns whether mail may go to this server in plain text: on loopback, or with `?tls=optional`. */
function isPlainAllowed({ hostname, searchParams }: URL): boolean {
  return isLoopback(hostname) || searchParams.get('tls') === 'optional';
}

export interface SmtpOptions {
  readonly url: string;
  readonly from: string;
  /** How long the server may be silent, in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * Creates a transport. A remote server must offer STARTTLS (RFC 3207) unless its URL has `?tls=optional`: an attacker
 * in between could hide the offer, and read codes and the password.
 * @param options.url `smtp://` or `smtps://`, with the credentials. It is never logged.
 */
export function smtpTransport({ url, from, timeoutMs = TIMEOUT_MS }: SmtpOptions): MailTransport {
  const { mailServer, credentials, connect } = smtpServer(url, timeoutMs);
  const conversations = smtpConversations();
  const own = mailboxOf(from);
  let transporter: Promise<Transporter> | undefined;

  return {
    ...SMTP_CONCURRENCY,
    server: mailServer.address,
    from,
    async send(mail) {
      const { id, recipient, subject, text, html, senderName, replyTo } = mail;
      transporter ??= connect(conversations.logger);
      let response: unknown;
      try {
        ({ response } = await (
          await transporter
        ).sendMail({
          from: { name: senderName ?? own.name, address: own.address },
          ...(replyTo && { replyTo: { name: '', address: replyTo } }),
          to: { name: '', address: recipient },
          subject,
          text: text ?? '',
          html: html ?? '',
          // The same id on a retry lets a receiver drop the duplicate.
          messageId: `<${id}@${own.address.split('@').pop() || 'localhost'}>`,
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

export interface SmtpServer {
  readonly mailServer: MailServer;
  /** Secrets to redact from replies. */
  readonly credentials: string[];
  /** Creates the pool without connecting yet. @param logger receives each line of the conversations. */
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
        // One connection per concurrent mail, so that none waits inside the pool.
        maxConnections: CONNECTIONS + SLOW_CONNECTIONS + SENT_NOW_AT_ONCE,
        // Retries once, since an idle connection may have been closed; the queue handles all other retries.
        maxRequeues: 1,
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        logger,
        transactionLog: true,
        // Keeps message content from making nodemailer read files or fetch URLs.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    },
  };
}

/** Returns the credentials as given and as transmitted (RFC 4616, AUTH LOGIN). */
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
