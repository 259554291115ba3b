/**
 * Query cache of verification's lookups, live by construction: an entry ends with the first commit that changes or
 * deletes a row of a table its query reads (where the change names the rows' ids, only an entry with one of them), that
 * adds a row to one of its `listTables`, or that another process makes.
 */
import { CachedRows } from './cached-rows.ts';
import type { CachedQuery, Ids } from './lookup-queries.ts';
import { idsOf } from './lookups.ts';

/** Rows that a statement changes: those with some ids, or any in some tables; `+name` means new rows only. */
export type ChangedRows = { readonly ids: readonly string[] } | { readonly tables: readonly string[] };

export interface Changes {
  readonly tables: Set<string>;
  readonly ids: Set<string>;
}

/** Keys are text of up to 32 ASCII letters, or as many bytes. */
export type CacheKey = string | Uint8Array;

export interface CacheEntries {
  /** Returns what was made of a row; undefined where no valid result is kept. */
  get(key: CacheKey): unknown;
  /** Returns a row of which a result is to be made; undefined where no valid one is cached. */
  row(key: CacheKey): object | undefined;
  /** Keeps what was just made of a cached row. */
  made(key: CacheKey, row: object, result: unknown): void;
  /** Caches a row that was read, and what was made of it, from the key's second request on. */
  set(key: CacheKey, row: object, result: unknown): void;
}

export type QueryCache = ReturnType<typeof queryCache>;

/** Cached rows per query by default. */
const MAX_ENTRIES = 51_200;
/** Changed ids in one of two maps. An entry that is not used while both fill is invalidated. */
const MAX_IDS = 10_000;
/** Ids of dependents that entries share. */
const MAX_SHARED_IDS = 10_000;

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

  /** Returns whether one of the rows with these ids has changed since a change count. */
  function isChanged(ids: Ids, asOf: number): boolean {
    if (ids === null || asOf < knownSince) return true;
    for (const id of ids) if ((changedIds.get(id) ?? earlierIds.get(id) ?? -1) > asOf) return true;
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
    const rows = new CachedRows(query, maxEntries);
    const idsOfKept = (entry: number) => rows.idsOf(entry);

    function asOf(entry: number): number {
      return rows.asOf[entry] as number;
    }

    /** @param idsOf called only if some ids have changed since. */
    function isValid(entry: number, idsOf: (entry: number) => Ids): boolean {
      if (asOf(entry) < state.validSince) return false;
      if (asOf(entry) >= lastIdChange) return true;
      if (isChanged(idsOf(entry), asOf(entry))) return false;
      rows.asOf[entry] = changes;
      return true;
    }

    const state: QueryState = {
      tables: new Set([query, ...(query.dependents ?? []).map((dependent) => dependent.query)].flatMap(tablesOf)),
      validSince: 0,
      entries: {
        get(key) {
          const entry = rows.find(key);
          const result = entry < 0 ? undefined : rows.resultOf(entry);
          if (result === undefined || !isValid(entry, idsOfKept)) return undefined;
          rows.useResult(entry);
          return result;
        },
        row(key) {
          const entry = rows.find(key);
          if (entry < 0 || rows.resultOf(entry) !== undefined || asOf(entry) < state.validSince) return undefined;
          const row = rows.rowOf(entry);
          if (!isValid(entry, () => idsOfResult(query, row))) return undefined;
          rows.useRow(entry);
          return row;
        },
        made(key, row, result) {
          const entry = rows.find(key);
          if (entry >= 0) rows.keepResult(entry, result, () => idsOfResult(query, row));
        },
        set(key, row, result) {
          rows.keep(key, { row, result, idsOf: () => idsOfResult(query, row), asOf: changes });
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
