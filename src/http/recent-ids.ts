/**
 * Ids that a stream has read lately. Where rows become visible later than rows with higher ids, they show which of the
 * noticed rows the stream has passed without seeing them.
 */
import { firstIdAt, type RecordKind } from '../core/id.ts';

/** Enough for 200 rows a second; a stream of more runs behind until its rows can no longer come late. */
const MAX_IDS = 3000;

/** Ids that a new stream reads; fewer than it can keep. */
export const RECENT_READ = 2000;

export interface LateRows {
  readonly kind: RecordKind;
  /** Time of ids up to which every row has been noticed, in epoch milliseconds. */
  settledUntil(): number;
}

export type RecentIds = ReturnType<typeof recentIds>;

export function recentIds({ kind, settledUntil }: LateRows) {
  const read = new Set<string>();
  const noticed = new Set<string>();

  function forgetSettled(): void {
    const from = firstIdAt(kind, settledUntil());
    for (const id of read) if (id < from) read.delete(id);
  }

  return {
    /** Adds rows that are read now. */
    add(ids: readonly string[]): void {
      for (const id of ids) {
        noticed.delete(id);
        read.add(id);
      }
      if (read.size >= MAX_IDS) forgetSettled();
    },
    notice(id: string): void {
      if (!read.has(id)) noticed.add(id);
    },
    /** Takes the noticed rows that a reader at this id has passed. Reading on finds the others. */
    takePassed(lastId: string): string[] {
      const passed = [...noticed].filter((id) => id <= lastId && !read.has(id));
      noticed.clear();
      return passed;
    },
    /** Returns whether the reader has to wait, since no more ids can be kept. */
    isFull(): boolean {
      if (read.size >= MAX_IDS) forgetSettled();
      return read.size >= MAX_IDS;
    },
  };
}
