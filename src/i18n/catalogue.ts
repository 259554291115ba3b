/** Finds the texts for a language. English is the type that the other languages must satisfy, and the fallback. */

import type { Locale } from '../core/locale.ts';
import { en } from './en.ts';

/** All texts of one language: services, and within each service flat keys. */
export type Catalogue = typeof en;

/** Each language that has been translated so far, in a file of its own. */
const catalogues: { readonly en: Catalogue } & { readonly [Other in Locale]?: Catalogue } = { en };

/** Texts with the language they are really in. */
export interface FoundCatalogue {
  /** The language that the texts are really in: what `lang` says of a page or mail that shows them. */
  readonly locale: Locale;
  readonly texts: Catalogue;
}

/** The texts for a locale, in English as long as it has no catalogue of its own. */
export function catalogueFor(locale: Locale): FoundCatalogue {
  const texts = catalogues[locale];
  return texts ? { locale, texts } : { locale: 'en', texts: catalogues.en };
}
