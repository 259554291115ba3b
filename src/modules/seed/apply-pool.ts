/**
 * Serializes applies per budget, so that two documents that want one thing create it once. Few may wait: each holds up
 * to a megabyte of the memory that all tenants share.
 */
import { AppError } from '../../core/error.ts';
import { type Pool, pool } from '../../core/pool.ts';

const MAX_WAITING = 8;
const RETRY_AFTER_SECONDS = 2;

/** Slots by budget. `run` throws {AppError} rate_limited if too many calls wait. */
export function applyPool(): Pool {
  return pool({
    perKey: 1,
    waitingPerKey: MAX_WAITING,
    refusal: () => new AppError('rate_limited', { hint: 'too_many_applied', retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
}
