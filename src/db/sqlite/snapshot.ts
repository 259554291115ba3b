/**
 * Shares one snapshot among the reads of a few milliseconds: a lock for each read is nearly half a lookup's cost. It
 * ends with each commit here, so that a notified reader sees the change, and after `LONGEST_MS`, so that changes of
 * other processes are seen and the log can be checkpointed.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';

export type Snapshot = ReturnType<typeof sharedSnapshot>;

/** Lets each read see its own moment. @param begins called before each read. */
export function snapshotPerRead(_connection: SqliteDatabase, begins = () => {}): Snapshot {
  return { enter: begins, end() {}, suspend() {}, resume() {} };
}

/** Longest time for which another process's change may go unseen. */
const LONGEST_MS = 5;

/** @param connection on which `end` is called before another transaction. @param begins called before each snapshot. */
export function sharedSnapshot(connection: SqliteDatabase, begins = () => {}) {
  const begin = connection.prepare('BEGIN');
  const commit = connection.prepare('COMMIT');
  const rollback = connection.prepare('ROLLBACK');
  let isOpen = false;
  let isSuspended = false;
  let isEndPlanned = false;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    try {
      commit.run();
    } catch {
      letGo();
    }
  }

  /** Rolls back. An unreadable disk may prevent even that; the next read reports it. */
  function letGo(): void {
    try {
      if (connection.inTransaction) rollback.run();
    } catch {
      // Left open: the next snapshot takes it over and ends it.
    }
  }

  return {
    enter(): void {
      if (isOpen) return;
      begins();
      if (isSuspended) return;
      if (!connection.inTransaction) begin.run();
      isOpen = true;
      if (isEndPlanned) return;
      isEndPlanned = true;
      setTimeout(() => {
        isEndPlanned = false;
        end();
      }, LONGEST_MS);
    },
    end,
    /** Lets each read see its own moment until `resume`, as while the log restarts. */
    suspend(): void {
      isSuspended = true;
      end();
    },
    resume(): void {
      isSuspended = false;
    },
  };
}
