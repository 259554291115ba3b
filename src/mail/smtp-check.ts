/** Whether a mail server would take mail from here, without sending any: connects, encrypts, logs in, and says goodbye. */
import type { Logger } from 'nodemailer/lib/shared/index.js';
import { smtpServer } from './smtp.ts';
import { smtpConversations } from './smtp-conversation.ts';
import { failureOf } from './smtp-failure.ts';
import { serverWords } from './server-words.ts';

export interface SmtpCheck {
  /** Host and port. */
  readonly address: string;
  readonly isEncrypted: boolean;
  /** A name and a password were given, and taken. */
  readonly isLoggedIn: boolean;
  /** The server's first words; null where it said none. */
  readonly greeting: string | null;
}

const NO_MAIL = { recipient: '', code: null, text: null };

/** @param url as in the settings; never part of what is said. @throws {MailError} that says what failed. */
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
