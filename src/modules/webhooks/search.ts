/** Finds deliveries of one type in batches that yield to other requests, up to a limit; the next page continues there. */
import { type Found, searchInBatches } from '../../core/batched-search.ts';
import type { Reader } from '../../db/database.ts';
import { type DeliverySearch, scanDeliveries } from '../../store/delivery-search.ts';

/** Rows in the first batch, which is mostly enough. */
const FIRST_STRETCH = 500;
/** Rows in each further batch: a few milliseconds. */
const STRETCH = 4000;

/** Searches newest first. @param before the delivery to continue after. */
export function searchDeliveries(
  reader: Reader,
  search: DeliverySearch,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<Found<string, string>> {
  return searchInBatches<string, string>({
    after: before ?? null,
    limit,
    batchSizes: { first: FIRST_STRETCH, further: STRETCH },
    positionOf: (id) => id,
    async scan({ after, size, limit }) {
      const { found, last, scanned } = await scanDeliveries(reader, search, {
        before: after ?? undefined,
        size,
        limit,
      });
      return { matches: found, last, scanned };
    },
  });
}
