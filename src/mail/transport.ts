/** Where mail goes: a mail server by SMTP, or the embedded outbox where there is none. */
import type { mails } from '../db/schema/records.ts';

export type Mail = typeof mails.$inferSelect;

export type SendOutcome = { readonly status: 'sent' | 'captured' };

/** A failure that trying again will not mend, as SMTP's 5xx replies say (RFC 5321 §4.2.1). */
export class PermanentMailError extends Error {}

export interface MailTransport {
  /** @throws {PermanentMailError} when the server refuses for good; anything else is tried again. */
  send(mail: Mail): Promise<SendOutcome>;
  close(): void;
}
