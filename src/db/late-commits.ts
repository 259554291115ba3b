/** Order in which rows become visible, compared to that of their ids. */
import type { Database } from './database.ts';

/**
 * Longest change (9 s), wait of its commit for a standby (6 s), and difference between the clocks of two instances (5 s).
 * PostgreSQL commits concurrently, so that a row can become visible behind rows with later ids.
 */
const POSTGRES_MS = 20_000;

/** Returns how long after the time in its id a row may become visible, in milliseconds. SQLite has one writer. */
export function lateCommitMs({ engine }: Pick<Database, 'engine'>): number {
  return engine === 'postgres' ? POSTGRES_MS : 0;
}
