/** Finds the texts for a language. English is the type that the other languages must satisfy, and the fallback. */

import type { Locale } from '../core/locale.ts';
import { en } from './en.ts';

export { format } from './format.ts';

/** All texts of one language: services, and within each service flat keys. */
export type Catalogue = typeof en;

const catalogues: Partial<Record<Locale, Catalogue>> = { en };

/** The texts for the locale, in English as long as it has no catalogue of its own. */
export function catalogueFor(locale: Locale): Catalogue {
  return catalogues[locale] ?? en;
}
