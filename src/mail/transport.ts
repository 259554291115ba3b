import type { Mail } from '../store/mails.ts';
import type { MailConcurrency } from './slots.ts';

/** A mail that was not accepted. Its reason is recorded, so it never contains an address or part of the message. */
export class MailError extends Error {
  /**
   * @param reason such as `450 4.2.1 mailbox busy` (RFC 5321 §4.2, RFC 3463), or what failed instead of a reply.
   * @param isPermanent true if a retry is useless, as for 5xx replies to a recipient or message (RFC 5321 §4.2.1).
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

/** Sends one mail per call. Its errors can be logged: they name no recipient. */
export interface MailTransport extends MailConcurrency {
  /** Host and port of the server, and the sender address; absent where neither should be shown. */
  readonly server?: string;
  readonly from?: string;
  /** @returns the server's reply on acceptance, if any. @throws {MailError} if the mail was not accepted. */
  send(mail: Mail): Promise<string | undefined>;
  close(): void;
}
