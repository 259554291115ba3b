/**
 * Finding the deliveries of one type. It goes in stretches that let other requests through, and within a bound: what it has
 * not reached is left to the next page.
 */
import { type Found, searchInStretches } from '../../core/search.ts';
import type { Reader } from '../../db/database.ts';
import { type DeliverySearch, scanDeliveries } from '../../store/delivery-search.ts';

/** Rows looked at first, which mostly are enough… */
const FIRST_STRETCH = 500;
/** …and then at a time: a few milliseconds. */
const STRETCH = 5000;

/** Newest first. @param before goes on behind this one. */
export function searchDeliveries(
  reader: Reader,
  search: DeliverySearch,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<Found<string, string>> {
  return searchInStretches<string, string>({
    after: before ?? null,
    limit,
    stretches: { first: FIRST_STRETCH, further: STRETCH },
    positionOf: (id) => id,
    async scan({ after, stretch, limit }) {
      const { found, last, scanned } = await scanDeliveries(reader, search, {
        before: after ?? undefined,
        stretch,
        limit,
      });
      return { matches: found, last, scanned };
    },
  });
}
