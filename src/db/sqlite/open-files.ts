/**
 * Checks that the open database files were not deleted or replaced. SQLite keeps writing to a deleted file, and a
 * restart would lose those writes: no change is acknowledged once a path leads to another file.
 */
import { statSync } from 'node:fs';
import { AppError } from '../../core/error.ts';
import type { FileLoss } from '../database.ts';

export type OpenFiles = ReturnType<typeof openFiles>;

/**
 * Interval of the periodic checks, three `stat` calls of 2 µs. Shorter than a command takes to start: a command that opens the
 * database creates a new log, and the deleted one cannot be saved any more.
 */
const CHECK_EVERY_MS = 25;

/**
 * @param path of a database whose log and shared memory exist.
 * @param isFolderHeld called at each periodic check; without it only acknowledgements check.
 */
export function openFiles(path: string, isFolderHeld: (() => boolean) | null) {
  const watched = [
    { path, loss: 'database_gone' as const },
    { path: `${path}-wal`, loss: 'database_log_gone' as const },
    { path: `${path}-shm`, loss: 'database_log_gone' as const },
  ].map((file) => ({ ...file, inode: inodeOf(file.path) }));
  const { promise: lost, resolve } = Promise.withResolvers<FileLoss>();
  const isMoved = ({ inode }: { inode: number | null | undefined }, found: number | null | undefined) =>
    found !== undefined && found !== inode;
  let known: FileLoss | null = null;

  function lose(loss: FileLoss): void {
    known ??= loss;
    resolve(known);
  }

  function check(): FileLoss | null {
    if (known === null) {
      const moved = watched.find((file) => isMoved(file, inodeOf(file.path)));
      if (moved) lose(moved.loss);
    }
    return known;
  }

  const timer = isFolderHeld && setInterval(() => check() ?? (isFolderHeld() || lose('folder_taken')), CHECK_EVERY_MS);
  // An open database alone must not keep a process alive.
  timer?.unref();

  return {
    lost,
    check,
    /** Returns a loss that is known already. */
    loss: (): FileLoss | null => known,
    /** Checks the names now. @throws {AppError} unavailable after a loss. */
    requireInPlace(): void {
      const loss = check();
      if (loss !== null) throw lossRefusal(loss);
    },
    close: () => void (timer && clearInterval(timer)),
    /** Whether no other process has created a new log: only then the shared index still describes the deleted one. */
    isWalOurs: () =>
      watched.slice(1).every(({ path: name, inode }) => {
        const found = inodeOf(name);
        return found === null || found === inode;
      }),
  };
}

export function lossRefusal(loss: FileLoss): AppError {
  return new AppError('unavailable', { hint: loss, retryAfterSeconds: 5 });
}

/** @returns null where the file is missing, undefined where the disk fails to say. */
function inodeOf(path: string): number | null | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
  } catch {
    return undefined;
  }
}
