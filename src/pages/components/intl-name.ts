/** Names countries, currencies and languages in mid-sentence case. */

/** Returns the code itself if it has no name. */
export function intlName(code: string, type: 'region' | 'currency' | 'language', locale: string): string {
  return new Intl.DisplayNames(locale, { type, fallback: 'code' }).of(code) ?? code;
}
