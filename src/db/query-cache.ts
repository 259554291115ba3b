/**
 * Query cache of a few lookups, invalidated by commits to what they were read from: by the statements of this process,
 * and by SQLite's own counter for others.
 */
import { BigMap } from '../core/big-map.ts';

/** Rows that a statement changes: one id's row and dependents, or any in some tables; `+name` means new rows only. */
export type ChangedRows = { readonly id: string } | { readonly tables: readonly string[] };

export interface Changes {
  readonly tables: Set<string>;
  readonly ids: Set<string>;
}

type Ids = readonly string[] | null;

/** Lookup by a key, whose answers are cached. */
export interface CachedQuery<Row> {
  readonly sql: string;
  /** Ids of the rows behind an answer that are changed by id; null where others may be behind it too. */
  readonly ids: (row: Row) => Ids;
  /** Tables whose rows it finds by id alone: an insert there cannot change its answer. */
  readonly foundById: readonly string[];
  /** Dependent lookups by ids in its row; changes to their tables invalidate the answer too. */
  readonly besides?: readonly { readonly sql: string }[];
}

export interface CacheEntries {
  /** Returns undefined where none is cached. */
  get(key: string): unknown;
  /** Caches an answer from the key's second request on. Keys must differ in their last eight characters. */
  set(key: string, answer: unknown, ids: Ids): void;
}

export interface QueryCache {
  entriesOf<Row>(lookUp: CachedQuery<Row>): CacheEntries;
  /** Invalidates by committed changes. */
  invalidate(changes: Changes): void;
  /** Invalidates everything if another process has committed; called with each new snapshot. */
  invalidateIfChangedElsewhere(): void;
}

/** Cached answers per lookup: some 80 MB if all are sessions. */
const MOST = 65_536;
/** Changed ids to compare each answer with. Beyond this everything is invalidated, and counting restarts. */
const MOST_IDS = 10_000;

interface Kept {
  key: string;
  answer: unknown;
  ids: Ids;
  /** Change count when it was read. */
  asOf: number;
  /** Since the clock hand last passed. */
  isUsed: boolean;
}

interface Statement {
  /** Named as in {@link Changes}. */
  readonly tables: ReadonlySet<string>;
  /** Answers from before this change count may be stale. */
  since: number;
  readonly answers: CacheEntries;
}

/** @param version changes with each commit of another process. */
export function queryCache(version: () => number | undefined): QueryCache {
  const statements = new Map<string, Statement>();
  let seen = version();
  let changes = 0;
  const changedIds = new Map<string, number>();
  /** Change count when an id was last changed. */
  let lastOfIds = 0;

  function isTouched({ ids, asOf }: Kept): boolean {
    if (asOf >= lastOfIds) return false;
    if (ids === null) return true;
    for (const id of ids) if ((changedIds.get(id) ?? -1) > asOf) return true;
    return false;
  }

  function forgetAll(): void {
    changes += 1;
    changedIds.clear();
    for (const statement of statements.values()) statement.since = changes;
  }

  function begin<Row>({ sql, foundById, besides = [] }: CachedQuery<Row>): Statement {
    const read = tablesIn(sql);
    const tables = new Set([...read, ...read.filter((table) => !foundById.includes(table)).map(asNew)]);
    for (const other of besides) for (const table of tablesIn(other.sql)) tables.add(table);
    const kept = new BigMap<Kept>();
    const isAskedAgain = doorkeeper();
    /** Clock eviction: the hand takes the first entry unused since it last passed. */
    const ring: Kept[] = [];
    let hand = 0;

    function add(entry: Kept): void {
      if (ring.length < MOST) ring.push(entry);
      else {
        for (let at = ring[hand]; at?.isUsed; at = ring[hand]) {
          at.isUsed = false;
          hand = (hand + 1) % MOST;
        }
        kept.delete((ring[hand] as Kept).key);
        ring[hand] = entry;
        hand = (hand + 1) % MOST;
      }
      kept.set(entry.key, entry);
    }

    const statement: Statement = {
      tables,
      since: 0,
      answers: {
        get(key) {
          const entry = kept.get(key);
          if (entry === undefined || entry.asOf < statement.since || isTouched(entry)) return undefined;
          entry.isUsed = true;
          return entry.answer;
        },
        set(key, answer, ids) {
          if (!isAskedAgain(key)) return;
          const entry = kept.get(key);
          if (entry === undefined) add({ key, answer, ids, asOf: changes, isUsed: false });
          else Object.assign(entry, { answer, ids, asOf: changes });
        },
      },
    };
    statements.set(sql, statement);
    return statement;
  }

  return {
    entriesOf: (lookUp) => (statements.get(lookUp.sql) ?? begin(lookUp)).answers,
    invalidate({ tables, ids }) {
      if (tables.size === 0 && ids.size === 0) return;
      if (changedIds.size + ids.size > MOST_IDS) return forgetAll();
      changes += 1;
      if (ids.size > 0) lastOfIds = changes;
      for (const id of ids) changedIds.set(id, changes);
      for (const statement of statements.values())
        if (!statement.tables.isDisjointFrom(tables)) statement.since = changes;
    },
    invalidateIfChangedElsewhere() {
      const now = version();
      if (now === seen) return;
      seen = now;
      forgetAll();
    },
  };
}

/** Bits of the filter, by the ends of keys: 128 KiB. */
const DOOR_BITS = 2 ** 20;
const END_LETTERS = 8;
/** Set bits at which one key in eight would be mistaken for another: the filter is cleared. */
const DOOR_MOST = DOOR_BITS / 8;

/**
 * Returns whether a key was seen lately. Caching keys that come once would evict those that come again, and leave more
 * garbage than all else together.
 */
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

const TABLE = /\b(?:from|join)\s+["`]?([a-z_]\w*)/gi;
/** Keywords that begin a change, with their table (https://www.sqlite.org/lang.html). */
const CHANGE = /\b(insert|replace|update|delete)(?:\s+or\s+\w+)?\s+(?:into\s+|from\s+)?["`]?([a-z_]\w*)/gi;
const MAY_REPLACE = /\b(?:replace\b|do\s+update\b)/i;

function tablesIn(sql: string): string[] {
  return [...new Set([...sql.matchAll(TABLE)].flatMap(([, table]) => table?.toLowerCase() ?? []))];
}

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
