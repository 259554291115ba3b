/**
 * One snapshot for the reads of a turn of the loop: a read of its own takes the lock and lets it go each time, which is
 * nearly half of what a look-up costs. It ends with the turn, and with each commit of this process, so that whoever was
 * told of a change reads it.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';

export interface Snapshot {
  /** Called before each read. */
  enter(): void;
  end(): void;
  /** Rows read in this snapshot, by the hash asked for: asked again they would be the same. Null where there is none. */
  readonly shared: Map<string, unknown[]> | null;
}

/** For readers that see each row as it is at the very moment. */
export const NO_SNAPSHOT: Snapshot = { enter() {}, end() {}, shared: null };

export function turnSnapshot(reader: SqliteDatabase): Snapshot {
  const begin = reader.prepare('BEGIN');
  const commit = reader.prepare('COMMIT');
  const shared = new Map<string, unknown[]>();
  let isOpen = false;
  let isEndPlanned = false;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    shared.clear();
    commit.run();
  }

  return {
    enter() {
      if (isOpen) return;
      begin.run();
      isOpen = true;
      if (isEndPlanned) return;
      isEndPlanned = true;
      setImmediate(() => {
        isEndPlanned = false;
        end();
      });
    },
    end,
    shared,
  };
}
