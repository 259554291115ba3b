/** Whom backups are encrypted for, as settings and flags name them; what encrypts is loaded only where it is needed. */

/** Bech32, of a native recipient or one that outlasts quantum computers; its checksum is looked at when it is used. */
const RECIPIENT = /^age1[a-z0-9]{50,4000}$/;

/** @returns null where one of them is none. */
export function parseRecipients(text: string): readonly string[] | null {
  const recipients = text.split(',').map((word) => word.trim());
  return recipients.every((recipient) => RECIPIENT.test(recipient)) ? recipients : null;
}
