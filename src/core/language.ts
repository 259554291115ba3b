/** Language tags, locales and time zones, checked against the runtime's own data. */

/** @returns the canonical BCP 47 tag, or null. */
export function canonicalLocale(text: string): string | null {
  if (text.length > 35) return null;
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null;
  } catch {
    return null;
  }
}

/** @returns the IANA time zone in its canonical spelling, or null. */
export function canonicalTimeZone(text: string): string | null {
  if (text.length > 64 || /^[+-]/.test(text)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
