/** Searches rows that no index selects, in batches that yield, for a limited time; the next page continues. */
import { nextTurn } from './turn.ts';

/** Time limit of one page, in milliseconds. */
const SEARCH_MS = 30;
/** Rows scanned in any case: so few never need a second page. */
const LOOKED_AT_LEAST = 10_000;

/** The result of scanning one batch. */
export interface Stretch<Match, Position> {
  readonly matches: readonly Match[];
  /** The last row scanned; null if there was none. */
  readonly last: Position | null;
  readonly scanned: number;
}

export interface StretchWanted<Position> {
  readonly after: Position | null;
  /** Number of rows to scan. */
  readonly stretch: number;
  /** Number of matches still wanted. */
  readonly limit: number;
}

export interface Search<Match, Position> {
  /** Starts behind this position. */
  readonly after: Position | null;
  /** Ends the search at this many matches; the last batch may bring more. */
  readonly limit: number;
  /** Batch sizes in rows: of the first, which is mostly enough, and of each further one. */
  readonly stretches: { readonly first: number; readonly further: number };
  readonly positionOf: (match: Match) => Position;
  scan(wanted: StretchWanted<Position>): Promise<Stretch<Match, Position>>;
}

/** The matches, and the position to continue behind; null at the end. */
export interface Found<Match, Position> {
  readonly found: Match[];
  readonly next: Position | null;
}

export async function searchInStretches<Match, Position>(
  search: Search<Match, Position>,
): Promise<Found<Match, Position>> {
  const { limit, stretches, positionOf } = search;
  const startedAt = performance.now();
  const isOver = (looked: number) => looked >= LOOKED_AT_LEAST && performance.now() - startedAt > SEARCH_MS;
  const found: Match[] = [];
  let after = search.after;
  let stretch = stretches.first;
  for (let looked = 0; !isOver(looked); looked += stretch, stretch = stretches.further) {
    const { matches, last, scanned } = await search.scan({ after, stretch, limit: limit - found.length });
    found.push(...matches);
    const end = found[limit - 1];
    if (end !== undefined) return { found, next: positionOf(end) };
    if (scanned < stretch) return { found, next: null };
    after = last;
    await nextTurn();
  }
  return { found, next: after };
}
