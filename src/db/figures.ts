/** What an engine counts of its own work: how long commits and flushes take, what failed, and which statements are slow. */
import { type Histogram, histogramOf } from '../core/metrics.ts';

/** In seconds: a commit takes some 50 µs, a flush from 0.2 ms on a fast disk to tens of a slow one. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export interface DatabaseFigures {
  /** Changes that were committed. */
  readonly changes: number;
  /** From the beginning of a transaction, which may wait for another process, to its end: nobody else writes meanwhile. */
  readonly transactions: Histogram;
  /** The end alone. */
  readonly commits: Histogram;
  /** One flush of the log, off the loop. */
  readonly flushes: Histogram;
  readonly flushFailures: number;
  /** Changes that the disk refused, before they were committed or after. */
  readonly refusals: number;
  readonly slowStatements: number;
}

/** The same, as the engine writes them. */
export type CountedFigures = { -readonly [Name in keyof DatabaseFigures]: DatabaseFigures[Name] };

export function databaseFigures(): CountedFigures {
  return {
    changes: 0,
    transactions: histogramOf(BOUNDS),
    commits: histogramOf(BOUNDS),
    flushes: histogramOf(BOUNDS),
    flushFailures: 0,
    refusals: 0,
    slowStatements: 0,
  };
}

/** From when on a statement is slow, and who is told. */
export interface SlowStatements {
  readonly fromMs: number;
  /** @param sql its text; the values that were bound to it are not in it. */
  tell(sql: string, durationMs: number): void;
}

const MOST_TOLD = 20;
const WINDOW_MS = 60_000;
const MOST_CHARACTERS = 500;

/** A disk that has become slow makes every statement slow: some of a minute are told, all are counted. */
export function slowStatementWatch(
  { fromMs, tell }: SlowStatements,
  figures: CountedFigures,
): (sql: string, durationMs: number) => void {
  let windowBegan = -Infinity;
  let told = 0;
  return (sql, durationMs) => {
    if (durationMs < fromMs) return;
    figures.slowStatements += 1;
    const now = performance.now();
    if (now - windowBegan > WINDOW_MS) [windowBegan, told] = [now, 0];
    told += 1;
    if (told <= MOST_TOLD) tell(sql.replace(/\s+/g, ' ').trim().slice(0, MOST_CHARACTERS), durationMs);
  };
}
