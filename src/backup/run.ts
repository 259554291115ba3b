/** Runs a backup in its own thread, so that no request waits for it. Each data folder has at most one at a time. */
import { realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { systemRandom } from '../core/random.ts';
import { StartupError } from '../core/startup-error.ts';
import { lockBackups } from '../db/sqlite/locks.ts';
import { unfinishedPath } from '../db/sqlite/unfinished-backup.ts';
import {
  type BackupOrder,
  type BackupProgress,
  type BackupWork,
  copyPathOf,
  type MadeBackup,
  PIPED_NAME,
  removeWorkFiles,
} from './make.ts';
import type { ThreadNews } from './backup-thread.ts';

/** Thrown while another backup of this folder is running. */
export class BackupRunningError extends StartupError {}

export interface BackupRun {
  /** @throws {StartupError} with the remedy. */
  readonly done: Promise<MadeBackup>;
  progress(): BackupProgress;
  /** Cancels the backup and deletes what it has written; `done` rejects then. */
  cancel(): void;
}

/** Files that a server and its commands keep in a data folder, in any letter case: some file systems ignore case. */
const OWN_FILES = /^(?:gatehouse\.(?:db|lock|server|holder)|instance\.key|backup\.(?:lock|unfinished)|restore\.)/i;

/**
 * Refuses the instance's own files: after a backup was renamed over the database or its key, a running server would
 * keep writing to the deleted file. @throws {StartupError}
 */
function refuseOwnFiles({ dataFolder, target }: Pick<BackupOrder, 'dataFolder' | 'target'>): void {
  if (target.kind !== 'disk' || basename(target.path) === PIPED_NAME || !OWN_FILES.test(basename(target.path))) return;
  const [there, here] = [dirname(target.path), dataFolder].map((path) => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  });
  if (there === here)
    throw new StartupError(`${target.path} is a file of the instance itself; choose another path for the backup.`);
}

/** @throws {StartupError} if the target is one of the instance's files; BackupRunningError if another backup runs. */
export function startBackup(order: BackupOrder): BackupRun {
  refuseOwnFiles(order);
  const lock = lockBackups(order.dataFolder);
  if (lock === null)
    throw new BackupRunningError('Another backup of this data folder is running; wait until it has ended.');
  const { dataFolder, target } = order;
  const unfinished = target.kind === 'disk' ? unfinishedPath(target.path, systemRandom.bytes(4)) : null;
  const work: BackupWork = { ...order, unfinished };
  const copyPath = copyPathOf(work);
  const result = Promise.withResolvers<MadeBackup>();
  let last: BackupProgress = { step: 'copy', bytes: 0 };
  const thread = new Worker(new URL('./backup-thread.ts', import.meta.url).href);

  const flushing = flushAsItGrows(copyPath, () => last.step === 'copy');

  function end(): void {
    clearInterval(flushing);
    thread.terminate();
    lock?.release();
  }

  thread.onmessage = ({ data: news }: MessageEvent<ThreadNews>) => {
    if (news.kind === 'progress') {
      last = news.progress;
      return;
    }
    end();
    if (news.kind === 'made') result.resolve(news.made);
    else result.reject(news.isForOperators ? new StartupError(news.message) : new Error(news.message));
  };
  thread.onerror = (event) => {
    end();
    result.reject(new Error(`the backup thread failed: ${event.message}`));
  };
  // Avoids an unhandled rejection if the backup fails before the caller awaits it.
  result.promise.catch(() => {});
  thread.postMessage(work);

  return {
    done: result.promise,
    progress() {
      if (last.step !== 'copy') return last;
      return { step: 'copy', bytes: statSync(copyPath, { throwIfNoEntry: false })?.size ?? 0 };
    },
    cancel() {
      thread.terminate();
      removeWorkFiles(dataFolder);
      end();
      result.reject(new StartupError('The backup was cancelled because the server is stopping.'));
    },
  };
}

const FLUSH_EVERY_MS = 200;

/**
 * Flushes the growing copy often: one flush of a gigabyte delays every writer to that disk, above all the server's
 * changes. Runs off the event loop, and nothing depends on it: the finished backup is flushed again.
 */
function flushAsItGrows(path: string, isGrowing: () => boolean): Timer {
  let isFlushing = false;
  return setInterval(async () => {
    if (isFlushing || !isGrowing()) return;
    isFlushing = true;
    const file = await open(path, 'r').catch(() => null);
    await file?.datasync().catch(() => {});
    await file?.close().catch(() => {});
    isFlushing = false;
  }, FLUSH_EVERY_MS);
}
