/**
 * Makes commits durable before they are acknowledged: they run at `synchronous=NORMAL`, and one `fdatasync` of the log,
 * off the event loop, serves all made before it began.
 * Safe because SQLite at NORMAL flushes the log before a checkpoint and the database before reusing the log, so a
 * commit is always in one flushed file (https://www.sqlite.org/wal.html#performance_considerations).
 */
import { type FileHandle, open } from 'node:fs/promises';
import { statSync } from 'node:fs';
import type { MutableMetrics } from '../metrics.ts';
import { checkpointAndFlush } from './pragmas.ts';
import { lossRefusal, type OpenFiles } from './open-files.ts';
import { diskError } from './disk-health.ts';

export type Durability = Awaited<ReturnType<typeof walDurability>>;

/** Waits for no flush, for an ephemeral folder. */
export function noDurability(files: OpenFiles): Durability {
  return {
    settled: async () => files.requireInPlace(),
    refuseWhenBroken() {},
    isBroken: () => false,
    logBytes: () => 0,
    close: () => Promise.resolve(),
  };
}

interface Waiter {
  /** Number of the flush that serves it: the first to begin after its commit. */
  readonly flush: number;
  resolve(): void;
  reject(error: unknown): void;
}

const RECOVERY_INTERVAL_MS = 1000;

/**
 * Tracks which commits are on the disk, and refuses changes while none can get there.
 * Call it while a connection is open, which keeps the log in place.
 *
 * @param files checked after each flush: a deleted log can be flushed too, though its changes are lost.
 */
export async function walDurability(path: string, files: OpenFiles, metrics: MutableMetrics) {
  const logPath = `${path}-wal`;
  const log: FileHandle = await open(logPath, 'r+');
  const waiters: Waiter[] = [];
  let begun = 0;
  let isFlushing = false;
  let isBroken = false;
  let isClosed = false;

  async function flushAll(): Promise<void> {
    isFlushing = true;
    while (waiters.length > 0 && !isBroken) {
      begun += 1;
      const served = begun;
      const since = performance.now();
      try {
        await log.datasync();
        metrics.flushes.observe((performance.now() - since) / 1000);
      } catch (error) {
        breakDown(error);
        break;
      }
      // Waiters stand in the order of their commits.
      const later = waiters.findIndex(({ flush }) => flush > served);
      const loss = files.check();
      for (const waiter of waiters.splice(0, later < 0 ? waiters.length : later))
        if (loss === null) waiter.resolve();
        else waiter.reject(lossRefusal(loss));
    }
    isFlushing = false;
  }

  function breakDown(error: unknown): void {
    isBroken = true;
    metrics.flushFailures += 1;
    for (const waiter of waiters.splice(0)) waiter.reject(diskError(error));
    void recover();
  }

  async function recover(): Promise<void> {
    while (!isClosed) {
      await Bun.sleep(RECOVERY_INTERVAL_MS);
      try {
        files.requireInPlace();
        // Flushing the log again would prove nothing: after a failed flush the kernel may mark unwritten pages clean.
        await checkpointAndFlush(path);
        await log.datasync();
        isBroken = false;
        return;
      } catch {
        // Retried: the disk is still full, or still gone.
      }
    }
  }

  return {
    /** Resolves when all earlier commits are on the disk. @throws {AppError} unavailable */
    settled(): Promise<void> {
      if (isBroken) return Promise.reject(diskError());
      return new Promise<void>((resolve, reject) => {
        waiters.push({ flush: begun + 1, resolve, reject });
        if (!isFlushing) void flushAll();
      });
    },
    /** @throws {AppError} unavailable after a failed flush, until the data is known to be safe again. */
    refuseWhenBroken(): void {
      if (isBroken) throw diskError();
    },
    isBroken: () => isBroken,
    logBytes: () => statSync(logPath, { throwIfNoEntry: false })?.size ?? 0,
    async close(): Promise<void> {
      isClosed = true;
      await log.close();
    },
  };
}
