/** Sanitizes mail server replies for logs: one line, bounded length, without addresses and secrets. */
import { redact } from '../core/redact.ts';
import type { Mail } from '../store/mails.ts';

const MAX_LENGTH = 200;
/** Shorter names are not redacted. */
const MIN_NAME = 3;
const MIN_SECRET = 4;
const REDACTED = '[redacted]';

/** Data that a server may repeat and that must be redacted. */
export interface Unspeakable {
  /** User name and password of the connection, plain and encoded. */
  readonly credentials: readonly string[];
  readonly mail: Pick<Mail, 'recipient' | 'code' | 'text'>;
}

/**
 * Returns a reply (RFC 5321 §4.2) in one line: `550-5.1.1 no such` and `550 5.1.1 user` give `550 5.1.1 no such user`.
 * @param said raw reply, possibly with control characters and endless lines.
 */
export function serverWords(said: string, { credentials, mail }: Unspeakable): string {
  const [first = '', ...rest] = said.slice(0, 4096).split(/\r?\n/);
  const [, status = '', enhanced = ''] = /^(\d{3})[ -]?(\d\.\d{1,3}\.\d{1,3}(?= |$))?/.exec(first) ?? [];
  const lines = [first, ...rest].map((line) => {
    const words = status === '' ? line : line.replace(/^\d{3}[ -]?/, '');
    return enhanced !== '' && words.startsWith(enhanced) ? words.slice(enhanced.length) : words;
  });
  const text = [status, enhanced, ...lines]
    .join(' ')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return bounded(withoutPeople(withoutSecrets(text, credentials, mail), mail.recipient));
}

function withoutSecrets(
  text: string,
  credentials: readonly string[],
  { code, text: body }: Unspeakable['mail'],
): string {
  const own = new Set(text.split(/[^\w-]+/).filter((word) => word.length >= 20 && body?.includes(word)));
  const secrets = [...own, ...credentials].filter(({ length }) => length >= MIN_SECRET);
  // Longest first, so that no rest of a longer secret remains after a shorter one is replaced.
  const hidden = secrets
    .sort((left, right) => right.length - left.length)
    .reduce((rest, secret) => rest.replace(wholeWord(secret), REDACTED), text);
  return code === null ? hidden : hidden.replace(new RegExp([...code].join('[ -]?'), 'g'), REDACTED);
}

function withoutPeople(text: string, recipient: string): string {
  const [name = ''] = recipient.split('@');
  const scrubbed = redact(text);
  if (name.length < MIN_NAME) return scrubbed;
  return scrubbed.replace(wholeWord(name), REDACTED);
}

const wholeWord = (text: string) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(text)}(?![\\p{L}\\p{N}])`, 'giu');

const bounded = (text: string) => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text);
