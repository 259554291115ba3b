/** Parses the recipients of encrypted backups; the encryption library is loaded only where it is needed. */

/** Bech32 of a native or post-quantum recipient; its checksum is verified on use. */
const RECIPIENT = /^age1[a-z0-9]{50,4000}$/;

/** @returns null if one of them is invalid. */
export function parseRecipients(text: string): readonly string[] | null {
  const recipients = text.split(',').map((word) => word.trim());
  return recipients.every((recipient) => RECIPIENT.test(recipient)) ? recipients : null;
}
