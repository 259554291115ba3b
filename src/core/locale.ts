/** Which languages the product speaks, and which of them a person asked for. */
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

const byTag = new Map<string, Locale>(LOCALES.map((locale) => [locale.toLowerCase(), locale]));

/** Portuguese as spoken outside Brazil follows Portugal (the parent locales of CLDR). */
const portugueseOfPortugal = ['ao', 'ch', 'cv', 'gq', 'gw', 'lu', 'mo', 'mz', 'st', 'tl'];
byTag.set('pt', 'pt-BR');
for (const region of portugueseOfPortugal) byTag.set(`pt-${region}`, 'pt-PT');

const MAX_HEADER_LENGTH = 1_000;
const MAX_RANGES = 20;
const LANGUAGE_RANGE = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,5}$/;
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * Chooses the language to answer in: the one asked for by name, else the best of an Accept-Language header, else
 * English. Lookup as in RFC 4647 §3.4; ranges with `q=0` are left out. Never throws, and reads at most the first
 * 1,000 characters and 20 ranges of a header, whatever a client sends.
 */
export function negotiateLocale(
  requested: string | null | undefined,
  acceptLanguage: string | null | undefined,
): Locale {
  if (requested && requested.length <= 64) {
    const named = lookUp(requested.trim().replaceAll('_', '-').toLowerCase());
    if (named) return named;
  }
  for (const range of rangesByWeight(acceptLanguage ?? '')) {
    const accepted = lookUp(range);
    if (accepted) return accepted;
  }
  return DEFAULT_LOCALE;
}

/** The language a browser asks for first, whether or not the product speaks it, as a canonical tag; null where it asks for none. */
export function preferredLocale(acceptLanguage: string | null | undefined): string | null {
  for (const range of rangesByWeight(acceptLanguage ?? '')) {
    const locale = LANGUAGE_RANGE.test(range) ? canonicalLocale(range) : null;
    if (locale !== null) return locale;
  }
  return null;
}

/** Shortens the range from its end until a locale matches; a lone letter (`x`, `u`) goes with what followed it. */
function lookUp(range: string): Locale | undefined {
  if (!LANGUAGE_RANGE.test(range)) return undefined;
  const subtags = range.split('-');
  while (subtags.length > 0) {
    const match = byTag.get(subtags.join('-'));
    if (match) return match;
    subtags.pop();
    if (subtags.at(-1)?.length === 1) subtags.pop();
  }
  return undefined;
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
