/**
 * The pool of requests that a caller waits for: address checks, and what identity providers publish. Separate from the
 * deliveries' pool and shared by budget: stalled requests stop neither deliveries nor other tenants.
 */
import { AppError } from '../core/error.ts';
import { fairShares, pool } from '../core/pool.ts';

/** Concurrency limit: with that of deliveries, far below the 256 concurrent requests that this process can make. */
const SLOTS = 64;
/** Longest wait for a slot, a little longer than one of these fetches may take. */
const WAIT_MS = 6000;
const RETRY_AFTER_SECONDS = 5;

export interface Probes {
  /**
   * @param workspaceId the workspace whose budget it uses; null for the console.
   * @throws {AppError} unavailable if no slot becomes free in time; the work was not started then.
   */
  run<Result>(workspaceId: string | null, work: () => Promise<Result>): Promise<Result>;
}

export function probePool(budgetOf: (workspaceId: string | null) => Promise<string>): Probes {
  const slots = pool({
    ...fairShares(SLOTS),
    waitMs: WAIT_MS,
    refusal: () => new AppError('unavailable', { hint: 'too_many_probes', retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
  return { run: async (workspaceId, work) => slots.run(await budgetOf(workspaceId), work) };
}
