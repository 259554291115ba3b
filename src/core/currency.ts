/** Currencies by ISO 4217 code, checked against the runtime's own data. */

/** ISO codes for "no currency" and for tests, which no price uses. */
const NO_MONEY = ['XXX', 'XTS'];

let known: ReadonlySet<string> | undefined;

/** Returns the code in upper case, or null. Withdrawn currencies are accepted, because old records contain them. */
export function currencyCode(text: string): string | null {
  const trimmed = text.trim();
  if (!/^[A-Za-z]{3}$/.test(trimmed)) return null;
  known ??= new Set(Intl.supportedValuesOf('currency').filter((code) => !NO_MONEY.includes(code)));
  const code = trimmed.toUpperCase();
  return known.has(code) ? code : null;
}
