/** Filling the blanks of a profile with what an import offers; what is there is never overwritten. */
import type { SpokenLanguage } from '../../store/languages.ts';
import type { User } from '../../store/people.ts';
import type { ReservedProfile } from '../../store/reservations.ts';
import type { ProfileCategory } from './announce.ts';

const FIELDS = ['givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const;

/** What a person, or a reservation, has of what an import can offer. */
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

/** Languages are given only to who has none. */
export function filled(profile: ReservedProfile, offered: ReservedProfile): ReservedProfile {
  const values = Object.fromEntries(FIELDS.map((field) => [field, profile[field] ?? offered[field]]));
  const languages = profile.languages.length > 0 ? profile.languages : inOrder(offered.languages);
  return { ...profile, ...values, languages };
}

/** One entry for each tag, the first that was given, in the order of the tags. */
function inOrder(languages: readonly SpokenLanguage[]): SpokenLanguage[] {
  const byCode = new Map(languages.toReversed().map((language) => [language.code, language]));
  return [...byCode.values()].sort((left, right) => (left.code < right.code ? -1 : 1));
}

/** What of a profile has changed, as events name it. */
export interface ProfileDifference {
  readonly categories: readonly ProfileCategory[];
  readonly changed: readonly (typeof FIELDS)[number][];
}

/** Empty where both show the same. */
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
