/** Classifies errors of the driver and of the server (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
import { AppError } from '../../core/error.ts';

interface DriverError {
  readonly code?: unknown;
  readonly message?: unknown;
  /** SQLSTATE, for errors of the server. */
  readonly errno?: unknown;
}

const RETRY_SECONDS = 1;

/** Connections that the server has ended or refused, and a server that takes no changes, such as a demoted primary. */
const AWAY = /^(?:08|57P0|53300|25006)/;

/** Statement and lock time-outs, and a transaction that was idle too long. */
const BUSY = /^(?:57014|55P03|25P0)/;

const DISK = /^(?:53100|58)/;

/** Concurrent changes: the transaction has changed nothing, and may run again. */
const CONFLICT = /^40(?:001|P01)$/;

export function sqlState(error: unknown): string {
  const { errno } = (error ?? {}) as DriverError;
  return typeof errno === 'string' ? errno : '';
}

/** Returns whether the connection is lost, leads to a server that is no primary, or has plans of an older schema. */
export function isAway(error: unknown): boolean {
  const { code, message } = (error ?? {}) as DriverError;
  if (message === 'cached plan must not change result type') return true;
  return (
    AWAY.test(sqlState(error)) ||
    (typeof code === 'string' && /^ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME)|^E?CONN|^ETIMEDOUT/.test(code)) ||
    (error instanceof AppError && error.hint === 'database_away')
  );
}

/** Returns whether a statement was refused because an earlier one of its transaction had failed. */
export function isAborted(error: unknown): boolean {
  return sqlState(error) === '25P02';
}

/** Returns whether a transaction failed because of concurrent ones alone. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error));
}

export const away = (cause?: unknown) =>
  new AppError('unavailable', { hint: 'database_away', retryAfterSeconds: RETRY_SECONDS, cause });

export const busy = (cause?: unknown) =>
  new AppError('unavailable', { hint: 'database_busy', retryAfterSeconds: RETRY_SECONDS, cause });

/** Returns the error as callers see it: outages as `unavailable`, others unchanged. */
export function translated(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (isAway(error)) return away(error);
  const state = sqlState(error);
  if (BUSY.test(state)) return busy(error);
  if (DISK.test(state))
    return new AppError('unavailable', { hint: 'disk_refuses_writes', retryAfterSeconds: RETRY_SECONDS, cause: error });
  return error;
}
