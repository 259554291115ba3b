/** What a mail server has said, in a form that may stand in a log: one line, bounded, and nobody's address or secret in it. */
import { scrub } from '../core/scrub.ts';
import type { Mail } from '../store/mails.ts';

const MAX_LENGTH = 200;
/** As short as a part of a name can be that is worth hiding in a sentence. */
const MIN_NAME = 3;
const MIN_SECRET = 4;
const REDACTED = '[redacted]';

/** What a server could repeat and nobody is to read. */
export interface Unspeakable {
  /** Of the connection: the user's name, the password and how they are sent. */
  readonly credentials: readonly string[];
  readonly mail: Pick<Mail, 'recipient' | 'code' | 'text'>;
}

/**
 * A reply (RFC 5321 §4.2) in one line: `550-5.1.1 no such` and `550 5.1.1 user` are `550 5.1.1 no such user`.
 *
 * @param said as it came; control characters and lines that go on forever are possible.
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
  // Longer ones first, so that no part of one is left where another begins it.
  const hidden = secrets
    .sort((left, right) => right.length - left.length)
    .reduce((rest, secret) => rest.replace(wholeWord(secret), REDACTED), text);
  return code === null ? hidden : hidden.replace(new RegExp([...code].join('[ -]?'), 'g'), REDACTED);
}

function withoutPeople(text: string, recipient: string): string {
  const [name = ''] = recipient.split('@');
  const scrubbed = scrub(text);
  if (name.length < MIN_NAME) return scrubbed;
  return scrubbed.replace(wholeWord(name), REDACTED);
}

const wholeWord = (text: string) => new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(text)}(?![\\p{L}\\p{N}])`, 'giu');

const bounded = (text: string) => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text);
