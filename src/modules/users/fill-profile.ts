/** Fills blanks of a profile from an import; existing values are never overwritten. */
import type { SpokenLanguage } from '../../store/languages.ts';
import type { User } from '../../store/people.ts';
import type { ReservedProfile } from '../../store/reservations.ts';
import type { ProfileCategory } from './publish.ts';

const FIELDS = ['givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const;

export function profileOf(
  { givenName, familyName, fullName, locale, timezone }: Omit<ReservedProfile, 'languages'> | User,
  languages: readonly SpokenLanguage[],
): ReservedProfile {
  return { givenName, familyName, fullName, locale, timezone, languages };
}

export const BLANK_PROFILE: ReservedProfile = {
  givenName: null,
  familyName: null,
  fullName: null,
  locale: null,
  timezone: null,
  languages: [],
};

/** Fills languages only if the profile has none. */
export function filled(profile: ReservedProfile, offered: ReservedProfile): ReservedProfile {
  const values = Object.fromEntries(FIELDS.map((field) => [field, profile[field] ?? offered[field]]));
  const languages = profile.languages.length > 0 ? profile.languages : inOrder(offered.languages);
  return { ...profile, ...values, languages };
}

/** Returns one entry per tag, the first given, sorted by tag. */
function inOrder(languages: readonly SpokenLanguage[]): SpokenLanguage[] {
  const byCode = new Map(languages.toReversed().map((language) => [language.code, language]));
  return [...byCode.values()].sort((left, right) => (left.code < right.code ? -1 : 1));
}

export interface ProfileDifference {
  readonly categories: readonly ProfileCategory[];
  readonly changed: readonly (typeof FIELDS)[number][];
}

/** Returns empty lists if both are the same. */
export function differenceOf(before: ReservedProfile, after: ReservedProfile): ProfileDifference {
  const changed = FIELDS.filter((field) => before[field] !== after[field]);
  const isSpeechChanged = JSON.stringify(before.languages) !== JSON.stringify(after.languages);
  return {
    categories: [
      ...(changed.length > 0 ? ['identity' as const] : []),
      ...(isSpeechChanged ? ['languages' as const] : []),
    ],
    changed,
  };
}
