/** Names a country, currency or language in mid-sentence case; returns the code itself if it has no name. */
export function intlName(code: string, type: 'region' | 'currency' | 'language', locale: string): string {
  return new Intl.DisplayNames(locale, { type, fallback: 'code' }).of(code) ?? code;
}

/** Capitalizes a name for a list, where `Intl` returns mid-sentence case. */
export function capitalized(name: string, locale: string): string {
  const [first = '', ...rest] = name;
  return first.toLocaleUpperCase(locale) + rest.join('');
}
