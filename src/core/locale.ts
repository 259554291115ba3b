/** The languages of the product, and the choice among them for a person. */
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

/** "Undetermined": the matcher's answer if no requested language is near one of ours. */
const NOTHING = 'und';

/** Languages whose region counts: Portuguese outside Brazil and the Americas follows Portugal. */
const REGIONAL = new Set(LOCALES.filter((locale) => locale.includes('-')).map((locale) => locale.split('-')[0]));

/**
 * Returns the language to answer in: the nearest to the one requested by name, else to an Accept-Language header, else
 * English. CLDR defines distance: a request for Catalan alone gets Spanish. Ranges with `q=0` are left out. Never
 * throws; reads at most the first 1,000 characters and 20 ranges of a header.
 */
export function negotiateLocale(
  requested: string | null | undefined,
  acceptLanguage: string | null | undefined,
): Locale {
  return requestedLocale(requested, acceptLanguage) ?? DEFAULT_LOCALE;
}

/** Negotiates like {@link negotiateLocale}, but returns null where neither asks for a language near one of ours. */
export function requestedLocale(
  requested: string | null | undefined,
  acceptLanguage: string | null | undefined,
): Locale | null {
  return namedLocale(requested) ?? nearestLocale(rangesByWeight(acceptLanguage ?? ''));
}

/** Returns the first language we speak: a person's own, else that of the request; else English. */
export function localeToWriteIn(own: string | null | undefined, requested?: string | null): Locale {
  return namedLocale(own) ?? namedLocale(requested) ?? DEFAULT_LOCALE;
}

function namedLocale(text: string | null | undefined): Locale | null {
  if (!text || text.length > MAX_LENGTH) return null;
  return nearestLocale([text.trim().replaceAll('_', '-').toLowerCase()]);
}

/** Returns the language a browser asks for first, whether we speak it or not, as a canonical tag; else null. */
export function preferredLocale(acceptLanguage: string | null | undefined): string | null {
  for (const range of rangesByWeight(acceptLanguage ?? '')) {
    const locale = LANGUAGE_RANGE.test(range) ? canonicalLocale(range) : null;
    if (locale !== null) return locale;
  }
  return null;
}

/** @param ranges the most wanted first. @returns null if none of them is near one of our languages. */
function nearestLocale(ranges: readonly string[]): Locale | null {
  const wanted = ranges.map(matchedTag).filter((tag) => tag !== null);
  const found = match(wanted, LOCALES, NOTHING);
  return LOCALES.find((locale) => locale === found) ?? null;
}

/**
 * Reduces a range to the parts that matter; null if it is invalid. The matcher caches every tag it is ever given: of
 * languages of up to three letters, and regions where they count, there are few enough.
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
