/**
 * Finding the deliveries of one type. It goes in stretches that let other requests through, and within a bound: what it has
 * not reached is left to the next page.
 */
import { nextTurn, searchTime } from '../../core/turn.ts';
import type { Reader } from '../../db/database.ts';
import { type DeliverySearch, scanDeliveries } from '../../store/delivery-search.ts';

/** Rows looked at first, which mostly are enough… */
const FIRST_STRETCH = 500;
/** …and then at a time: a few milliseconds. */
const STRETCH = 5000;

/** Which it has found, and behind which to go on; null at the end. */
export interface FoundDeliveries {
  readonly found: readonly string[];
  readonly next: string | null;
}

/** Newest first. @param before goes on behind this one. */
export async function searchDeliveries(
  reader: Reader,
  search: DeliverySearch,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<FoundDeliveries> {
  const found: string[] = [];
  let position = before;
  let stretch = FIRST_STRETCH;
  const isOver = searchTime();
  for (let looked = 0; !isOver(looked); looked += stretch, stretch = STRETCH) {
    const left = limit - found.length;
    const slice = await scanDeliveries(reader, search, { before: position, stretch, limit: left });
    found.push(...slice.found);
    const last = found.at(-1);
    if (last !== undefined && found.length === limit) return { found, next: last };
    if (slice.scanned < stretch) return { found, next: null };
    position = slice.last ?? undefined;
    await nextTurn();
  }
  return { found, next: position ?? null };
}
