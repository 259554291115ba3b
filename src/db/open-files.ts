/**
 * The files that a server has open, and whether their names still lead to them. SQLite goes on writing to a deleted file, and
 * a restart finds nothing of it: so no change is acknowledged from then on.
 */
import { statSync } from 'node:fs';
import { AppError } from '../core/error.ts';

/** How a server lost its files: once lost, they stay so until it starts again. */
export type Loss = 'database_gone' | 'database_log_gone' | 'folder_taken';

export interface OpenFiles {
  /** Looks at the names. @returns null where all is in place. */
  look(): Loss | null;
  /** What the last look found. */
  known(): Loss | null;
  /** @throws {AppError} unavailable where a look finds a loss. */
  require(): void;
  /** Resolves at the first loss. */
  readonly lost: Promise<Loss>;
  /** Ends the looks that are made without being asked for. */
  close(): void;
  /** Whether no other process has put another log in place: only then is the index in memory that of the deleted log. */
  isLogOurs(): boolean;
}

/** A loss is found so soon where no change is made meanwhile. */
const LOOK_EVERY_MS = 200;

/**
 * @param path of a database whose log and shared memory exist.
 * @param isFolderHeld asked now and then; without it, the files are looked at only when something is acknowledged.
 */
export function openFiles(path: string, isFolderHeld: (() => boolean) | null): OpenFiles {
  const watched = [
    { path, loss: 'database_gone' as const },
    { path: `${path}-wal`, loss: 'database_log_gone' as const },
    { path: `${path}-shm`, loss: 'database_log_gone' as const },
  ].map((file) => ({ ...file, inode: inodeOf(file.path) }));
  const { promise: lost, resolve } = Promise.withResolvers<Loss>();
  const isMoved = ({ inode }: { inode: number | null | undefined }, found: number | null | undefined) =>
    found !== undefined && found !== inode;
  let known: Loss | null = null;

  function lose(loss: Loss): void {
    known ??= loss;
    resolve(known);
  }

  function look(): Loss | null {
    if (known === null) {
      const moved = watched.find((file) => isMoved(file, inodeOf(file.path)));
      if (moved) lose(moved.loss);
    }
    return known;
  }

  const timer = isFolderHeld && setInterval(() => look() ?? (isFolderHeld() || lose('folder_taken')), LOOK_EVERY_MS);
  // An open database alone keeps no process.
  timer?.unref();

  return {
    lost,
    look,
    known: () => known,
    require() {
      const loss = look();
      if (loss !== null) throw lossRefusal(loss);
    },
    close: () => void (timer && clearInterval(timer)),
    isLogOurs: () =>
      watched.slice(1).every(({ path: name, inode }) => {
        const found = inodeOf(name);
        return found === null || found === inode;
      }),
  };
}

export function lossRefusal(loss: Loss): AppError {
  return new AppError('unavailable', { hint: loss, retryAfterSeconds: 5 });
}

/** @returns null where the name leads nowhere, undefined where the disk does not tell. */
function inodeOf(path: string): number | null | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
  } catch {
    return undefined;
  }
}
