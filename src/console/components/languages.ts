import { LOCALES } from '../../core/locale.ts';
import { once } from '../once.ts';

const names = once(() => new Intl.DisplayNames('en', { type: 'language' }));

/** Returns the English name of a language. */
export const languageOf = (locale: string) => names().of(locale) ?? locale;

/** Languages of pages and mails, for a select field. */
export const languages = once(() => LOCALES.map((value) => ({ value, label: languageOf(value) })));
