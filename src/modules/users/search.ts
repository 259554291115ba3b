/** Searches users by name, status or grants, in batches that yield, up to a limit; the next page continues there. */
import { searchInBatches } from '../../core/batched-search.ts';
import type { Reader } from '../../db/database.ts';
import { type FoundMember, type MemberFilter, scanMembers } from '../../store/member-search.ts';
import type { MemberOrder, MemberPosition } from '../../store/members.ts';

/** Members scanned before yielding to other requests: a few milliseconds. */
const SLICE = 4000;

export interface MemberSearch extends MemberFilter {
  /** Case-insensitive. */
  readonly q?: string | undefined;
  /** Whether `q` also matches names: they need full access, since they could be guessed letter by letter. */
  readonly isByName: boolean;
}

/** The matches, and the position to continue from; null at the end. */
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
  const { found, next } = await searchInBatches<FoundMember, MemberPosition>({
    after,
    // One more tells whether there is a next page.
    limit: limit + 1,
    // If most members match, little more than the page itself has to be scanned.
    batchSizes: { first: Math.min(SLICE, 2 * limit), further: SLICE },
    positionOf: (member) => member,
    async scan({ after, size }) {
      const { found, last, scanned } = await scanMembers(
        reader,
        applicationId,
        { ...filter, word },
        { order, after, size },
      );
      return { matches: found.filter(isMatch), last, scanned };
    },
  });
  return found.length > limit ? { found: found.slice(0, limit), next: found[limit - 1] ?? null } : { found, next };
}

/** Normalises case and Unicode form, so that equal-looking text matches in every script. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Returns a word every match contains as stored; undefined if storage could escape its characters. */
function longestWord(needle: string): string | undefined {
  const words = needle.split(/\s+/).toSorted((one, other) => other.length - one.length);
  return words[0] && !/["\\]/.test(needle) ? words[0] : undefined;
}
