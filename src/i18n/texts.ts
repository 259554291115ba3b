/**
 * Turns a message and its values into words, for the server's pages and mails and for the browser's scripts alike. It is given
 * its messages, compiled, and knows no catalogue and no parser.
 */
import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import type { en } from './en.ts';

/** A message as it is kept: plain text, or the parts of an ICU message (https://unicode-org.github.io/icu/userguide/format_parse/messages/). */
export type Message = string | MessageFormatElement[];

type Catalogue = typeof en;

/** The services of the catalogues. */
export type Service = keyof Catalogue;

/** Every message, as `service.key`. */
export type MessageKey = { [Name in Service]: `${Name}.${keyof Catalogue[Name] & string}` }[Service];

/** Messages by `service.key`. */
export type Messages = Readonly<Record<string, Message>>;

/** What a placeholder takes. Times are epoch milliseconds or dates. */
export type Values = Readonly<Record<string, string | number | Date>>;

/** The words of one language. */
export interface Texts {
  /** The language the words are really in. */
  readonly locale: string;
  /** @throws where a value is missing. */
  (key: MessageKey, values?: Values): string;
  /** The same in parts, for values that are more than text; texts and values come in the order of the sentence. */
  rich<Value>(key: MessageKey, values: Readonly<Record<string, Value>>): (string | Value)[];
  /** Whether there is such a message, for keys made of what a server has answered. */
  has(key: string): key is MessageKey;
}

/** @param messages of one or more services; asking for one that is not among them throws. */
export function createTexts(locale: string, messages: Messages): Texts {
  const formats = new Map<string, IntlMessageFormat>();

  function formatOf(key: string): IntlMessageFormat | string {
    const known = formats.get(key);
    if (known) return known;
    const message = Object.hasOwn(messages, key) ? messages[key] : undefined;
    if (message === undefined) throw new Error(`no message is called ${key}`);
    if (typeof message === 'string') return message;
    const format = new IntlMessageFormat(message, locale);
    formats.set(key, format);
    return format;
  }

  function text(key: MessageKey, values: Values = {}): string {
    const format = formatOf(key);
    return typeof format === 'string' ? format : String(format.format({ ...values }));
  }

  function rich<Value>(key: MessageKey, values: Readonly<Record<string, Value>>): (string | Value)[] {
    const format = formatOf(key);
    if (typeof format === 'string') return [format];
    const parts: unknown = format.format({ ...values } as never);
    return (Array.isArray(parts) ? parts : [parts]) as (string | Value)[];
  }

  return Object.assign(text, {
    locale,
    rich,
    has: (key: string): key is MessageKey => Object.hasOwn(messages, key),
  });
}
