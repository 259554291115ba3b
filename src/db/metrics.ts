/** Defines an engine's metrics: durations of commits and flushes, failures, slow statements. */
import { histogramOf } from '../core/metrics.ts';

/** In seconds: a commit takes some 50 µs, a flush 0.2 ms on a fast disk and tens of ms on a slow one. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Lookups of one statement. */
const BATCH_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200];

/** Metrics that the engine writes. */
export type MutableMetrics = ReturnType<typeof databaseMetrics>;

export type DatabaseMetrics = Readonly<MutableMetrics>;

export function databaseMetrics() {
  return {
    changes: 0,
    /** Duration of whole transactions, including the wait for another process. No other change can write during one. */
    transactions: histogramOf(BOUNDS),
    commits: histogramOf(BOUNDS),
    flushes: histogramOf(BOUNDS),
    flushFailures: 0,
    /** Changes refused by the disk, before or after their commit. */
    refusals: 0,
    /** Runs of changes that concurrent ones made fail, in PostgreSQL; each ran again. */
    conflicts: 0,
    /** Statements sent to a server, by kind; empty without one. */
    statements: new Map<string, number>(),
    /** Lookups by key that travelled as one statement to a server. */
    lookupBatches: histogramOf(BATCH_BOUNDS),
    /** Waits of changes for a connection to a server. */
    connectionWaits: histogramOf(BOUNDS),
    slowStatements: 0,
  };
}

export interface SlowStatements {
  readonly thresholdMs: number;
  /** @param sql without its bound values. */
  report(sql: string, durationMs: number): void;
}

const MAX_REPORTED = 20;
const WINDOW_MS = 60_000;
const MAX_CHARACTERS = 500;

/** Counts all slow statements but reports only some per minute, since a slow disk makes every statement slow. */
export function slowStatementMonitor(
  { thresholdMs, report }: SlowStatements,
  metrics: MutableMetrics,
): (sql: string, durationMs: number) => void {
  let windowStart = -Infinity;
  let reported = 0;
  return (sql, durationMs) => {
    if (durationMs < thresholdMs) return;
    metrics.slowStatements += 1;
    const now = performance.now();
    if (now - windowStart > WINDOW_MS) [windowStart, reported] = [now, 0];
    reported += 1;
    if (reported <= MAX_REPORTED) report(sql.replace(/\s+/g, ' ').trim().slice(0, MAX_CHARACTERS), durationMs);
  };
}
