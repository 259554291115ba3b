/**
 * Finding users by a piece of what they are called, by state or by what they hold. It goes in slices that let other requests
 * through, and within a bound: what it has not reached is left to the next page.
 */
import { nextTurn } from '../../core/turn.ts';
import type { Reader } from '../../db/database.ts';
import { type FoundMember, type MemberFilter, scanMembers } from '../../store/member-search.ts';
import type { MemberPosition } from '../../store/members.ts';

/** Members looked at before other requests get their turn: a few milliseconds. */
const SLICE = 2000;
/** Members looked at for one page. */
const MAX_SCANNED = 100_000;

/** What to look for, from where on. */
export interface MemberSearch extends MemberFilter {
  /** In whatever case. */
  readonly q?: string | undefined;
}

/** Whom it has found, and where to go on; null at the end. */
export interface SearchPage {
  readonly found: readonly FoundMember[];
  readonly next: MemberPosition | null;
}

export async function searchMembers(
  reader: Reader,
  applicationId: string,
  { q, ...filter }: MemberSearch,
  { after, limit }: { readonly after: MemberPosition | null; readonly limit: number },
): Promise<SearchPage> {
  const needle = q === undefined ? null : folded(q);
  const isMatch = ({ texts }: FoundMember) =>
    needle === null || texts.some((text) => text !== null && folded(text).includes(needle));
  const found: FoundMember[] = [];
  let position = after;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE) {
    const slice = await scanMembers(reader, applicationId, filter, { after: position, stretch: SLICE });
    found.push(...slice.found.filter(isMatch));
    const last = found[limit - 1];
    if (last && found.length > limit) return { found: found.slice(0, limit), next: last };
    if (slice.scanned < SLICE) return { found, next: null };
    position = slice.last;
    await nextTurn();
  }
  return { found, next: position };
}

/** One spelling for what reads the same, in every script. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
