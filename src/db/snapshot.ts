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
  /** Rows read in this snapshot, by the hash asked for: asked again they would be the same. Null where there is none. */
  readonly shared: Map<string, unknown[]> | null;
}

/** For readers that see each row as it is at the very moment. */
export const NO_SNAPSHOT: Snapshot = { enter() {}, end() {}, suspend() {}, resume() {}, shared: null };

/** How long another process's change may go unseen. */
const LONGEST_MS = 5;

export function shortSnapshot(reader: SqliteDatabase): Snapshot {
  const begin = reader.prepare('BEGIN');
  const commit = reader.prepare('COMMIT');
  const shared = new Map<string, unknown[]>();
  let isOpen = false;
  let isSuspended = false;
  let isEndPlanned = false;

  function end(): void {
    shared.clear();
    if (!isOpen) return;
    isOpen = false;
    commit.run();
  }

  return {
    enter() {
      if (isOpen) return;
      if (isSuspended) return shared.clear();
      begin.run();
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
    shared,
  };
}
