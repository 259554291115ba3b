/** Searches rows that no index selects, in batches that yield, for a limited time; the next page continues. */
import { yieldToEventLoop } from './event-loop.ts';

/** Time limit of one page, in milliseconds. */
const SEARCH_MS = 30;
/** Rows scanned in any case: so few never need a second page. */
const MIN_SCANNED = 4000;

export interface SearchBatch<Match, Position> {
  readonly matches: readonly Match[];
  readonly last: Position | null;
  readonly scanned: number;
}

export interface BatchRequest<Position> {
  readonly after: Position | null;
  readonly size: number;
  /** Number of matches still wanted. */
  readonly limit: number;
}

export interface Search<Match, Position> {
  readonly after: Position | null;
  /** Ends the search at this many matches; the last batch may bring more. */
  readonly limit: number;
  /** Batch sizes in rows: of the first, which is mostly enough, and of each further one. */
  readonly batchSizes: { readonly first: number; readonly further: number };
  readonly positionOf: (match: Match) => Position;
  scan(wanted: BatchRequest<Position>): Promise<SearchBatch<Match, Position>>;
}

/** The matches, and the position to continue behind; null at the end. */
export interface Found<Match, Position> {
  readonly found: Match[];
  readonly next: Position | null;
}

export async function searchInBatches<Match, Position>(
  search: Search<Match, Position>,
): Promise<Found<Match, Position>> {
  const { limit, batchSizes, positionOf } = search;
  const startedAt = performance.now();
  let batchStartedAt = startedAt;
  /** Returns whether a further batch as long as the last would exceed the limit. */
  function isOver(scannedRows: number): boolean {
    const now = performance.now();
    const lastMs = now - batchStartedAt;
    batchStartedAt = now;
    return scannedRows >= MIN_SCANNED && now - startedAt + lastMs > SEARCH_MS;
  }
  const found: Match[] = [];
  let after = search.after;
  let size = batchSizes.first;
  for (let scannedRows = 0; !isOver(scannedRows); scannedRows += size, size = batchSizes.further) {
    const { matches, last, scanned } = await search.scan({ after, size, limit: limit - found.length });
    found.push(...matches);
    const end = found[limit - 1];
    if (end !== undefined) return { found, next: positionOf(end) };
    if (scanned < size) return { found, next: null };
    after = last;
    await yieldToEventLoop();
  }
  return { found, next: after };
}
