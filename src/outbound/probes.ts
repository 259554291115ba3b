/**
 * The pool of requests that a caller waits for: address checks, and what identity providers publish. Separate from the
 * deliveries' pool and shared by budget: stalled requests stop neither deliveries nor other tenants.
 */
import { freePlaces } from './shares.ts';

/** Concurrency limit: with that of deliveries, far below the 256 concurrent requests that this process can make. */
const PLACES = 64;
/** Longest wait for a slot, a little longer than one of these fetches may take. */
const WAIT_MS = 6000;

/** The error if no slot of the budget became free while the caller waited. */
export class NoPlaceError extends Error {
  constructor() {
    super('no place became free for an outgoing request');
    this.name = 'NoPlaceError';
  }
}

/** Runs outgoing work with a concurrency limit. */
export interface Probes {
  /**
   * @param workspaceId the workspace whose budget it uses; null for the console.
   * @throws {NoPlaceError} if no slot becomes free in time; the work was not started then.
   */
  run<Result>(workspaceId: string | null, work: () => Promise<Result>): Promise<Result>;
}

interface Waiter {
  readonly budgetId: string;
  readonly begin: () => void;
}

interface ProbePoolOptions {
  readonly budgetOf: (workspaceId: string | null) => Promise<string>;
  readonly places?: number;
  readonly waitMs?: number;
}

export function probePool({ budgetOf, places = PLACES, waitMs = WAIT_MS }: ProbePoolOptions): Probes {
  const used = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let all = 0;

  function hasPlace(budgetId: string): boolean {
    return freePlaces(places, { all, budgets: used.size, own: used.get(budgetId) ?? 0 }) > 0;
  }

  function take(budgetId: string): void {
    used.set(budgetId, (used.get(budgetId) ?? 0) + 1);
    all += 1;
  }

  /** Passes the slot to the request that has waited longest among those that may have it. */
  function free(budgetId: string): void {
    const left = (used.get(budgetId) ?? 1) - 1;
    if (left > 0) used.set(budgetId, left);
    else used.delete(budgetId);
    all -= 1;
    for (const waiter of waiting) {
      if (!hasPlace(waiter.budgetId)) continue;
      take(waiter.budgetId);
      waiting.delete(waiter);
      waiter.begin();
      return;
    }
  }

  async function place(budgetId: string): Promise<void> {
    if (hasPlace(budgetId)) return take(budgetId);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { budgetId, begin: resolve };
    waiting.add(waiter);
    const timer = setTimeout(() => {
      waiting.delete(waiter);
      reject(new NoPlaceError());
    }, waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async run(workspaceId, work) {
      const budgetId = await budgetOf(workspaceId);
      await place(budgetId);
      try {
        return await work();
      } finally {
        free(budgetId);
      }
    },
  };
}
