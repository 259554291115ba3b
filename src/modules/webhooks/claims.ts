/**
 * Decides which deliveries are sent next, round-robin, so that a slow endpoint delays no other. At most 10 are in
 * flight per endpoint, a quarter of all per budget, 100 in all. Held deliveries precede newer ones, one by one in event
 * order.
 */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { MINUTE, type WorldClock } from '../../core/clock.ts';
import { yieldIfLong } from '../../core/event-loop.ts';
import type { Database, Unit } from '../../db/database.ts';
import {
  type DueTimes,
  ENDPOINTS_READ,
  findDueEndpoint,
  findNextPending,
  leaseDelivery,
  type LeasedDelivery,
  listDueDeliveries,
  listWaitingEndpoints,
} from '../../store/deliveries.ts';
import { isOnlyBudget } from '../../store/budgets.ts';
import { type Endpoint, endOrder, findActiveEndpoint } from '../../store/webhooks.ts';
import { dueEndpoints, type DueQueue } from './due-endpoints.ts';
import { type DeliverySlots, deliverySlots, type EndpointSlot } from './slots.ts';

/** Reads per partial search for waiting endpoints: a few milliseconds. */
const READS_OF_SEARCH = 10;
/** Maximum endpoints in memory, some 200 bytes each; a later search finds the others. */
const MAX_QUEUED = 50_000;
/** Real time, longer than any attempt, so that no lease expires during one. */
export const LEASE_MS = MINUTE;

export interface Claimed extends LeasedDelivery {
  readonly endpoint: Endpoint;
  readonly budgetId: string;
  /** It was held: no other delivery of its endpoint may overtake it. */
  readonly isInOrder: boolean;
}

/** The deliveries in flight and the endpoints that may have more; state of this process only. */
export interface Claims {
  note(webhookIds: readonly string[]): void;
  /** Finds endpoints with deliveries due by time. @param isWhole searches all; otherwise a few ms' worth per call. */
  search(isWhole: boolean): Promise<void>;
  /** Claims due deliveries up to the concurrency limits, in one change. Does nothing if none is known to be due. */
  next(): Promise<Claimed[]>;
  /** Frees the slot after the attempt. The delivery is not due again before its result is recorded. */
  free(claimed: Claimed): void;
  /** Ends the claim once the result is recorded or lost: from now on the row decides what happens. */
  forget(claimed: Claimed): void;
}

