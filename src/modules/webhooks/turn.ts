/** Chooses the endpoints whose turn it is: round-robin by budget, while slots are free, and only those with a due delivery. */
import { yieldIfLong } from '../../core/event-loop.ts';
import type { Reader } from '../../db/database.ts';
import { type DueTimes, ENDPOINTS_READ, listDueEndpoints } from '../../store/delivery-claims.ts';
import type { DueEndpoints, DueQueue } from './due-endpoints.ts';
import type { DeliverySlots, EndpointSlot } from './slots.ts';

export interface TurnDependencies {
  readonly reader: Reader;
  readonly queued: DueEndpoints;
  /** Whether an endpoint must wait, such as for the outcome of a held delivery. */
  readonly isWaiting: (webhookId: string) => boolean;
}

/** @returns a function that lists the endpoints to serve now. @param slots the free slots, counted anew at each call. */
export function endpointTurns({ reader, queued, isWaiting }: TurnDependencies) {
  /** Queues noted endpoints under their budgets. @returns the endpoints that need no second check. */
  async function queueNoted(times: DueTimes): Promise<Set<string>> {
    const noted = queued.takeNoted();
    for (let from = 0; from < noted.length; from += ENDPOINTS_READ) {
      const webhookIds = noted.slice(from, from + ENDPOINTS_READ);
      const due = new Map(
        (await listDueEndpoints(reader, { webhookIds, ...times })).map((one) => [one.webhookId, one]),
      );
      for (const webhookId of webhookIds) {
        const one = due.get(webhookId);
        if (one) queued.queue(one);
      }
      await yieldIfLong();
    }
    return new Set(noted);
  }

  /** Yields a queue's endpoints that have a free slot. */
  function* candidates({ budgetId, endpoints }: DueQueue, free: DeliverySlots): Generator<EndpointSlot, void> {
    for (const webhookId of endpoints) {
      if (free.ofBudget(budgetId) === 0) return;
      const slot = { webhookId, budgetId };
      if (!isWaiting(webhookId) && free.of(slot) > 0) yield slot;
    }
  }

  function choose(free: DeliverySlots): EndpointSlot[] {
    const chosen: EndpointSlot[] = [];
    let round = queued.inTurn().map((queue) => candidates(queue, free));
    while (round.length > 0 && free.left() > 0)
      round = round.filter((queue) => {
        const next = queue.next();
        if (next.done) return false;
        free.take(next.value, 1);
        chosen.push(next.value);
        return true;
      });
    return chosen;
  }

  return async (times: DueTimes, slots: () => DeliverySlots): Promise<EndpointSlot[]> => {
    const checked = await queueNoted(times);
    for (;;) {
      const chosen = choose(slots());
      const unchecked = chosen.filter(({ webhookId }) => !checked.has(webhookId));
      if (unchecked.length === 0) return chosen;
      const webhookIds = unchecked.map(({ webhookId }) => webhookId);
      queued.beginCheck();
      for (const { webhookId } of await listDueEndpoints(reader, { webhookIds, ...times })) checked.add(webhookId);
      for (const slot of unchecked) if (!checked.has(slot.webhookId) && !queued.drop(slot)) checked.add(slot.webhookId);
      await yieldIfLong();
    }
  };
}
