/**
 * One snapshot for the reads of a few milliseconds: a read of its own takes the lock and lets it go each time, which is
 * nearly half of what a look-up costs. It ends with each commit of this process, so that whoever was told of a change reads
 * it, and after a moment by itself, so that changes of another process are seen and the log can be folded.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';

export interface Snapshot {
  /** Called before each read. */
  enter(): void;
  end(): void;
  /** From here on each read is of its very moment, as while the log begins anew; until `resume`. */
  suspend(): void;
  resume(): void;
}

/** For a connection that sees each row as it is at the very moment. @param begins called before each read. */
export function noSnapshot(_connection: SqliteDatabase, begins = () => {}): Snapshot {
  return { enter: begins, end() {}, suspend() {}, resume() {} };
}

/** How long another process's change may go unseen. */
const LONGEST_MS = 5;

/**
 * @param connection whoever else begins a transaction on it ends this one before.
 * @param begins called before each snapshot.
 */
export function shortSnapshot(connection: SqliteDatabase, begins = () => {}): Snapshot {
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

  /** A disk that cannot be read lets a transaction not even end; whoever reads is told by the read. */
  function letGo(): void {
    try {
      if (connection.inTransaction) rollback.run();
    } catch {
      // It is left open, and ended in its turn.
    }
  }

  return {
    enter() {
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
    suspend() {
      isSuspended = true;
      end();
    },
    resume() {
      isSuspended = false;
    },
  };
}
