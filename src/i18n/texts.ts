/** Formats messages on the server and in browsers. Works on compiled messages, without catalogues or a parser. */
import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import type en from './locales/en.json';

/**
 * A compiled message: plain text, or the parsed parts of an ICU message
 * (https://unicode-org.github.io/icu/userguide/format_parse/messages/).
 */
export type Message = string | MessageFormatElement[];

/** Texts of one language: services, each with flat keys and ICU messages. English defines it for all languages. */
export type Catalogue = typeof en;

export type Service = keyof Catalogue;

/** Key of a message, as `service.key`. */
export type MessageKey = { [Name in Service]: `${Name}.${keyof Catalogue[Name] & string}` }[Service];

export type Messages = Readonly<Record<string, Message>>;

/** Placeholder values. Times are epoch milliseconds or dates. */
export type Values = Readonly<Record<string, string | number | Date>>;

export interface Texts {
  /** Actual language of the texts. */
  readonly locale: string;
  /** @throws when a value is missing. */
  (key: MessageKey, values?: Values): string;
  /** Returns the message in parts, for values that are not text, in sentence order. */
  rich<Value>(key: MessageKey, values: Readonly<Record<string, Value>>): (string | Value)[];
  /** Returns whether a message exists, for keys built from server responses. */
  has(key: string): key is MessageKey;
}

/** @param messages of one or more services; any other key throws. */
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