/** Never claims a delivery twice before the first claim is forgotten. @param maxQueued given by tests only. */
export function deliveryClaims(
  {
    db,
    clock,
    leaseHolder: holder,
  }: { readonly db: Database; readonly clock: WorldClock; readonly leaseHolder: string },
  maxQueued = MAX_QUEUED,
): Claims {
  const inFlight = new Map<string, [slot: EndpointSlot, count: number]>();
  /** Endpoints with a held delivery in flight, which is sent in order. */
  const inOrder = new Set<string>();
  /** Deliveries in flight or waiting to be recorded. */
  const unrecorded = new Set<string>();
  const queued = dueEndpoints(maxQueued);
  /** The last endpoint of the previous search. */
  let searched = '';

  const timesNow = (): DueTimes => ({ now: clock.now(), realNow: clock.real() });

  async function slotsNow(): Promise<DeliverySlots> {
    const isShared = !(await isOnlyBudget(db.reader));
    return deliverySlots(inFlight.values(), isShared);
  }

  async function search(isWhole: boolean): Promise<void> {
    const times = timesNow();
    if (isWhole) searched = '';
    for (let read = 0; isWhole || read < READS_OF_SEARCH; read += 1) {
      const waiting = await listWaitingEndpoints(db.reader, { after: searched, ...times });
      for (const { id, isDue } of waiting) if (isDue) queued.note(id);
      const isAtEnd = waiting.length < ENDPOINTS_READ;
      searched = isAtEnd ? '' : (waiting.at(-1)?.id ?? '');
      if (isAtEnd) return;
      await yieldIfLong();
    }
  }

  /** Queues noted endpoints under their budgets. @returns the endpoints that need no second check. */
  async function queueNoted(times: DueTimes): Promise<Set<string>> {
    const looked = new Set<string>();
    for (const webhookId of queued.takeNoted()) {
      const due = await findDueEndpoint(db.reader, { webhookId, ...times });
      if (due) queued.queue({ webhookId, budgetId: due.budgetId });
      looked.add(webhookId);
      const pause = yieldIfLong();
      if (pause) await pause;
    }
    return looked;
  }

  /** Returns the endpoints to serve now: one per budget, round-robin, while slots are free. */
  async function listInTurn(): Promise<EndpointSlot[]> {
    const times = timesNow();
    const looked = await queueNoted(times);
    const free = await slotsNow();
    const found: EndpointSlot[] = [];
    let round = queued.inTurn().map((queue) => candidates(queue, free));
    while (round.length > 0 && free.left() > 0) {
      const next: typeof round = [];
      for (const candidate of round) {
        const slot = await firstDue(candidate, times, looked);
        if (!slot) continue;
        free.take(slot, 1);
        found.push(slot);
        next.push(candidate);
      }
      round = next;
    }
    return found;
  }

  /** Yields a queue's endpoints that have a free slot. */
  function* candidates({ budgetId, endpoints }: DueQueue, free: DeliverySlots): Generator<EndpointSlot, void> {
    for (const webhookId of endpoints) {
      if (free.ofBudget(budgetId) === 0) return;
      const slot = { webhookId, budgetId };
      if (!inOrder.has(webhookId) && free.of(slot) > 0) yield slot;
    }
  }

  async function firstDue(
    slots: Generator<EndpointSlot, void>,
    times: DueTimes,
    looked: ReadonlySet<string>,
  ): Promise<EndpointSlot | undefined> {
    for (let next = slots.next(); !next.done; next = slots.next()) {
      const { value: slot } = next;
      if (looked.has(slot.webhookId) || (await findDueEndpoint(db.reader, { webhookId: slot.webhookId, ...times })))
        return slot;
      queued.drop(slot);
      const pause = yieldIfLong();
      if (pause) await pause;
    }
    return undefined;
  }

  /** Gives each endpoint one slot first, then an equal share of the slots that its budget may use beyond those. */
  async function claimFrom(unit: Unit, slots: readonly EndpointSlot[], free: DeliverySlots): Promise<Claimed[]> {
    const shares = new Map<string, number>();
    for (const [budgetId, ofBudget] of Map.groupBy(slots, (slot) => slot.budgetId))
      shares.set(budgetId, Math.ceil(free.furtherOf(budgetId) / ofBudget.length));
    const claimed: Claimed[] = [];
    for (const [index, slot] of slots.entries()) {
      const first = inFlight.has(slot.webhookId) ? 0 : 1;
      const share = shares.get(slot.budgetId) ?? 0;
      // Leaves one slot for each endpoint that follows.
      const spare = Math.max(0, free.left() - (slots.length - index - 1));
      const taken = await claimOf(unit, slot, Math.min(free.of(slot), first + share, spare));
      claimed.push(...taken);
      free.take(slot, taken.length);
    }
    return claimed;
  }

  async function claimOf(unit: Unit, { webhookId, budgetId }: EndpointSlot, slots: number): Promise<Claimed[]> {
    const endpoint = slots === 0 ? undefined : await findActiveEndpoint(unit, webhookId);
    if (!endpoint) return [];
    const claim = async (id: string, isInOrder: boolean): Promise<Claimed> => ({
      ...(await leaseDelivery(unit, id, { holder, until: clock.real() + LEASE_MS })),
      endpoint,
      budgetId,
      isInOrder,
    });
    const { inOrderUntil: until, inOrderAfter } = endpoint;
    const next =
      until === null ? undefined : await findNextPending(unit, { webhookId, after: inOrderAfter ?? '', until });
    if (next) {
      const isFree = !unrecorded.has(next.id) && (next.leasedUntil === null || next.leasedUntil <= clock.real());
      return isFree ? [await claim(next.id, true)] : [];
    }
    if (until !== null) await endOrder(unit, webhookId);
    const due = (await listDueDeliveries(unit, { webhookId, ...timesNow() })).filter((id) => !unrecorded.has(id));
    const claimed: Claimed[] = [];
    for (const id of due.slice(0, slots)) claimed.push(await claim(id, false));
    return claimed;
  }

  return {
    note(webhookIds) {
      for (const id of webhookIds) queued.note(id);
    },
    search,
    async next() {
      if (queued.isEmpty()) return [];
      const slots = await listInTurn();
      if (slots.length === 0) return [];
      const free = await slotsNow();
      const claimed = await db.write(SYSTEM_ACTOR, (unit) => claimFrom(unit, slots, free));
      // Only committed claims are in flight.
      for (const { deliveryId, endpoint, budgetId, isInOrder } of claimed) {
        const slot: EndpointSlot = { webhookId: endpoint.id, budgetId };
        unrecorded.add(deliveryId);
        inFlight.set(endpoint.id, [slot, (inFlight.get(endpoint.id)?.[1] ?? 0) + 1]);
        if (isInOrder) inOrder.add(endpoint.id);
        queued.moveToEnd(slot);
      }
      return claimed;
    },
    free({ endpoint, budgetId, isInOrder }) {
      const left = (inFlight.get(endpoint.id)?.[1] ?? 1) - 1;
      if (left > 0) inFlight.set(endpoint.id, [{ webhookId: endpoint.id, budgetId }, left]);
      else inFlight.delete(endpoint.id);
      if (isInOrder) inOrder.delete(endpoint.id);
    },
    forget: ({ deliveryId }) => void unrecorded.delete(deliveryId),
  };
}
