/** Loads the texts of a language on demand. */
import type { Locale } from '../core/locale.ts';
import { compiledMessages } from './generated/messages.ts';
import { createTexts, type Messages, type Service, type Texts } from './texts.ts';

interface Language {
  readonly messages: Messages;
  readonly texts: Texts;
}

/** Parsed languages, cached on first use. */
const languages = new Map<string, Language>();

/** Returns the texts of a locale, or English without a catalogue; their `locale` is the value for `lang`. */
export function textsFor(locale: Locale): Texts {
  return languageFor(locale).texts;
}

/** Returns the messages of some services, for a page's script. */
export function messagesFor(locale: Locale, services: readonly Service[]): Messages {
  return Object.fromEntries(
    Object.entries(languageFor(locale).messages).filter(([key]) =>
      services.some((service) => key.startsWith(`${service}.`)),
    ),
  );
}

function languageFor(locale: Locale): Language {
  const tag = Object.hasOwn(compiledMessages, locale) ? locale : 'en';
  let language = languages.get(tag);
  if (!language) {
    const messages = JSON.parse(compiledMessages[tag] ?? '{}') as Messages;
    languages.set(tag, (language = { messages, texts: createTexts(tag, messages) }));
  }
  return language;
}
