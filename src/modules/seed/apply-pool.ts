/**
 * Serializes applies per budget, over all instances, so that two documents that want one thing create it once. Few may
 * wait: each holds up to a megabyte of the memory that all tenants share.
 */
import { AppError } from '../../core/error.ts';
import { pool } from '../../core/pool.ts';
import type { HeldLease, WorkLeases } from '../../jobs/work-leases.ts';

const MAX_WAITING = 8;
const RETRY_AFTER_SECONDS = 2;

/** How long an apply waits for those of other instances, and how often it looks. */
const PATIENCE_MS = 8000;
const LOOK_EVERY_MS = 200;

export interface ApplyPool {
  /** Does the work in its turn. @throws {AppError} rate_limited if too many calls wait, or another instance takes long */
  run<Result>(budgetId: string, work: () => Promise<Result>): Promise<Result>;
}

export function applyPool(leases: Pick<WorkLeases, 'begin'>): ApplyPool {
  const refusal = () =>
    new AppError('rate_limited', { hint: 'too_many_applied', retryAfterSeconds: RETRY_AFTER_SECONDS });
  const slots = pool({ perKey: 1, waitingPerKey: MAX_WAITING, refusal });

  async function leaseOf(budgetId: string): Promise<HeldLease> {
    const since = performance.now();
    for (;;) {
      const lease = await leases.begin(`seed ${budgetId}`);
      if (lease) return lease;
      if (performance.now() - since > PATIENCE_MS) throw refusal();
      await Bun.sleep(LOOK_EVERY_MS);
    }
  }

  return {
    run: (budgetId, work) =>
      slots.run(budgetId, async () => {
        const lease = await leaseOf(budgetId);
        try {
          return await work();
        } finally {
          await lease.end();
        }
      }),
  };
}
