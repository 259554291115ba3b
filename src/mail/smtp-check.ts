/** Checks the mail server without sending mail: connects, encrypts, logs in, quits. */
import type { Logger } from 'nodemailer/lib/shared/index.js';
import { smtpServer } from './smtp.ts';
import { smtpConversations } from './smtp-conversation.ts';
import { failureOf } from './smtp-failure.ts';
import { serverWords } from './server-words.ts';

export interface SmtpCheck {
  /** Host and port. */
  readonly address: string;
  readonly isEncrypted: boolean;
  /** True if credentials were given and accepted. */
  readonly isLoggedIn: boolean;
  /** The server's greeting; null if there was none. */
  readonly greeting: string | null;
}

const NO_MAIL = { recipient: '', code: null, text: null };

/** Checks a mail server. @param url as in the settings; never part of an error. @throws {MailError} with the cause. */
export async function checkSmtp(url: string, timeoutMs: number): Promise<SmtpCheck> {
  const { mailServer, credentials, connect } = smtpServer(url, timeoutMs);
  const conversations = smtpConversations();
  let greeting: string | null = null;
  let isEncrypted = false;
  const hear = (entry: unknown, line: unknown, ...rest: unknown[]) => {
    const { tnx } = entry as { tnx?: string };
    if (tnx === 'server') greeting ??= String(line);
    if (/Secure connection|upgraded with STARTTLS/.test([line, ...rest].join(' '))) isEncrypted = true;
    (conversations.logger as unknown as Record<string, typeof hear>)['debug']?.(entry, line);
  };
  const logger = { level() {}, trace: hear, debug: hear, info: hear, warn: hear, error: hear, fatal: hear };
  const transporter = await connect(logger as unknown as Logger);
  const unspeakable = { credentials, mail: NO_MAIL };
  try {
    await transporter.verify();
  } catch (error) {
    throw failureOf(error, mailServer, unspeakable, conversations.momentOf(error));
  } finally {
    transporter.close();
  }
  return {
    address: mailServer.address,
    isEncrypted,
    isLoggedIn: new URL(url).username !== '',
    greeting: greeting === null ? null : serverWords(greeting, unspeakable),
  };
}
