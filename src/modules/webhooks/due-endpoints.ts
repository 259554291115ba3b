/**
 * Endpoints that may have due deliveries, queued per budget. Serves budgets round-robin, new ones first (as flows in
 * fq_codel, RFC 8290), so one with thousands of endpoints takes its turn like any other.
 */
import { fairShares, pool } from '../../core/pool.ts';
import type { EndpointSlot } from './slots.ts';

/** The queue of one budget: the endpoint served longest ago comes first. */
export interface DueQueue {
  readonly budgetId: string;
  readonly endpoints: ReadonlySet<string>;
}

export interface DueEndpoints {
  isEmpty(): boolean;
  /** Adds an endpoint whose budget is not known yet. One that is queued stays queued until a check that begins later. */
  note(webhookId: string): void;
  /** Begins a check of queued endpoints. */
  beginCheck(): void;
  /** Takes out the endpoints whose budget is not known yet. */
  takeNoted(): string[];
  /** Queues an endpoint, unless its budget exceeds its share of memory; a later search finds it again. */
  queue(endpoint: EndpointSlot): void;
  /** Drops an endpoint without due deliveries. @returns false if it was noted since the check began, and stays. */
  drop(endpoint: EndpointSlot): boolean;
  /** Moves an endpoint to the end of its queue, and its budget to the end of the round. */
  moveToEnd(endpoint: EndpointSlot): void;
  inTurn(): DueQueue[];
}

/** @param max maximum number of queued endpoints, and of noted ones. */
export function dueEndpoints(max: number): DueEndpoints {
  const noted = new Set<string>();
  /** Queued endpoints that were noted since the last check began. */
  const changed = new Set<string>();
  const budgetOf = new Map<string, string>();
  /** Budgets not served since they last became non-empty. */
  const fresh = new Map<string, Set<string>>();
  const served = new Map<string, Set<string>>();
  const memory = pool(fairShares(max));

  const queueOf = (budgetId: string) => fresh.get(budgetId) ?? served.get(budgetId);

  function drop({ webhookId, budgetId }: EndpointSlot): boolean {
    if (changed.has(webhookId)) return false;
    const endpoints = queueOf(budgetId);
    if (!endpoints?.delete(webhookId)) return true;
    budgetOf.delete(webhookId);
    memory.release(budgetId);
    if (endpoints.size > 0) return true;
    fresh.delete(budgetId);
    served.delete(budgetId);
    return true;
  }

  return {
    isEmpty: () => noted.size === 0 && budgetOf.size === 0,
    note(webhookId) {
      if (budgetOf.has(webhookId)) changed.add(webhookId);
      else if (noted.size < max) noted.add(webhookId);
    },
    beginCheck: () => changed.clear(),
    takeNoted() {
      const taken = [...noted];
      noted.clear();
      return taken;
    },
    queue({ webhookId, budgetId }) {
      if (budgetOf.has(webhookId) || !memory.take(budgetId)) return;
      const endpoints = queueOf(budgetId) ?? new Set();
      if (endpoints.size === 0) fresh.set(budgetId, endpoints);
      endpoints.add(webhookId);
      budgetOf.set(webhookId, budgetId);
    },
    drop,
    moveToEnd({ webhookId, budgetId }) {
      const endpoints = queueOf(budgetId);
      if (!endpoints?.delete(webhookId)) return;
      endpoints.add(webhookId);
      fresh.delete(budgetId);
      served.delete(budgetId);
      served.set(budgetId, endpoints);
    },
    inTurn: () => [...fresh, ...served].map(([budgetId, endpoints]) => ({ budgetId, endpoints })),
  };
}
