/** Transaction of the writer connection, with a savepoint for each change in it. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { AppError } from '../../core/error.ts';
import { engineErrorKind } from '../errors.ts';

export type WriteTransaction = ReturnType<typeof writeTransaction>;

/** Longest wait for another process that holds the write lock; answers stay well under the server's idle time-out. */
const LOCK_PATIENCE_MS = 8000;
const LOCK_RETRY_MS = 10;

/** @param beforeBegin ends any other transaction of the connection. */
export function writeTransaction(writer: SqliteDatabase, beforeBegin: () => void) {
  const begin = writer.prepare('BEGIN IMMEDIATE');
  const commit = writer.prepare('COMMIT');
  const rollbackAll = writer.prepare('ROLLBACK');
  const savepoint = writer.prepare('SAVEPOINT change');
  const release = writer.prepare('RELEASE change');
  const rollbackTo = writer.prepare('ROLLBACK TO change');
  let isOpen = false;

  /** Rolls everything back. Never throws: the next `begin` reports the problem. */
  function rollback(): void {
    try {
      if (writer.inTransaction) rollbackAll.run();
    } catch {
      // Still open: `isOpen` says so.
    }
    isOpen = writer.inTransaction;
  }

  function rollbackPart(): void {
    if (!writer.inTransaction) return;
    try {
      rollbackTo.run();
      release.run();
    } catch {
      rollback();
    }
  }

  return {
    /** Retries off the event loop while another process holds the write lock. @throws {AppError} unavailable after 8 s. */
    async begin(): Promise<void> {
      const since = performance.now();
      for (;;) {
        try {
          beforeBegin();
          begin.run();
          isOpen = true;
          return;
        } catch (cause) {
          if (engineErrorKind(cause) !== 'busy') throw cause;
          if (performance.now() - since > LOCK_PATIENCE_MS)
            throw new AppError('unavailable', { hint: 'database_in_use', retryAfterSeconds: 1, cause });
          await Bun.sleep(LOCK_RETRY_MS);
        }
      }
    },
    commit(): void {
      commit.run();
      isOpen = false;
    },
    rollback,
    /** Runs a part behind a savepoint. Its failure rolls back the part; on a full or failing disk, everything. */
    async part<Result>(run: () => Promise<Result>): Promise<Result> {
      try {
        savepoint.run();
        const result = await run();
        release.run();
        return result;
      } catch (error) {
        rollbackPart();
        throw error;
      }
    },
    /** Returns whether SQLite still has the transaction: a full disk ends it. */
    isActive: () => writer.inTransaction,
    /** Returns whether a transaction is open, even one that the disk does not let end. */
    isOpen: () => isOpen,
  };
}
