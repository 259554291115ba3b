/**
 * Query cache of verification's lookups, live by construction: an entry ends with the first commit that changes or
 * deletes a row of a table its query reads (where the change names the rows' ids, only an entry with one of them), that
 * adds a row to one of its `listTables`, or that another process makes.
 */
import { BigMap } from '../core/big-map.ts';
import type { CachedQuery, Ids } from './lookup-queries.ts';
import { idsOf } from './lookups.ts';

/** Rows that a statement changes: those with some ids, or any in some tables; `+name` means new rows only. */
export type ChangedRows = { readonly ids: readonly string[] } | { readonly tables: readonly string[] };

export interface Changes {
  readonly tables: Set<string>;
  readonly ids: Set<string>;
}

export interface CacheEntries {
  /** Returns undefined where no valid entry is cached. */
  get(key: string): unknown;
  /** Caches what was made of a row, from the key's second request on. Keys must differ in their last eight characters. */
  set(key: string, result: unknown, row: object): void;
}

export type QueryCache = ReturnType<typeof queryCache>;

/** Cached results per query by default. */
const MAX_ENTRIES = 24_576;
/**
 * Misses for each one that evicts an entry of a full cache. If every miss did, keys that are requested in turn and
 * outnumber the entries would all be evicted before their next request. Prime, since such keys often come in round
 * numbers: otherwise it would always be the same ones that are cached.
 */
const MISSES_PER_EVICTION = 17;
/** Changed ids in one of two maps. An entry that is not used while both fill is invalidated. */
const MAX_IDS = 10_000;
/** Ids of dependents that entries share. */
const MAX_SHARED_IDS = 10_000;

interface Entry {
  key: string;
  result: unknown;
  ids: Ids;
  /** Change count for which it is known to be valid. */
  asOf: number;
  /** Since the clock hand last passed. */
  isUsed: boolean;
}

interface QueryState {
  /** Named as in {@link Changes}. */
  readonly tables: ReadonlySet<string>;
  /** Entries from before this change count may be stale. */
  validSince: number;
  readonly entries: CacheEntries;
}

export interface QueryCacheOptions {
  /** Per query. */
  readonly maxEntries?: number;
  /** Called when another process has committed. */
  readonly onChangedElsewhere?: () => void;
}

/** @param version changes with each commit of another process. */
export function queryCache(
  version: () => number | undefined,
  { maxEntries = MAX_ENTRIES, onChangedElsewhere = () => {} }: QueryCacheOptions = {},
) {
  const queries = new Map<CachedQuery<never>, QueryState>();
  const sharedIds = new Map<string, string>();
  let lastVersion = version();
  let changes = 0;
  /** Change counts by id. Before `changedIds` was begun, ids went to `earlierIds`, which has all after `knownSince`. */
  let changedIds = new Map<string, number>();
  let earlierIds = new Map<string, number>();
  let [knownSince, begunAt] = [0, 0];
  /** Change count when an id was last changed. */
  let lastIdChange = 0;

  function isChanged(entry: Entry): boolean {
    const { ids, asOf } = entry;
    if (asOf >= lastIdChange) return false;
    if (ids === null || asOf < knownSince) return true;
    for (const id of ids) if ((changedIds.get(id) ?? earlierIds.get(id) ?? -1) > asOf) return true;
    entry.asOf = changes;
    return false;
  }

  function invalidateAll(): void {
    changes += 1;
    changedIds.clear();
    earlierIds.clear();
    knownSince = begunAt = changes;
    for (const query of queries.values()) query.validSince = changes;
  }

  /** Drops the older half of the changed ids. */
  function dropEarlierIds(): void {
    [earlierIds, changedIds] = [changedIds, new Map()];
    [knownSince, begunAt] = [begunAt, changes];
  }

  /** Returns the ids of the rows that a result was made of, dependents included. */
  function idsOfResult(query: CachedQuery<never>, row: object): Ids {
    const ids = query.rowIds(row as never);
    if (ids === null || query.dependents === undefined) return ids;
    const columns = row as Readonly<Record<string, unknown>>;
    return [...ids, ...query.dependents.flatMap((dependent) => idsOf(columns[dependent.ids]).map(shared))];
  }

  /** Returns one string for equal ids: a few dependents serve all entries. */
  function shared(id: string): string {
    const known = sharedIds.get(id);
    if (known !== undefined) return known;
    if (sharedIds.size >= MAX_SHARED_IDS) sharedIds.clear();
    sharedIds.set(id, id);
    return id;
  }

  function add(query: CachedQuery<never>): QueryState {
    const byKey = new BigMap<Entry>();
    const isRequestedAgain = doorkeeper();
    /** CLOCK eviction: the hand takes the first entry unused since it last passed. */
    const ring: Entry[] = [];
    let hand = 0;
    let misses = 0;

    const isAdmitted = () => ring.length < maxEntries || (misses += 1) % MISSES_PER_EVICTION === 0;

    function addEntry(entry: Entry): void {
      if (ring.length < maxEntries) ring.push(entry);
      else {
        for (let at = ring[hand]; at?.isUsed; at = ring[hand]) {
          at.isUsed = false;
          hand = (hand + 1) % maxEntries;
        }
        byKey.delete((ring[hand] as Entry).key);
        ring[hand] = entry;
        hand = (hand + 1) % maxEntries;
      }
      byKey.set(entry.key, entry);
    }

    const state: QueryState = {
      tables: new Set([query, ...(query.dependents ?? []).map((dependent) => dependent.query)].flatMap(tablesOf)),
      validSince: 0,
      entries: {
        get(key) {
          const entry = byKey.get(key);
          if (entry === undefined || entry.asOf < state.validSince || isChanged(entry)) return undefined;
          entry.isUsed = true;
          return entry.result;
        },
        set(key, result, row) {
          if (!isRequestedAgain(key)) return;
          const entry = byKey.get(key);
          if (entry === undefined && !isAdmitted()) return;
          const ids = idsOfResult(query, row);
          if (entry === undefined) addEntry({ key, result, ids, asOf: changes, isUsed: false });
          else Object.assign(entry, { result, ids, asOf: changes });
        },
      },
    };
    queries.set(query, state);
    return state;
  }

  return {
    entriesOf: (query: CachedQuery<never>): CacheEntries => (queries.get(query) ?? add(query)).entries,
    invalidate({ tables, ids }: Changes): void {
      if (tables.size === 0 && ids.size === 0) return;
      if (ids.size > MAX_IDS) return invalidateAll();
      if (changedIds.size + ids.size > MAX_IDS) dropEarlierIds();
      changes += 1;
      if (ids.size > 0) lastIdChange = changes;
      for (const id of ids) changedIds.set(id, changes);
      for (const query of queries.values()) if (!query.tables.isDisjointFrom(tables)) query.validSince = changes;
    },
    invalidateAll,
    /** Invalidates everything if another process has committed; called with each new snapshot. */
    invalidateIfChangedElsewhere(): void {
      const current = version();
      if (current === lastVersion) return;
      lastVersion = current;
      invalidateAll();
      onChangedElsewhere();
    },
  };
}

