/**
 * Finding users by a piece of what they are called, by state or by what they hold. It goes in slices that let other requests
 * through, and within a bound: what it has not reached is left to the next page.
 */
import { searchInStretches } from '../../core/search.ts';
import type { Reader } from '../../db/database.ts';
import { type FoundMember, type MemberFilter, scanMembers } from '../../store/member-search.ts';
import type { MemberOrder, MemberPosition } from '../../store/members.ts';

/** Members looked at before other requests get their turn: a few milliseconds. */
const SLICE = 4000;

/** What to look for, from where on. */
export interface MemberSearch extends MemberFilter {
  /** In whatever case. */
  readonly q?: string | undefined;
  /** Whether `q` finds by name too: names are for full access, and could be guessed letter by letter. */
  readonly isByName: boolean;
}

/** Whom it has found, and where to go on; null at the end. */
export interface SearchPage {
  readonly found: readonly FoundMember[];
  readonly next: MemberPosition | null;
}

export async function searchMembers(
  reader: Reader,
  applicationId: string,
  { q, isByName, ...filter }: MemberSearch,
  {
    order,
    after,
    limit,
  }: { readonly order: MemberOrder | undefined; readonly after: MemberPosition | null; readonly limit: number },
): Promise<SearchPage> {
  const needle = q === undefined ? undefined : folded(q);
  const word = needle === undefined ? undefined : longestWord(needle);
  const isMatch = ({ handles, name }: FoundMember) => {
    const texts = isByName ? [...handles, name] : handles;
    return needle === undefined || texts.some((text) => text !== null && folded(text).includes(needle));
  };
  const { found, next } = await searchInStretches<FoundMember, MemberPosition>({
    after,
    // One more says whether there is a next page.
    limit: limit + 1,
    // Where most match, little more has to be looked at than is asked for.
    stretches: { first: Math.min(SLICE, 2 * limit), further: SLICE },
    positionOf: (member) => member,
    async scan({ after, stretch }) {
      const { found, last, scanned } = await scanMembers(
        reader,
        applicationId,
        { ...filter, word },
        { order, after, stretch },
      );
      return { matches: found.filter(isMatch), last, scanned };
    },
  });
  return found.length > limit ? { found: found.slice(0, limit), next: found[limit - 1] ?? null } : { found, next };
}

/** One spelling for what reads the same, in every script. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** What every match holds in one piece, however its names are kept; undefined where it could be kept as something else. */
function longestWord(needle: string): string | undefined {
  const words = needle.split(/\s+/).toSorted((one, other) => other.length - one.length);
  return words[0] && !/["\\]/.test(needle) ? words[0] : undefined;
}
