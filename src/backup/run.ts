/** Runs a backup in a thread of its own, one at a time for each data folder: nobody else waits for it. */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { StartupError } from '../core/startup-error.ts';
import { lockBackups } from '../db/backup-lock.ts';
import { type BackupOrder, type BackupProgress, copyPathOf, type MadeBackup, removeWorkFiles } from './make.ts';
import type { ThreadNews } from './backup-thread.ts';

/** Another one of this folder is under way. */
export class BackupUnderWay extends StartupError {}

export interface BackupRun {
  /** @throws {StartupError} with what is to be done; BackupUnderWay */
  readonly done: Promise<MadeBackup>;
  /** As far as it has come. */
  progress(): BackupProgress;
  /** Gives it up, and takes away what it has written; it fails then. */
  cancel(): void;
}

/** @throws {BackupUnderWay} */
export function startBackup(order: BackupOrder): BackupRun {
  const lock = lockBackups(order.dataFolder);
  if (lock === null)
    throw new BackupUnderWay('Another backup of this data folder is under way; wait until it has ended.');
  const copyPath = copyPathOf(order);
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
    else result.reject(news.isTold ? new StartupError(news.message) : new Error(news.message));
  };
  thread.onerror = (event) => {
    end();
    result.reject(new Error(`the thread of the backup failed: ${event.message}`));
  };
  // Whoever asked may not wait yet when it has failed already.
  result.promise.catch(() => {});
  thread.postMessage(order);

  return {
    done: result.promise,
    progress() {
      if (last.step !== 'copy') return last;
      return { step: 'copy', bytes: statSync(copyPath, { throwIfNoEntry: false })?.size ?? 0 };
    },
    cancel() {
      thread.terminate();
      removeWorkFiles(order);
      end();
      result.reject(new StartupError('The backup was given up because the server stops.'));
    },
  };
}

const FLUSH_EVERY_MS = 200;

/**
 * A gigabyte that is flushed at once holds up everybody who writes to that disk, a server's changes before all; many small
 * flushes do not. Off the loop, and nothing rests on them: the backup is flushed again where it is finished.
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
