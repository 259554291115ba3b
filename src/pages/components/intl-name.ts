/** What a country, currency or language is called in the reader's language, as in the middle of a sentence. */

/** The code itself where it has no name. */
export function intlName(code: string, type: 'region' | 'currency' | 'language', locale: string): string {
  return new Intl.DisplayNames(locale, { type, fallback: 'code' }).of(code) ?? code;
}
