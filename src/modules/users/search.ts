/**
 * Searches users by id, name, status or grants: by an index where one leads to few of them, else in batches that yield,
 * up to a limit; the next page continues there.
 */
import { searchInBatches } from '../../core/batched-search.ts';
import type { Reader } from '../../db/database.ts';
import {
  findIndexedMembers,
  findMemberByTerm,
  type MemberFilter,
  type MembersAsked,
  memberTerms,
  scanMembers,
} from '../../store/member-search.ts';
import type { MemberOrder, MemberPosition } from '../../store/members.ts';
import type { UserStatusFilter } from './model.ts';

/** Members scanned in a batch: some ten milliseconds of the thread for long reads. */
const SLICE = 2000;

export interface MemberSearch extends Omit<MemberFilter, 'status' | 'isImported'> {
  readonly status?: UserStatusFilter | undefined;
  /** Words in any order, or a whole user id. Case and accents make no difference. */
  readonly q?: string | undefined;
  /** Whether `q` also matches names: they need full access, since they could be guessed letter by letter. */
  readonly isByName: boolean;
}

/** The matches, and the position to continue from; null at the end. */
export interface SearchPage {
  readonly found: readonly MemberPosition[];
  readonly next: MemberPosition | null;
}

interface Wanted {
  readonly order: MemberOrder | undefined;
  readonly after: MemberPosition | null;
  readonly limit: number;
}

export async function searchMembers(
  reader: Reader,
  applicationId: string,
  { q, isByName, status, ...grants }: MemberSearch,
  { order = 'last_seen', after, limit }: Wanted,
): Promise<SearchPage> {
  const filter: MemberFilter = { ...grants, ...(status === 'imported' ? { isImported: true } : { status }) };
  const terms = memberTerms(q, isByName);
  // Nothing but spaces and an @ would match everybody.
  if (q !== undefined && terms.userId === null && terms.words.length === 0) return { found: [], next: null };
  const asked: MembersAsked = { applicationId, filter, terms, order, after };
  // One more tells whether there is a next page.
  if (terms.userId !== null) return pageOf(await findMemberByTerm(reader, asked), limit, null);
  const indexed = await findIndexedMembers(reader, asked, limit + 1);
  if (indexed) return pageOf(indexed, limit, null);
  const { found, next } = await searchInBatches<MemberPosition, MemberPosition>({
    after,
    limit: limit + 1,
    // If most members match, little more than the page itself has to be scanned.
    batchSizes: { first: Math.min(SLICE, 2 * limit), further: SLICE },
    positionOf: (member) => member,
    async scan({ after: scanAfter, size }) {
      const { found: matches, ...rest } = await scanMembers(reader, { ...asked, after: scanAfter }, size);
      return { matches, ...rest };
    },
  });
  return pageOf(found, limit, next);
}

function pageOf(found: readonly MemberPosition[], limit: number, next: MemberPosition | null): SearchPage {
  return found.length > limit ? { found: found.slice(0, limit), next: found[limit - 1] ?? null } : { found, next };
}
