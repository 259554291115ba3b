/** Where mail goes: a mail server by SMTP, or the embedded outbox where there is none. */
import type { Mail } from '../store/mails.ts';

/** `captured` is what stays in the outbox and goes nowhere. */
export type SendOutcome = { readonly status: 'sent' } | { readonly status: 'captured' };

/** A mail that was not taken. What it says of it goes on record: never an address, never a part of the message. */
export class MailError extends Error {
  /**
   * @param reason such as `SMTP 450 4.2.1` (RFC 5321 §4.2, RFC 3463), or the code of a failed connection.
   * @param isPermanent trying again will not mend it, as SMTP's 5xx replies say (RFC 5321 §4.2.1).
   */
  constructor(
    readonly reason: string,
    readonly isPermanent: boolean,
    options?: ErrorOptions,
  ) {
    super(reason, options);
    this.name = 'MailError';
  }
}

/** Sends one mail at each call. Its reasons for a failure can be logged: they name no recipient. */
export interface MailTransport {
  /** How many may be under way at once. */
  readonly places: number;
  /** @throws {MailError} where it was not taken. */
  send(mail: Mail): Promise<SendOutcome>;
  close(): void;
}
