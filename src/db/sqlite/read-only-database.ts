/**
 * Opens a read-only connection that changes no byte, leaves no file behind and takes no lock that a writer waits for.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { openReadOnly } from './read-only.ts';
import { createConnection } from './connection.ts';
import { CONNECTION, type Reader } from '../database.ts';

export interface ReadOnlyDatabase {
  readonly reader: Reader;
  readonly bytes: number;
  readonly logBytes: number;
  /** Checks tables and their indexes, small ones first. */
  check(options: CheckOptions): Generator<CheckStep, CheckResult>;
  close(): void;
}

export interface CheckOptions {
  /** Time limit; a table that would exceed it is skipped. */
  readonly withinMs: number;
  /** Whether to compare every index with its table as well. */
  readonly isThorough: boolean;
}

/** Progress, reported before each table. */
export interface CheckStep {
  readonly table: string;
  readonly done: number;
  readonly all: number;
}

export interface CheckResult {
  /** Problems in SQLite's words, at most five. */
  readonly problems: readonly string[];
  readonly checked: number;
  /** Tables skipped for lack of time. */
  readonly leftOut: readonly string[];
}

const MOST_PROBLEMS = 5;
/** Estimate until a larger table has been timed: five times what a fast disk takes. */
const FIRST_MS_PER_ROW = 0.005;
const TELLING_ROWS = 10_000;

export function openReadOnlyDatabase(path: string): ReadOnlyDatabase {
  const { sqlite, close } = openReadOnly(path);
  sqlite.run('PRAGMA busy_timeout = 5000');

  function* check({ withinMs, isThorough }: CheckOptions): Generator<CheckStep, CheckResult> {
    const began = performance.now();
    const tables = tablesBySize(sqlite);
    const pragma = isThorough ? 'integrity_check' : 'quick_check';
    const problems: string[] = [];
    const leftOut: string[] = [];
    let msPerRow = FIRST_MS_PER_ROW;
    for (const [done, { name, rows }] of tables.entries()) {
      yield { table: name, done, all: tables.length };
      const begun = performance.now();
      if (begun - began + rows * msPerRow > withinMs) {
        leftOut.push(name);
        continue;
      }
      const found = sqlite.query<Record<string, string>, []>(`PRAGMA ${pragma}("${name}")`).all();
      problems.push(...found.flatMap((row) => Object.values(row)).filter((text) => text !== 'ok'));
      if (problems.length >= MOST_PROBLEMS) break;
      if (rows >= TELLING_ROWS) msPerRow = (performance.now() - begun) / rows;
    }
    return { problems: problems.slice(0, MOST_PROBLEMS), checked: tables.length - leftOut.length, leftOut };
  }

  return {
    reader: { [CONNECTION]: createConnection(sqlite) },
    bytes: statSync(path).size,
    logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    check,
    close,
  };
}

/** Sorts tables by their maximal number of rows, which an index tells without a scan. */
function tablesBySize(sqlite: SqliteDatabase): { readonly name: string; readonly rows: number }[] {
  const tables = sqlite
    .query<{ name: string; wr: number }, []>(
      "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  const sized = tables.map(({ name, wr }) => {
    const rows = wr
      ? sqlite.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM "${name}"`).get()?.rows
      : sqlite.query<{ rows: number | null }, []>(`SELECT max(rowid) AS rows FROM "${name}"`).get()?.rows;
    return { name, rows: rows ?? 0 };
  });
  return sized.sort((left, right) => left.rows - right.rows);
}
