/**
 * Looking for what no index knows: stretch by stretch, so that others have their turn, and for a bounded time, so that nobody
 * waits long for a page, however rare what they look for. What was not reached is left to the next page.
 */
import { nextTurn } from './turn.ts';

/** How long one answer looks, in milliseconds… */
const SEARCH_MS = 30;
/** …and how many rows it looks at in any case: a few are never a reason for a second page. */
const LOOKED_AT_LEAST = 10_000;

/** What looking through a stretch has found. */
export interface Stretch<Match, Position> {
  readonly matches: readonly Match[];
  /** The last row looked at; null where there was none. */
  readonly last: Position | null;
  readonly scanned: number;
}

export interface StretchWanted<Position> {
  readonly after: Position | null;
  /** How many rows to look at. */
  readonly stretch: number;
  /** How many matches are still wanted. */
  readonly limit: number;
}

export interface Search<Match, Position> {
  /** Begins behind this one. */
  readonly after: Position | null;
  /** As many matches end it; the last stretch may bring more. */
  readonly limit: number;
  /** Rows of the first stretch, which mostly are enough, and of each that follows. */
  readonly stretches: { readonly first: number; readonly further: number };
  readonly positionOf: (match: Match) => Position;
  scan(wanted: StretchWanted<Position>): Promise<Stretch<Match, Position>>;
}

/** What was found, and behind which to go on; null at the end. */
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
