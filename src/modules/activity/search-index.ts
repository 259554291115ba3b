/** Keeps the search index of addresses complete; until an address is indexed, a search compares the address itself. */
import type { Database } from '../../db/database.ts';
import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { searchIndexJob } from '../../jobs/search-index.ts';
import {
  type AddressPlace,
  ENTER_ADDRESSES,
  enterAddresses,
  hasUnindexedAddress,
  indexAddresses,
} from '../../store/address-search.ts';

export function addressIndexJob(db: Database): Job {
  return searchIndexJob(db, {
    name: 'address search',
    hasMissing: hasUnindexedAddress,
    indexMissing: indexAddresses,
  });
}

const START: AddressPlace = { source: 'records', workspaceId: '', after: '' };

/** Enters the addresses of an instance that was upgraded. A migration begins it, with an empty cursor. */
export const enterAddressesTask: BackgroundTask = {
  name: ENTER_ADDRESSES,
  async step(unit, { cursor }, limit) {
    const place = cursor ? (JSON.parse(cursor) as AddressPlace) : START;
    const { next, rows } = await enterAddresses(unit, place, limit);
    return { done: rows, cursor: next && JSON.stringify(next), isFinished: next === null };
  },
};
