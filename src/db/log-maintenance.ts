/** Keeps the write-ahead log short while the database is open, and moves it into the database file at the end. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import type { Background } from './background.ts';
import { type Deadline, waitUntil } from '../core/deadline.ts';
import type { OpenFiles } from './open-files.ts';
import type { Snapshot } from './snapshot.ts';

export interface LogMaintenance {
  /** Makes a checkpoint where changes were made since the last one, and restarts a long log. */
  maintain(changes: number): Promise<void>;
  /** Moves a deleted log into the database file, since no name leads to it any more. Never throws. @returns whether all of it is there. */
  rescue(): Promise<boolean>;
  /** Checkpoints everything and closes the thread. Never throws: what is left, the next start reads from the log. */
  finish(deadline: Deadline): Promise<void>;
}

export interface LogMaintenanceOptions {
  readonly writer: SqliteDatabase;
  /** For checkpoints off the loop; null where SQLite makes them as it commits. */
  readonly thread: Background | null;
  readonly snapshots: readonly Snapshot[];
  readonly files: OpenFiles;
  /** Runs something while no change is under way. */
  readonly alone: (run: () => Promise<unknown>) => Promise<void>;
  readonly logBytes: () => number;
  /** Whether another process checkpoints the log, and copies it before. */
  readonly isFoldedByOthers: () => boolean;
  /** Called where the end leaves the log beside the database; with null where the time was over. */
  readonly onLogLeft: (error: unknown) => void;
}

/** Pages of log from which on changes wait a moment, so that the log can begin anew: 64 MiB. */
const LONG_LOG_PAGES = 16_384;

/** Until it is tried again where somebody reads for long, such as a backup: changes wait for each try. */
const RESTART_AGAIN_MS = 5000;

/** A file of the log that a burst has made as large is cut, once the log in it is short again. */
const LARGE_LOG_BYTES = 128 * 2 ** 20;

/**
 * How much of it is cut at a time: a millisecond or two of a commit, where all at once holds the loop for 50. Nobody else can do it:
 * after a TRUNCATE on another connection SQLite takes the file for a changed one, and drops the writer's mapping of it.
 */
const CUT_BYTES = 8 * 2 ** 20;

const NO_LIMIT = -1;

/** From here on the log is folded here, whoever else should: they have not for long, or do not run. */
const ABANDONED_LOG_BYTES = 512 * 2 ** 20;

/** A reader may hold up a checkpoint for a moment. */
const RESCUE_TRIES = 20;
const RESCUE_AGAIN_MS = 50;

export function logMaintenance(options: LogMaintenanceOptions): LogMaintenance {
  const { writer, thread, snapshots, files, alone, logBytes, isFoldedByOthers, onLogLeft } = options;
  let changesFolded = 0;
  let restartFrom = 0;
  let logLimit = NO_LIMIT;

  /** The next change that begins the log anew shortens its file to the limit. */
  function cutLog(isLong: boolean): void {
    const bytes = logBytes();
    const limit = isLong || bytes <= LARGE_LOG_BYTES || isFoldedByOthers() ? NO_LIMIT : bytes - CUT_BYTES;
    if (limit === logLimit) return;
    writer.run(`PRAGMA journal_size_limit = ${limit}`);
    logLimit = limit;
  }

  /** Waits for the turn among the changes, without snapshots that hold up a checkpoint. */
  async function undisturbed(run: () => Promise<unknown>): Promise<void> {
    for (const each of snapshots) each.suspend();
    try {
      await alone(run);
    } finally {
      for (const each of snapshots) each.resume();
    }
  }

  return {
    async maintain(changes) {
      if (!thread || files.known() !== null || changes === changesFolded) return;
      if (isFoldedByOthers() && logBytes() < ABANDONED_LOG_BYTES) return;
      changesFolded = changes;
      const { log } = await thread.checkpoint('PASSIVE');
      const isLong = log > LONG_LOG_PAGES;
      cutLog(isLong);
      if (!isLong || performance.now() < restartFrom) return;
      await undisturbed(async () => {
        const { busy } = await thread.checkpoint('RESTART');
        if (busy !== 0) restartFrom = performance.now() + RESTART_AGAIN_MS;
      });
    },
    async rescue() {
      let isWhole = false;
      for (let left = RESCUE_TRIES; left > 0 && !isWhole && files.isLogOurs(); left -= 1) {
        await undisturbed(async () => {
          if (!files.isLogOurs()) return;
          // By the writer, which has the deleted log open: the thread might open the name anew.
          const { log, checkpointed } = writer.query('PRAGMA wal_checkpoint(PASSIVE)').get() as Record<string, number>;
          isWhole = log === checkpointed;
        }).catch(() => {
          // The disk refuses: tried again.
        });
        if (!isWhole) await Bun.sleep(RESCUE_AGAIN_MS);
      }
      return isWhole;
    },
    async finish(deadline) {
      for (const each of snapshots) each.suspend();
      try {
        if (isFoldedByOthers()) return await thread?.close();
        // Off the loop and before the time is over; what is left for the writer is little.
        const isInTime = !thread || (await waitUntil(deadline, thread.checkpoint('PASSIVE')));
        if (!isInTime) return onLogLeft(null);
        await thread?.close();
        writer.run('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch (error) {
        await thread?.close();
        onLogLeft(error);
      }
    },
  };
}
