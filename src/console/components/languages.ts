import { LOCALES } from '../../core/locale.ts';

const names = new Intl.DisplayNames('en', { type: 'language' });

/** Returns the English name of a language. */
export const languageOf = (locale: string) => names.of(locale) ?? locale;

/** Languages of pages and mails, for a select field. */
export const LANGUAGES = LOCALES.map((value) => ({ value, label: languageOf(value) }));
