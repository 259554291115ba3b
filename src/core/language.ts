/** Canonical BCP 47 tags and IANA time zones, checked against the runtime's own data. */

export function canonicalLocale(text: string): string | null {
  if (text.length > 35) return null;
  try {
    return Intl.getCanonicalLocales(text)[0] ?? null;
  } catch {
    return null;
  }
}

export function canonicalTimeZone(text: string): string | null {
  if (text.length > 64 || /^[+-]/.test(text)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