/** Bits of the filter, by the ends of keys: 128 KiB. */
const DOOR_BITS = 2 ** 20;
const END_LETTERS = 8;
/** Set bits at which one key in eight would be mistaken for another: the filter is cleared. */
const DOOR_MOST = DOOR_BITS / 8;

/** Returns whether a key was seen recently: caching keys used once would evict reused keys and add garbage. */
function doorkeeper(): (key: string) => boolean {
  const bits = new Uint8Array(DOOR_BITS / 8);
  let set = 0;
  return (key) => {
    let bit = 0;
    for (let at = key.length - END_LETTERS; at < key.length; at += 1)
      bit = (bit * 33 + key.charCodeAt(at)) & (DOOR_BITS - 1);
    const [at, mask] = [bit >>> 3, 1 << (bit & 7)];
    const byte = bits[at] as number;
    if ((byte & mask) !== 0) return true;
    if ((set += 1) > DOOR_MOST) {
      bits.fill(0);
      set = 1;
    }
    bits[at] = (bits[at] as number) | mask;
    return false;
  };
}

const asNew = (table: string) => `+${table}`;

/** Returns the tables whose changes end a result, named as in {@link Changes}. */
function tablesOf({ rowTables, listTables = [] }: CachedQuery<never>): string[] {
  return [...rowTables, ...listTables, ...listTables.map(asNew)];
}

/** Keywords that begin a change, with their table (https://www.sqlite.org/lang.html). */
const CHANGE = /\b(insert|replace|update|delete)(?:\s+or\s+\w+)?\s+(?:into\s+|from\s+)?["`]?([a-z_]\w*)/gi;
const MAY_REPLACE = /\b(?:replace\b|do\s+update\b)/i;

/** Returns the tables that a statement changes, as in {@link ChangedRows}; null for a read. */
export function tablesChangedBy(sql: string): readonly string[] | null {
  const found = [...sql.matchAll(CHANGE)].flatMap(([, word = '', name = '']): string[] => {
    const table = name.toLowerCase();
    // `DO UPDATE SET` changes the table of its own INSERT.
    if (table === 'set') return [];
    return [word.toLowerCase() === 'insert' && !MAY_REPLACE.test(sql) ? asNew(table) : table];
  });
  return found.length === 0 ? null : [...new Set(found)];
}
