/** Validates and normalizes the rows of an import, before they are compared with existing data. */
import { normalizeEmail } from '../../core/email.ts';
import { isTooLarge, type Metadata, mergePatch } from '../../core/metadata.ts';
import { canonicalLocale, canonicalTimeZone } from '../../core/language.ts';
import { singleLine } from '../../core/single-line.ts';
import { isClaimableUsername, normalizeUsername } from '../../core/username.ts';
import { type Flaw, flawFinder } from '../../http/validate.ts';
import { ALL_KINDS, type GrantKind, type Grants } from '../../store/grants.ts';
import type { SpokenLanguage } from '../../store/languages.ts';
import type { InitialProfile } from '../../store/people.ts';
import { type ImportProfile, ImportRow } from './model.ts';

/** Same maximum as for names that people enter. */
const MAX_NAME = 100;

export interface CleanProfile extends InitialProfile {
  readonly username: string | null;
  readonly languages: readonly SpokenLanguage[];
}

export interface CleanRow {
  /** Normalized; as given if invalid. */
  readonly email: string;
  readonly slugs: Grants;
  readonly externalId: string | null;
  /** Without nulls, as a merge patch applied to nothing. */
  readonly metadata: Metadata;
  /** The profile, or why the row is skipped. */
  readonly profile: CleanProfile | { readonly error: string };
}

/** Maximum length of an invalid address in the result. */
const MAX_SHOWN_EMAIL = 320;
/** Maximum length of a field path in an error. */
const MAX_SHOWN_PATH = 100;

/** Fields with one error code of their own for every problem. */
const OWN_CODES: Readonly<Record<string, string>> = {
  email: 'email_invalid',
  'profile.username': 'username_invalid',
  'profile.locale': 'locale_invalid',
  'profile.timezone': 'timezone_invalid',
  'profile.languages': 'language_invalid',
};

/** Alternative field names of the slug lists. */
const SLUG_FIELDS = {
  roles: 'roleSlugs',
  scopes: 'scopeSlugs',
  memberships: 'membershipSlugs',
} as const satisfies Record<GrantKind, keyof ImportRow>;

const flawOf = flawFinder(ImportRow);

/** Never throws: an unusable row gets an error. @param row any JSON value. */
export function cleanRow(row: unknown): CleanRow {
  const given = emailIn(row);
  const email = normalizeEmail(given);
  const flaw = flawOf(row);
  if (flaw?.path === '') return skipped('', 'row_invalid');
  if (email === null) return skipped(given.slice(0, MAX_SHOWN_EMAIL), 'email_invalid');
  if (flaw) return skipped(email, errorOf(flaw));
  const { profile = {}, externalId = null, metadata: offered, ...lists } = row as ImportRow;
  const metadata = mergePatch({}, offered ?? {});
  if (isTooLarge(metadata)) return skipped(email, 'field_invalid:metadata');
  const repeated = ALL_KINDS.find((kind) => lists[kind] !== undefined && lists[SLUG_FIELDS[kind]] !== undefined);
  if (repeated !== undefined) return skipped(email, `field_repeated:${repeated}`);
  const slugs = (kind: GrantKind) => lists[kind] ?? lists[SLUG_FIELDS[kind]] ?? [];
  return {
    email,
    slugs: { roles: slugs('roles'), scopes: slugs('scopes'), memberships: slugs('memberships') },
    externalId,
    metadata,
    profile: cleanProfile(profile),
  };
}

function emailIn(row: unknown): string {
  const { email } = (typeof row === 'object' && row !== null ? row : {}) as { email?: unknown };
  return typeof email === 'string' ? email : '';
}

function skipped(email: string, error: string): CleanRow {
  const slugs = { roles: [], scopes: [], memberships: [] };
  return { email, slugs, externalId: null, metadata: {}, profile: { error } };
}

function errorOf({ path, isUnknown }: Flaw): string {
  const shown = path.slice(0, MAX_SHOWN_PATH).toWellFormed();
  if (isUnknown) return `field_unknown:${shown}`;
  const own = Object.keys(OWN_CODES).find((field) => path === field || path.startsWith(`${field}.`));
  return (own !== undefined && OWN_CODES[own]) || `field_invalid:${shown}`;
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
    names[field] = text === null ? null : singleLine(text, MAX_NAME);
    if (text !== null && names[field] === null) return { error: `field_invalid:profile.${field}` };
  }
  return { username, ...names, locale: canonical, timezone, languages };
}
