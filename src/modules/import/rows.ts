/** The rows of an import before they meet what is there: values checked and brought into their normal form. */
import { normalizeEmail } from '../../core/email.ts';
import { canonicalLocale, canonicalTimeZone } from '../../core/language.ts';
import { plainLine } from '../../core/line.ts';
import { isClaimableUsername, normalizeUsername } from '../../core/username.ts';
import type { Grants } from '../../store/grants.ts';
import type { SpokenLanguage } from '../../store/languages.ts';
import type { InitialProfile } from '../../store/people.ts';
import type { ImportProfile, ImportRow } from './model.ts';

/** As long as people may make theirs. */
const MAX_NAME = 100;

/** A profile whose values have been checked and brought into their normal form. */
export interface CleanProfile extends InitialProfile {
  readonly username: string | null;
  readonly languages: readonly SpokenLanguage[];
}

/** A row that can be judged by what is there, or whose own values are wrong. */
export interface CleanRow {
  /** Normalised; as it was given where it is none. */
  readonly email: string;
  readonly slugs: Grants;
  /** Or why the row is skipped. */
  readonly profile: CleanProfile | { readonly error: string };
}

/** No more than an address may have is shown of what is none. */
const MAX_SHOWN_EMAIL = 320;

/** Never throws: a row that cannot be used says why. */
export function cleanRow(row: ImportRow): CleanRow {
  const { roleSlugs = [], scopeSlugs = [], membershipSlugs = [] } = row;
  const slugs = { roles: roleSlugs, scopes: scopeSlugs, memberships: membershipSlugs };
  const email = normalizeEmail(row.email);
  if (email === null) return { email: row.email.slice(0, MAX_SHOWN_EMAIL), slugs, profile: { error: 'email_invalid' } };
  return { email, slugs, profile: cleanProfile(row.profile ?? {}) };
}

const NAMES = ['givenName', 'familyName', 'fullName'] as const;

function cleanProfile(profile: ImportProfile): CleanRow['profile'] {
  const blankToNull = (text: string | null | undefined) => text?.trim().normalize('NFC') || null;
  const name = blankToNull(profile.username);
  const username = name === null ? null : normalizeUsername(name);
  if (username !== null && !isClaimableUsername(username)) return { error: 'username_invalid' };
  const locale = blankToNull(profile.locale);
  const canonical = locale === null ? null : canonicalLocale(locale);
  if (locale !== null && canonical === null) return { error: 'locale_invalid' };
  const zone = blankToNull(profile.timezone);
  const timezone = zone === null ? null : canonicalTimeZone(zone);
  if (zone !== null && timezone === null) return { error: 'timezone_invalid' };
  const languages: SpokenLanguage[] = [];
  for (const { code, level } of profile.languages ?? []) {
    const tag = canonicalLocale(code);
    if (tag === null) return { error: 'language_invalid' };
    languages.push({ code: tag, level });
  }
  const names: Record<(typeof NAMES)[number], string | null> = { givenName: null, familyName: null, fullName: null };
  for (const field of NAMES) {
    const text = blankToNull(profile[field]);
    names[field] = text === null ? null : plainLine(text, MAX_NAME);
    if (text !== null && names[field] === null) return { error: 'name_invalid' };
  }
  return { username, ...names, locale: canonical, timezone, languages };
}
