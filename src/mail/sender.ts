/** From and Reply-To of a mail (RFC 5322 §3.6.2): an application's name at the server's own address. */
import { normalizeEmail } from '../core/email.ts';
import type { MailSender } from '../store/mails.ts';
import type { Sender } from './letter-parts.ts';
import { oneLine } from './one-line.ts';

export type { MailSender } from '../store/mails.ts';

/** Embeddings, overrides and isolates (UAX #9), which could show a name in another order than it is written. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Begins an encoded word (RFC 2047 §2), which some clients decode in a quoted name as well. */
const ENCODED_WORD = /=\?/g;

/** Longest name of an application; it keeps the header's lines within RFC 5322 §2.1.1. */
const MAX_NAME = 100;

/** Returns name and Reply-To of an application's mails; null for the server and its console. */
export function senderOf({ name, workspaceId, supportEmail }: Sender): MailSender | null {
  const shown = oneLine(name.replace(BIDI_CONTROLS, '').replace(ENCODED_WORD, '= ?'));
  if (workspaceId === null || shown === '') return null;
  return {
    name: shown.slice(0, MAX_NAME).toWellFormed(),
    replyTo: supportEmail === null ? null : normalizeEmail(supportEmail),
  };
}

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Parses a configured sender, such as `Gatehouse <no-reply@id.example>` or an address alone. */
export function mailboxOf(from: string): Mailbox {
  const [, name = '', address = from] = /^(.*)<([^<>]+)>$/s.exec(from.trim()) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/s, '$1'), address: address.trim() };
}
