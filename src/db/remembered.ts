/**
 * Rows of a few look-ups, kept in memory for as long as asking again would give the same: until a change is committed to a
 * table that they were read from. This process's changes are told by the statements they are made of, another process's by
 * SQLite's own counter.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';

/** The row of one statement by what it was asked. */
export interface RememberedRows {
  /** Undefined where none is remembered. */
  get(key: string): unknown;
  set(key: string, row: unknown): void;
}

export interface Remembered {
  rowsOf(sql: string): RememberedRows;
  /** A change to these tables was committed. */
  forget(tables: ReadonlySet<string>): void;
  /** To be called with each new snapshot: forgets everything where another process has committed something. */
  lookAround(): void;
}

/** Look-ups kept of one statement in each of two generations: some 20 MB each where all are of sessions. */
const MAX_KEYS = 16_384;

/** @param writer is asked for the counter, which its own commits leave alone. */
export function remembered(writer: SqliteDatabase): Remembered {
  const statements = new Map<string, { readonly tables: readonly string[]; readonly rows: Generations }>();
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const counter = writer.prepare<{ data_version: number }, []>('PRAGMA data_version');
  let seen = counter.get()?.data_version;

  return {
    rowsOf(sql) {
      let known = statements.get(sql);
      if (known === undefined) statements.set(sql, (known = { tables: tablesIn(sql), rows: generations() }));
      return known.rows;
    },
    forget(tables) {
      for (const { tables: read, rows } of statements.values())
        if (read.some((table) => tables.has(table))) rows.clear();
    },
    lookAround() {
      const now = counter.get()?.data_version;
      if (now === seen) return;
      seen = now;
      for (const { rows } of statements.values()) rows.clear();
    },
  };
}

interface Generations extends RememberedRows {
  clear(): void;
}

/** When the younger generation is full it becomes the older one: what nobody asked for meanwhile is gone with the last. */
function generations(): Generations {
  let young = new Map<string, unknown>();
  let old = new Map<string, unknown>();

  function set(key: string, row: unknown): void {
    if (young.size >= MAX_KEYS) [young, old] = [new Map(), young];
    young.set(key, row);
  }

  return {
    get(key) {
      const row = young.get(key);
      if (row !== undefined || old.size === 0) return row;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    clear() {
      if (young.size > 0) young = new Map();
      if (old.size > 0) old = new Map();
    },
  };
}

const TABLE = /\b(?:from|join|into|update)\s+["`]?([a-z_]\w*)/gi;
const CHANGE = /\b(?:insert|update|delete|replace)\b/i;

/** Every table that a statement names. */
function tablesIn(sql: string): string[] {
  return [...new Set([...sql.matchAll(TABLE)].flatMap(([, table]) => table?.toLowerCase() ?? []))];
}

/** The tables that a statement may change: all that it names; null for a read. */
export function tablesChangedBy(sql: string): readonly string[] | null {
  return CHANGE.test(sql) ? tablesIn(sql) : null;
}
