/** Writes large batches during a stop, when no request waits: several share one flush of the disk. */
import type { Deadline } from './deadline.ts';

/** The items that a stop did not write. */
export interface Unwritten {
  readonly count: number;
  /** Null if the deadline passed. */
  readonly cause: unknown;
}

export const ALL_WRITTEN: Unwritten = { count: 0, cause: null };

/** Items per change: some 10 ms of the event loop. */
const BATCH = 2000;

/** Number of concurrent changes: the next is committed while the disk flushes the previous one. */
const AT_ONCE = 4;

/** Writes items in order, until the deadline or the first failure. @returns how many are left then. */
export async function writeBatches<Item>(
  items: readonly Item[],
  deadline: Deadline,
  write: (batch: readonly Item[]) => Promise<unknown>,
): Promise<Unwritten> {
  let written = 0;
  let cause: unknown = null;
  let next = 0;
  async function writer(): Promise<void> {
    while (next < items.length && cause === null && deadline.remainingMs() > 0) {
      const batch = items.slice(next, next + BATCH);
      next += batch.length;
      try {
        await write(batch);
        written += batch.length;
      } catch (error) {
        cause ??= error;
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, writer));
  return { count: items.length - written, cause };
}

/** Adds up the unwritten items of several parts of one stop. */
export function together(parts: readonly Unwritten[]): Unwritten {
  return {
    count: parts.reduce((sum, { count }) => sum + count, 0),
    cause: parts.find((part) => part.cause !== null)?.cause ?? null,
  };
}
