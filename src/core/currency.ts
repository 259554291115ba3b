/** Currencies by their ISO 4217 codes: known from the runtime's own data, not from a list of ours. */

/** ISO's codes for "no currency" and for tests; no price is in them. */
const NO_MONEY = ['XXX', 'XTS'];

let known: ReadonlySet<string> | undefined;

/**
 * Withdrawn currencies are still known, as old records hold them.
 *
 * @returns the code in upper case, or null.
 */
export function currencyCode(text: string): string | null {
  const trimmed = text.trim();
  if (!/^[A-Za-z]{3}$/.test(trimmed)) return null;
  known ??= new Set(Intl.supportedValuesOf('currency').filter((code) => !NO_MONEY.includes(code)));
  const code = trimmed.toUpperCase();
  return known.has(code) ? code : null;
}
