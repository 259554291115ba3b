/** When, where and with what something was done, in the words of a mail. Holds nothing that a stranger can write. */
import { type BrowserAndSystem, browserOf } from '../core/device-name.ts';
import { canonicalTimeZone } from '../core/language.ts';
import type { Unit } from '../db/database.ts';
import type { Texts } from '../i18n/texts.ts';

export interface Occurrence {
  readonly at: number;
  /** The reader's IANA time zone; null if unknown. */
  readonly timeZone: string | null;
  /** ISO 3166 alpha-2; null if unknown. */
  readonly country: string | null;
  readonly browser: BrowserAndSystem | null;
}

/**
 * Returns what is known of the call behind a change. The country counts only with a browser: a program's address is that
 * of the application's own server.
 */
export function occurrenceOf({ now, actor }: Unit, timeZone: string | null): Occurrence {
  const browser = browserOf(actor.userAgent ?? null);
  return { at: now, timeZone: timeZone && canonicalTimeZone(timeZone), country: browser && actor.ipCountry, browser };
}

/** Returns one line each for time, place and browser, as far as they are known. */
export function factsOf(text: Texts, occurrence: Occurrence): string[] {
  const { country, browser } = occurrence;
  const when = timeIn(text.locale, occurrence, DATE_AND_TIME);
  return [
    text('email.when', { when }),
    ...(country === null ? [] : [text('email.where', { place: countryName(text.locale, country) })]),
    ...(browser === null ? [] : [text('email.with', { browser: browserName(text, browser) })]),
  ];
}

/** Returns the line of a code mail that says who asked for it. */
export function askedLine(text: Texts, occurrence: Occurrence): string {
  const { country, browser } = occurrence;
  const time = timeIn(text.locale, occurrence, TIME);
  if (browser === null) return text('email.codeAsked', { time });
  const place = country === null ? [] : [countryName(text.locale, country)];
  return text('email.codeAskedFrom', { time, from: [browserName(text, browser), ...place].join(', ') });
}

/** Names browser and system in the reader's language, such as “Firefox on Linux”. */
function browserName(text: Texts, { browser, system }: BrowserAndSystem): string {
  if (browser === null || system === null) return browser ?? system ?? '';
  return text('account.browserOn', { browser, system });
}

function countryName(locale: string, code: string): string {
  return new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' }).of(code) ?? code;
}

const TIME = { timeStyle: 'short' } as const;
const DATE_AND_TIME = { dateStyle: 'long', timeStyle: 'short' } as const;

/** Cached because creating one takes 60 µs, several times as long as the rest of a code's mail. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 500;

/** Formats a time in the reader's zone, else in UTC, which it then names. */
function timeIn(locale: string, { at, timeZone }: Occurrence, styles: typeof TIME | typeof DATE_AND_TIME): string {
  const key = `${locale} ${timeZone} ${styles === TIME}`;
  let format = formats.get(key);
  if (!format) {
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(key, (format = new Intl.DateTimeFormat(locale, { ...styles, timeZone: timeZone ?? 'UTC' })));
  }
  const text = format.format(at);
  return timeZone === null ? `${text} UTC` : text;
}
