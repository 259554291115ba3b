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
  /** Whom it sends to, as host and port, and as whom; left out where that is nobody's business. */
  readonly server?: string;
  readonly from?: string;
  /** @returns what the server said when it took it, where it said something. @throws {MailError} where it was not taken. */
  send(mail: Mail): Promise<string | undefined>;
  close(): void;
}
