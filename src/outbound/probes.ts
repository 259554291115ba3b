/**
 * The pool of requests that a caller waits for: checks of addresses, and what identity providers publish. It is separate
 * from that of deliveries and shared by budget, so that requests that hang stop neither deliveries nor other tenants.
 */
import { freePlaces } from './shares.ts';

/** With those of deliveries, far fewer than the 256 requests that this process can have under way. */
const PLACES = 64;
/** A little longer than one of these fetches may take. */
const WAIT_MS = 6000;

/** All places that the budget may use stayed taken for as long as a caller waits. */
export class NoPlaceError extends Error {
  constructor() {
    super('no place became free for an outgoing request');
    this.name = 'NoPlaceError';
  }
}

/** Runs outgoing work, so many at once. */
export interface Probes {
  /**
   * @param workspaceId the workspace whose budget it uses; null for the console.
   * @throws {NoPlaceError} where none becomes free in time; nothing was done then.
   */
  run<Result>(workspaceId: string | null, work: () => Promise<Result>): Promise<Result>;
}

interface Waiter {
  readonly budgetId: string;
  readonly begin: () => void;
}

interface ProbePoolOptions {
  /** Returns the budget that a workspace uses. */
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

  /** Passes the place to the request that has waited longest among those that may have it. */
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
