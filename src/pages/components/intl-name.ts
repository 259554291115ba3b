/** Names a country, currency or language in mid-sentence case; returns the code itself if it has no name. */
export function intlName(code: string, type: 'region' | 'currency' | 'language', locale: string): string {
  return new Intl.DisplayNames(locale, { type, fallback: 'code' }).of(code) ?? code;
}
