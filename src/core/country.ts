/** Countries by ISO 3166-1 alpha-2 code, checked against the runtime's own data. */

/**
 * Codes missing from the time zone database, whose countries are those of ISO 3166-1. Bouvet Island and Heard and
 * McDonald are uninhabited, so they have no time zone. Kosovo has no ISO code; the post, banks and CLDR use XK.
 */
const WITHOUT_TIME_ZONE = new Set(['BV', 'HM', 'XK']);

/** Returns the code in upper case, or null. Refuses reserved (UK, EU), withdrawn (SU, DD) and private (ZZ) codes. */
export function countryCode(text: string): string | null {
  const trimmed = text.trim();
  // Checked before upper-casing, which turns some non-ASCII letters into ASCII ones.
  if (!/^[A-Za-z]{2}$/.test(trimmed)) return null;
  const code = trimmed.toUpperCase();
  return WITHOUT_TIME_ZONE.has(code) || hasTimeZone(code) ? code : null;
}

function hasTimeZone(code: string): boolean {
  const zones = new Intl.Locale(`und-${code}`).getTimeZones();
  return zones !== undefined && zones.length > 0;
}
