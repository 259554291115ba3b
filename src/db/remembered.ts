/**
 * Answers of a few look-ups, kept in memory for as long as asking again would give the same: until a change is committed to what
 * they were read from. This process's changes are told by the statements they are made of, another process's by SQLite's own
 * counter.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { BigMap } from '../core/big-map.ts';

/** What a statement changes: a row of an id and what hangs on it, or anything in some tables; `+name` stands for new rows alone. */
export type Touched = { readonly id: string } | { readonly tables: readonly string[] };

/** What was changed by one transaction. */
export interface Changes {
  readonly tables: Set<string>;
  readonly ids: Set<string>;
}

type Ids = readonly string[] | null;

/** A look-up by a key, of which answers are remembered. */
export interface LookUp<Row> {
  readonly sql: string;
  /** Ids of all rows that the answer was read from and that are changed by their ids; null where it may be others too. */
  readonly ids: (row: Row) => Ids;
  /** Tables whose rows it finds by their ids alone: new ones there are none of its rows. */
  readonly foundById: readonly string[];
  /** Look-ups by ids in its row, on which the answer rests as well. */
  readonly besides?: readonly { readonly sql: string }[];
}

/** The answers of one look-up by what it was asked. */
export interface Answers {
  /** Undefined where none is remembered. */
  get(key: string): unknown;
  /** Remembers an answer to a key that is asked for again; what is asked for once leaves no trace. The end of a key is its own. */
  set(key: string, answer: unknown, ids: Ids): void;
}

export interface Remembered {
  answersOf<Row>(lookUp: LookUp<Row>): Answers;
  /** Changes were committed. */
  forget(changes: Changes): void;
  /** To be called with each new snapshot: forgets everything where another process has committed something. */
  lookAround(): void;
}

/** Answers kept of one look-up: some 80 MB where all are of sessions. */
const MOST = 65_536;
/** Ids that were changed, looked for in each answer. When there are more, everything is forgotten, and counted anew. */
const MOST_IDS = 10_000;

interface Kept {
  key: string;
  answer: unknown;
  ids: Ids;
  /** The count of changes when it was read. */
  asOf: number;
  /** Since the hand has last passed. */
  isUsed: boolean;
}

interface Statement {
  /** As {@link Changes} names them. */
  readonly tables: ReadonlySet<string>;
  /** What was read before this count of changes may be otherwise by now. */
  since: number;
  readonly answers: Answers;
}

/** @param writer is asked for the counter, which its own commits leave alone. */
export function remembered(writer: SqliteDatabase): Remembered {
  const statements = new Map<string, Statement>();
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const counter = writer.prepare<{ data_version: number }, []>('PRAGMA data_version');
  let seen = counter.get()?.data_version;
  let changes = 0;
  const changedIds = new Map<string, number>();
  /** The count when an id was changed last. */
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

  function begin<Row>({ sql, foundById, besides = [] }: LookUp<Row>): Statement {
    const read = tablesIn(sql);
    const tables = new Set([...read, ...read.filter((table) => !foundById.includes(table)).map(asNew)]);
    for (const other of besides) for (const table of tablesIn(other.sql)) tables.add(table);
    const kept = new BigMap<Kept>();
    const isAskedAgain = doorkeeper();
    /** A clock: the hand goes round and takes the first that nobody has asked for since it has last passed. */
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
    answersOf: (lookUp) => (statements.get(lookUp.sql) ?? begin(lookUp)).answers,
    forget({ tables, ids }) {
      if (tables.size === 0 && ids.size === 0) return;
      if (changedIds.size + ids.size > MOST_IDS) return forgetAll();
      changes += 1;
      if (ids.size > 0) lastOfIds = changes;
      for (const id of ids) changedIds.set(id, changes);
      for (const statement of statements.values())
        if (!statement.tables.isDisjointFrom(tables)) statement.since = changes;
    },
    lookAround() {
      const now = counter.get()?.data_version;
      if (now === seen) return;
      seen = now;
      forgetAll();
    },
  };
}

/** Bits by the ends of keys: 128 KiB. */
const DOOR_BITS = 2 ** 20;
const END_LETTERS = 8;
/** When so many have been set, one in eight would be taken for another: it begins anew. */
const DOOR_MOST = DOOR_BITS / 8;

/**
 * Tells whether a key was shown before, lately. A crowd that comes once each would push out those who come again and again, and
 * leave more behind to be collected than all else together.
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
/** https://www.sqlite.org/lang.html: what follows each of the words that begin a change. */
const CHANGE = /\b(insert|replace|update|delete)(?:\s+or\s+\w+)?\s+(?:into\s+|from\s+)?["`]?([a-z_]\w*)/gi;
const MAY_REPLACE = /\b(?:replace\b|do\s+update\b)/i;

/** Every table that a statement reads. */
function tablesIn(sql: string): string[] {
  return [...new Set([...sql.matchAll(TABLE)].flatMap(([, table]) => table?.toLowerCase() ?? []))];
}

/** The tables that a statement changes, as {@link Touched} has them; null for a read. What it reads meanwhile stays as it is. */
export function tablesChangedBy(sql: string): readonly string[] | null {
  const found = [...sql.matchAll(CHANGE)].flatMap(([, word = '', name = '']): string[] => {
    const table = name.toLowerCase();
    // ON CONFLICT … DO UPDATE SET: of the table that is inserted into.
    if (table === 'set') return [];
    return [word.toLowerCase() === 'insert' && !MAY_REPLACE.test(sql) ? asNew(table) : table];
  });
  return found.length === 0 ? null : [...new Set(found)];
}
