/** Countries by their ISO 3166-1 alpha-2 codes: known from the runtime's own data, not from a list of ours. */

/**
 * What the time zone database, whose countries are those of ISO 3166-1, does not tell. Nobody lives on Bouvet Island and
 * on Heard and McDonald, so they have codes but no time zone. Kosovo has no code of ISO's; XK is what the post, banks and
 * CLDR agree on, and people there have addresses too.
 */
const WITHOUT_TIME_ZONE = new Set(['BV', 'HM', 'XK']);

/**
 * Codes that are merely reserved (UK, EU, UN, AC), withdrawn (SU, DD, YU) or private (ZZ) are no countries.
 *
 * @returns the code in upper case, or null.
 */
export function countryCode(text: string): string | null {
  const trimmed = text.trim();
  // Checked before it is upper-cased, so that no foreign letter can become one of these.
  if (!/^[A-Za-z]{2}$/.test(trimmed)) return null;
  const code = trimmed.toUpperCase();
  return WITHOUT_TIME_ZONE.has(code) || hasTimeZone(code) ? code : null;
}

function hasTimeZone(code: string): boolean {
  const zones = new Intl.Locale(`und-${code}`).getTimeZones();
  return zones !== undefined && zones.length > 0;
}
