/**
 * A database that is looked at and never changed, whoever else has it open: not a byte of it and of its log, no file beside it
 * that stays, and no lock that a writer waits for.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { openAsItIs } from './as-it-is.ts';
import { createConnection } from './connection.ts';
import { CONNECTION, type Reader } from './database.ts';

export interface Onlooker {
  readonly reader: Reader;
  readonly bytes: number;
  /** Of its log. */
  readonly logBytes: number;
  /** Looks through tables and their indexes, small ones first. */
  check(options: CheckOptions): Generator<CheckStep, CheckResult>;
  close(): void;
}

export interface CheckOptions {
  /** A table that would take longer than is left of it is left out. */
  readonly withinMs: number;
  /** Compares every index with its table as well. */
  readonly isThorough: boolean;
}

/** Before each table. */
export interface CheckStep {
  readonly table: string;
  readonly done: number;
  readonly all: number;
}

export interface CheckResult {
  /** What is wrong, in SQLite's words; some of it. */
  readonly problems: readonly string[];
  readonly checked: number;
  /** For want of time. */
  readonly leftOut: readonly string[];
}

const MOST_PROBLEMS = 5;
/** Until a table of some size has shown how fast rows are looked through: five times what it takes on a fast disk. */
const FIRST_MS_PER_ROW = 0.005;
const TELLING_ROWS = 10_000;

/** @param path of a database of Gatehouse's. */
export function openOnlooker(path: string): Onlooker {
  const { sqlite, close } = openAsItIs(path);
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

/** By how many rows there are at the most, which an index knows without a walk. */
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
