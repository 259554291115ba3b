/** Defines an engine's metrics: durations of commits and flushes, failures, slow statements. */
import { type Histogram, histogramOf } from '../core/metrics.ts';

/** In seconds: a commit takes some 50 µs, a flush 0.2 ms on a fast disk and tens of ms on a slow one. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export interface DatabaseFigures {
  readonly changes: number;
  /** Whole transactions, from waiting for another process to the end; no other change can write meanwhile. */
  readonly transactions: Histogram;
  /** Commits alone. */
  readonly commits: Histogram;
  /** Flushes of the log, off the event loop. */
  readonly flushes: Histogram;
  readonly flushFailures: number;
  /** Changes refused by the disk, before or after their commit. */
  readonly refusals: number;
  readonly slowStatements: number;
}

/** Writable metrics, for the engine. */
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

/** Threshold of a slow statement, and its listener. */
export interface SlowStatements {
  readonly fromMs: number;
  /** @param sql without its bound values. */
  tell(sql: string, durationMs: number): void;
}

const MOST_TOLD = 20;
const WINDOW_MS = 60_000;
const MOST_CHARACTERS = 500;

/** Counts all slow statements but reports only some per minute, since a slow disk makes every statement slow. */
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
