/** Which languages the product speaks, and which of them a person asked for. */
import { match } from '@formatjs/intl-localematcher';
import { canonicalLocale } from './language.ts';

/** Every language with a catalogue, now or later, as BCP 47 tags. */
export const LOCALES = [
  'en',
  'de',
  'es',
  'fr',
  'it',
  'nl',
  'pt-BR',
  'pt-PT',
  'tr',
  'pl',
  'cs',
  'sv',
  'el',
  'ru',
  'uk',
] as const;

export type Locale = (typeof LOCALES)[number];

const DEFAULT_LOCALE: Locale = 'en';

const MAX_LENGTH = 64;
const MAX_HEADER_LENGTH = 1_000;
const MAX_RANGES = 20;
const LANGUAGE_RANGE = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,5}$/;
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** "Undetermined": what the matcher answers where nothing that was asked for is near enough to a language of ours. */
const NOTHING = 'und';

/** Of these the region counts: Portuguese as spoken outside Brazil and the Americas follows Portugal. */
const REGIONAL = new Set(LOCALES.filter((locale) => locale.includes('-')).map((locale) => locale.split('-')[0]));

/**
 * Chooses the language to answer in: the nearest to the one asked for by name, else to an Accept-Language header, else
 * English. Near is what CLDR says: somebody who asks for Catalan alone reads Spanish. Ranges with `q=0` are left out.
 * Never throws, and reads at most the first 1,000 characters and 20 ranges of a header, whatever a client sends.
 */
export function negotiateLocale(
  requested: string | null | undefined,
  acceptLanguage: string | null | undefined,
): Locale {
  return namedLocale(requested) ?? nearestLocale(rangesByWeight(acceptLanguage ?? '')) ?? DEFAULT_LOCALE;
}

/**
 * The language to write to somebody in: the first of their own and the one that came with the request that the product
 * speaks, else English.
 */
export function localeToWriteIn(own: string | null | undefined, requested?: string | null): Locale {
  return namedLocale(own) ?? namedLocale(requested) ?? DEFAULT_LOCALE;
}

function namedLocale(text: string | null | undefined): Locale | null {
  if (!text || text.length > MAX_LENGTH) return null;
  return nearestLocale([text.trim().replaceAll('_', '-').toLowerCase()]);
}

/** The language a browser asks for first, whether or not the product speaks it, as a canonical tag; null where it asks for none. */
export function preferredLocale(acceptLanguage: string | null | undefined): string | null {
  for (const range of rangesByWeight(acceptLanguage ?? '')) {
    const locale = LANGUAGE_RANGE.test(range) ? canonicalLocale(range) : null;
    if (locale !== null) return locale;
  }
  return null;
}

/** @param ranges the most wanted first. @returns null where none of them is near to a language of ours. */
function nearestLocale(ranges: readonly string[]): Locale | null {
  const wanted = ranges.map(matchedTag).filter((tag) => tag !== null);
  const found = match(wanted, LOCALES, NOTHING);
  return LOCALES.find((locale) => locale === found) ?? null;
}

/**
 * As much of a range as can make a difference, or null where it is none. The matcher remembers every tag that it has ever
 * been given: of languages of up to three letters, and regions where they count, there are few enough.
 */
function matchedTag(range: string): string | null {
  const canonical = LANGUAGE_RANGE.test(range) ? canonicalLocale(range) : null;
  if (canonical === null) return null;
  const { language, region } = new Intl.Locale(canonical);
  if (!/^[a-z]{2,3}$/.test(language)) return null;
  return region && REGIONAL.has(language) ? `${language}-${region}` : language;
}

function rangesByWeight(header: string): string[] {
  const weighted: { range: string; weight: number }[] = [];
  for (const item of header.slice(0, MAX_HEADER_LENGTH).split(',', MAX_RANGES)) {
    const [range = '', parameter] = item.toLowerCase().split(';', 2);
    const weight = parameter === undefined ? 1 : Number(WEIGHT.exec(parameter.trim())?.[1] ?? 0);
    if (weight > 0) weighted.push({ range: range.trim(), weight });
  }
  return weighted.sort((a, b) => b.weight - a.weight).map(({ range }) => range);
}
