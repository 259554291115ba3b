/** Keeps the write-ahead log short while the database is open, and moves it into the database file at the end. */
import { type Deadline, waitUntil } from '../../core/deadline.ts';
import type { EngineParts } from './parts.ts';
import { isCopiedByLitestream } from './pragmas.ts';
import type { Snapshot } from './snapshot.ts';
import type { WriteQueue } from './write-queue.ts';

export interface WalMaintenanceOptions {
  readonly snapshots: readonly Snapshot[];
  readonly queue: WriteQueue;
  readonly onWalLeft: (error: unknown) => void;
}

/** Pages (64 MiB) from which the log is restarted, for which changes wait a moment. */
const LONG_LOG_PAGES = 16_384;

/** Time between tries where a long read, such as a backup, prevents a restart: changes wait for each try. */
const RESTART_AGAIN_MS = 5000;

/** A larger log file is truncated once the log in it is short again. */
const LARGE_LOG_BYTES = 128 * 2 ** 20;

/**
 * Bytes truncated at a time, in 1 to 2 ms of a commit: all at once stalls the event loop for 50 ms. Only the writer may
 * do it: SQLite drops the mapping after a TRUNCATE on another connection.
 */
const TRUNCATE_BYTES = 8 * 2 ** 20;

const NO_LIMIT = -1;

/** A log of this size is checkpointed even where another process should do it: it has stopped or hangs. */
const ABANDONED_LOG_BYTES = 512 * 2 ** 20;

/** A reader may hold up a checkpoint for a moment. */
const RESCUE_TRIES = 20;
const RESCUE_AGAIN_MS = 50;

export function walMaintenance(parts: EngineParts, { snapshots, queue, onWalLeft }: WalMaintenanceOptions) {
  const { path, writer, worker, files } = parts;
  const { logBytes } = parts.durability;
  let changesAtCheckpoint = 0;
  let restartFrom = 0;
  let logLimit = NO_LIMIT;

  /** Sets the size to which SQLite truncates the file at the next restart of the log. */
  function setTruncation(isLong: boolean): void {
    const bytes = logBytes();
    const limit = isLong || bytes <= LARGE_LOG_BYTES || isCopiedByLitestream(path) ? NO_LIMIT : bytes - TRUNCATE_BYTES;
    if (limit === logLimit) return;
    writer.run(`PRAGMA journal_size_limit = ${limit}`);
    logLimit = limit;
  }

  /** Runs something between two changes, while no snapshot holds up a checkpoint. */
  async function undisturbed(run: () => Promise<unknown>): Promise<void> {
    for (const each of snapshots) each.suspend();
    try {
      await queue.alone(run);
    } finally {
      for (const each of snapshots) each.resume();
    }
  }

  return {
    /** Makes a checkpoint where changes were made since the last one, and restarts a long log. */
    async maintain(changes: number): Promise<void> {
      if (!worker || files.loss() !== null || changes === changesAtCheckpoint) return;
      if (isCopiedByLitestream(path) && logBytes() < ABANDONED_LOG_BYTES) return;
      changesAtCheckpoint = changes;
      const { log } = await worker.checkpoint('PASSIVE');
      const isLong = log > LONG_LOG_PAGES;
      setTruncation(isLong);
      if (!isLong || performance.now() < restartFrom) return;
      await undisturbed(async () => {
        const { busy } = await worker.checkpoint('RESTART');
        if (busy !== 0) restartFrom = performance.now() + RESTART_AGAIN_MS;
      });
    },
    /** Checkpoints a deleted log while it is still open. Never throws. @returns whether the database file has all of it. */
    async rescue(): Promise<boolean> {
      let isWhole = false;
      for (let left = RESCUE_TRIES; left > 0 && !isWhole && files.isWalOurs(); left -= 1) {
        await undisturbed(async () => {
          if (!files.isWalOurs()) return;
          // On the writer, which has the deleted log open: the worker might create a new one by its name.
          const { log, checkpointed } = writer.query('PRAGMA wal_checkpoint(PASSIVE)').get() as Record<string, number>;
          isWhole = log === checkpointed;
        }).catch(() => {
          // The disk refuses: tried again.
        });
        if (!isWhole) await Bun.sleep(RESCUE_AGAIN_MS);
      }
      return isWhole;
    },
    /** Checkpoints everything and closes the worker. Never throws: the next start recovers the rest from the log. */
    async finish(deadline: Deadline): Promise<void> {
      for (const each of snapshots) each.suspend();
      try {
        if (isCopiedByLitestream(path)) return await worker?.close();
        // In the worker, so that the deadline holds; the writer has little left to do.
        const isInTime = !worker || (await waitUntil(deadline, worker.checkpoint('PASSIVE')));
        if (!isInTime) return onWalLeft(null);
        await worker?.close();
        writer.run('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch (error) {
        await worker?.close();
        onWalLeft(error);
      }
    },
  };
}
