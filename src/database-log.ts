/** Logs problems of the database: one line when a problem begins, and one when it ends. */
import type { Logger } from 'pino';
import { AppError } from './core/error.ts';
import type { FileLoss } from './db/database.ts';
import type { WalLoss } from './db/sqlite/wal-check.ts';

const LOSSES: Record<FileLoss, string> = {
  database_gone:
    'the database was deleted or replaced while open: changes are refused; stop the server, put the database back, start again',
  database_log_gone:
    'the write-ahead log was deleted or replaced while open: changes are refused; acknowledged changes are in the database; restart the server',
  folder_taken:
    'the lock file was deleted and another server has taken over the data folder: changes are refused; stop one of the two',
};
const LOG_NOT_KEPT =
  'the write-ahead log was deleted or replaced while open: changes are refused; the last changes before that may be lost; restart the server';

export function slowStatementLog(log: Logger | undefined) {
  return (sql: string, durationMs: number) =>
    log?.warn({ durationMs: Math.round(durationMs), sql }, 'a statement was slow');
}

export function databaseLog(path: string, log: Logger | undefined) {
  return {
    onRefusal: (error: unknown) =>
      error === null
        ? log?.warn('the disk accepts writes again')
        : log?.error(
            { path, reason: reasonOf(error) },
            'the disk refuses writes: changes are answered 503 until it accepts them again',
          ),
    onLoss: (loss: FileLoss, isKept: boolean) =>
      log?.fatal({ path, reason: loss }, isKept ? LOSSES[loss] : LOG_NOT_KEPT),
    onWalLeft: (error: unknown) =>
      log?.warn(
        { path, reason: error === null ? 'timed out' : reasonOf(error) },
        'the write-ahead log was not checkpointed at the stop; the next start reads it',
      ),
    onUpgrade: (progress: string) => log?.info(progress),
    onLockRecreated: () => log?.warn('the lock file of the data folder was deleted; this server recreated it'),
    /** @returns one sentence about the damage; null unless damage is certain. */
    onWalLoss(loss: WalLoss): string | null {
      const { committed, readable, isMachineRestarted } = loss;
      const pages = { path, committed, readable };
      if (isMachineRestarted) {
        log?.warn(
          pages,
          'the log of the database is shorter than its index says. The machine was restarted since: after a power cut only changes ' +
            'are missing that were never acknowledged; if the log was cut or its disk does not flush, acknowledged ones are lost',
        );
        return null;
      }
      log?.error(
        pages,
        'the write-ahead log is damaged or truncated: acknowledged changes are lost; compare with a good backup',
      );
      return `Its log was damaged or cut before the last start: ${committed - readable} of ${committed} pages in it could not be read, so acknowledged changes are lost.`;
    },
  };
}

/** @param place host and database, without the password. */
export function postgresLog(place: string, log: Logger | undefined) {
  return {
    onWaiting: (reason: string) => log?.warn({ place, reason }, 'the database is away: waiting for it'),
    onMigration: (step: number, steps: number) => log?.info({ place }, `migrating the database: ${step} of ${steps}`),
    onOutage: (error: unknown) =>
      error === null
        ? log?.warn({ place }, 'the database is back')
        : log?.error(
            { place, reason: reasonOf(error) },
            'the database is away: calls are answered 503 until it is back',
          ),
    onSilence: () =>
      log?.warn(
        { place },
        'the database passes no notifications on: changes of other instances reach open streams seconds later, by polling',
      ),
  };
}

/** Returns the cause of a failure in one line, without a stack. */
export function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof AppError ? error : {};
  const { code, message = String(cause) } = cause as { code?: string; message?: string };
  return code === undefined ? message : `${code}: ${message}`;
}
