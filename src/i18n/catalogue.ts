/** Finds the words for a language. */
import type { Locale } from '../core/locale.ts';
import { compiledMessages } from './generated/messages.ts';
import { createTexts, type Messages, type Service, type Texts } from './texts.ts';

const found = new Map<string, Texts>();

/** The words for a locale, in English where it has no catalogue; their `locale` is what `lang` says of a page or mail. */
export function textsFor(locale: Locale): Texts {
  const language = languageOf(locale);
  let texts = found.get(language);
  if (!texts) found.set(language, (texts = createTexts(language, compiledMessages[language] ?? {})));
  return texts;
}

/** What a page's script needs to find the same words; those of some services only. */
export function messagesFor(locale: Locale, services: readonly Service[]): Messages {
  const messages = compiledMessages[languageOf(locale)] ?? {};
  return Object.fromEntries(
    Object.entries(messages).filter(([key]) => services.some((service) => key.startsWith(`${service}.`))),
  );
}

function languageOf(locale: Locale): string {
  return Object.hasOwn(compiledMessages, locale) ? locale : 'en';
}
