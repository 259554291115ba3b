/** Checks a database for damage: the whole file while the server runs, or table by table for a command. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { databaseWorker } from './worker-client.ts';

/** Takes some 5 s of one processor per GB. `gatehouse doctor` and backups check larger databases. */
const LARGEST_BYTES = 2 * 2 ** 30;
const MOST_PROBLEMS = 5;
/** Estimate until a larger table has been timed: five times what a fast disk takes. */
const FIRST_MS_PER_ROW = 0.005;
const TELLING_ROWS = 10_000;

/**
 * Checks all pages in a low-priority thread of its own: the checkpoint thread would hold up changes.
 *
 * @returns problems in SQLite's words; none where the database is sound or too large.
 */
export async function checkIntegrity(path: string): Promise<readonly string[]> {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_BYTES) return [];
  const thread = databaseWorker(path);
  try {
    await thread.start();
    return problemsIn(await thread.read(`PRAGMA quick_check(${MOST_PROBLEMS})`, []));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code?.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return [message];
    throw error;
  } finally {
    await thread.close();
  }
}

function problemsIn(rows: readonly unknown[]): string[] {
  return rows.flatMap((row) => Object.values(row as Record<string, string>)).filter((text) => text !== 'ok');
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

/** Checks tables and their indexes, small ones first. */
export function* checkTables(
  sqlite: SqliteDatabase,
  { withinMs, isThorough }: CheckOptions,
): Generator<CheckStep, CheckResult> {
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
    problems.push(...problemsIn(found));
    if (problems.length >= MOST_PROBLEMS) break;
    if (rows >= TELLING_ROWS) msPerRow = (performance.now() - begun) / rows;
  }
  return { problems: problems.slice(0, MOST_PROBLEMS), checked: tables.length - leftOut.length, leftOut };
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
