/** Finds the words for a language. */
import type { Locale } from '../core/locale.ts';
import { compiledMessages } from './generated/messages.ts';
import { createTexts, type Messages, type Service, type Texts } from './texts.ts';

interface Language {
  readonly messages: Messages;
  readonly texts: Texts;
}

/** Each is read when it is first asked for. */
const languages = new Map<string, Language>();

/** The words for a locale, in English where it has no catalogue; their `locale` is what `lang` says of a page or mail. */
export function textsFor(locale: Locale): Texts {
  return languageFor(locale).texts;
}

/** What a page's script needs to find the same words; those of some services only. */
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
