/** The way to a mail server. */
import type { Mail } from '../store/mails.ts';
import type { MailPlaces } from './places.ts';

/** A mail that was not taken. What it says of it goes on record: never an address, never a part of the message. */
export class MailError extends Error {
  /**
   * @param reason such as `450 4.2.1 mailbox busy` (RFC 5321 §4.2, RFC 3463), or what failed instead of an answer.
   * @param isPermanent trying again will not mend it, as SMTP's 5xx replies to a recipient or a message say (RFC 5321 §4.2.1).
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
export interface MailTransport extends MailPlaces {
  /** @throws {MailError} where it was not taken. */
  send(mail: Mail): Promise<void>;
  close(): void;
}
