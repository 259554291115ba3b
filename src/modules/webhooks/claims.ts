/**
 * Decides which deliveries are sent next, round-robin, so that a slow endpoint delays no other. At most 10 are in
 * flight per endpoint, a quarter of all per budget, 100 in all, in each instance. Held deliveries precede newer ones, one
 * by one in event order, whichever instance sends them.
 */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { WorldClock } from '../../core/clock.ts';
import { yieldIfLong } from '../../core/event-loop.ts';
import { type Claim, LEASE_MS, leaseKeeper } from '../../core/lease-keeper.ts';
import { CLAIMING, type Database, type Unit } from '../../db/database.ts';
import { isOnlyBudget } from '../../store/budgets.ts';
import {
  type Claimable,
  type DueTimes,
  endLeases,
  ENDPOINTS_READ,
  leaseDeliveries,
  listClaimable,
  listStaleLeases,
  listWaitingEndpoints,
  releaseDeliveries,
  renewDeliveryLeases,
} from '../../store/delivery-claims.ts';
import { endOrder } from '../../store/webhooks.ts';
import { type Claimed, claimOf } from './claimed.ts';
import { dueEndpoints } from './due-endpoints.ts';
import type { ErrorClass } from './model.ts';
import { type DeliverySlots, deliverySlots, type EndpointSlot } from './slots.ts';
import { endpointTurns } from './turn.ts';

/** Reads per partial search for waiting endpoints: a few milliseconds. */
const READS_OF_SEARCH = 10;
/** Maximum endpoints in memory, some 200 bytes each; a later search finds the others. */
const MAX_QUEUED = 50_000;

type Chosen = Pick<Claimed, 'endpoint' | 'budgetId' | 'isInOrder'>;

/** A delivery whose lease is not committed yet. */
type Leased = Omit<Claimed, 'lost'> & { readonly until: number };

/** The deliveries in flight and the endpoints that may have more; state of this process only. */
export interface Claims {
  note(webhookIds: readonly string[]): void;
  /** Makes deliveries due again that a stop or crash of this instance, or the death of another one, has cut off. */
  endStale(holder?: string): Promise<void>;
  /** Finds endpoints with deliveries due by time. @param isWhole searches all; otherwise a few ms' worth per call. */
  search(isWhole: boolean): Promise<void>;
  /** Claims due deliveries up to the concurrency limits, in one change. Does nothing if none is known to be due. */
  next(): Promise<Claimed[]>;
  /** Frees the slot after the attempt. The delivery is not due again before its result is recorded. */
  free(claimed: Claimed): void;
  /** Ends the claim once the result is recorded or lost: from now on the row decides what happens. */
  forget(claimed: Claimed): void;
  renewLeases(): Promise<void>;
  /** Claims nothing more, not even in a change under way, whose limits the end of others would widen. */
  stop(): void;
}

export interface ClaimsDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly leaseHolder: string;
}

/** Never claims a delivery twice before the first claim is forgotten. @param maxQueued given by tests only. */
export function deliveryClaims({ db, clock, leaseHolder: holder }: ClaimsDependencies, maxQueued = MAX_QUEUED): Claims {
  const inFlight = new Map<string, [slot: EndpointSlot, count: number]>();
  /** Endpoints with a held delivery that is in flight or not recorded yet. */
  const inOrder = new Set<string>();
  /** Leases of deliveries in flight or waiting to be recorded. */
  const leases = leaseKeeper({
    clock,
    renew: (claims, until) => db.write(SYSTEM_ACTOR, (unit) => renewDeliveryLeases(unit, claims, until), CLAIMING),
    release: (claims) => db.write(SYSTEM_ACTOR, (unit) => releaseDeliveries(unit, claims, holder), CLAIMING),
  });
  const queued = dueEndpoints(maxQueued);
  const listInTurn = endpointTurns({ reader: db.reader, queued, isWaiting: (webhookId) => inOrder.has(webhookId) });
  /** The last endpoint of the previous search. */
  let searched = '';
  let isStopped = false;

  const timesNow = (): DueTimes => ({ now: clock.now(), realNow: clock.real() });

  function note(webhookIds: readonly string[]): void {
    for (const id of webhookIds) queued.note(id);
  }

  async function endStale(ofHolder = ''): Promise<void> {
    const stale = { holder: ofHolder, realNow: clock.real() };
    const found = (await listStaleLeases(db.reader, stale)).filter(({ id }) => !leases.has(id));
    if (found.length === 0) return;
    const errorClass: ErrorClass = 'interrupted';
    const ended = { ...stale, errorClass, leaseMs: LEASE_MS };
    await db.write(SYSTEM_ACTOR, (unit) => endLeases(unit, found, ended), CLAIMING);
    note(found.map(({ webhookId }) => webhookId));
  }

  async function search(isWhole: boolean): Promise<void> {
    await endStale();
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

  /** @param onChoice called with the claims that the change makes. */
  async function claimFrom(
    unit: Unit,
    slots: readonly EndpointSlot[],
    free: DeliverySlots,
    onChoice: (claims: readonly Claim[]) => void,
  ): Promise<Leased[]> {
    const times = timesNow();
    const webhookIds = slots.map(({ webhookId }) => webhookId);
    const found = new Map((await listClaimable(unit, { webhookIds, ...times })).map((one) => [one.endpoint.id, one]));
    for (const { endpoint, isInOrder } of found.values())
      if (endpoint.inOrderUntil !== null && !isInOrder)
        await endOrder(unit, { id: endpoint.id, until: endpoint.inOrderUntil });
    const chosen = isStopped ? new Map<Claim, Chosen>() : share(slots, found, free);
    onChoice([...chosen.keys()]);
    const until = times.realNow + LEASE_MS;
    const lease = { holder, realNow: times.realNow, until };
    const leased = new Map(
      (await leaseDeliveries(unit, [...chosen.keys()], lease)).map((delivery) => [delivery.deliveryId, delivery]),
    );
    return [...chosen].flatMap(([{ id }, endpoint]) => {
      const delivery = leased.get(id);
      return delivery ? [{ ...delivery, ...endpoint, until }] : [];
    });
  }

  async function claimSafely(slots: readonly EndpointSlot[], free: () => DeliverySlots): Promise<Leased[]> {
    let chosen: readonly Claim[] = [];
    const choose = (claims: readonly Claim[]) => void (chosen = claims);
    try {
      return await db.write(SYSTEM_ACTOR, (unit) => claimFrom(unit, slots, free(), choose), CLAIMING);
    } catch (error) {
      leases.doubt(chosen.map(({ id, attempts }) => ({ id, attempts: attempts + 1 })));
      throw error;
    }
  }

  /** Gives each endpoint one slot first, then an equal share of the slots that its budget may use beyond those. */
  function share(
    slots: readonly EndpointSlot[],
    found: ReadonlyMap<string, Claimable>,
    free: DeliverySlots,
  ): Map<Claim, Chosen> {
    const shares = new Map<string, number>();
    for (const [budgetId, ofBudget] of Map.groupBy(slots, (slot) => slot.budgetId))
      shares.set(budgetId, Math.ceil(free.furtherOf(budgetId) / ofBudget.length));
    const chosen = new Map<Claim, Chosen>();
    for (const [index, slot] of slots.entries()) {
      const claimable = found.get(slot.webhookId);
      if (!claimable) continue;
      const { endpoint, isInOrder, due } = claimable;
      const first = inFlight.has(slot.webhookId) ? 0 : 1;
      const further = shares.get(slot.budgetId) ?? 0;
      // Leaves one slot for each endpoint that follows.
      const spare = Math.max(0, free.left() - (slots.length - index - 1));
      const most = Math.min(free.of(slot), first + further, spare);
      const taken = due.filter(({ id }) => !leases.has(id)).slice(0, most);
      for (const claim of taken) chosen.set(claim, { endpoint, budgetId: slot.budgetId, isInOrder });
      free.take(slot, taken.length);
    }
    return chosen;
  }

  return {
    note,
    endStale,
    search,
    async next() {
      await leases.releaseDoubted();
      if (queued.isEmpty()) return [];
      const isShared = !(await isOnlyBudget(db.reader));
      const free = () => deliverySlots(inFlight.values(), isShared);
      const slots = await listInTurn(timesNow(), free);
      if (slots.length === 0) return [];
      const leased = await claimSafely(slots, free);
      // Only committed claims are in flight.
      return leased.map(({ until, ...delivery }) => {
        const { endpoint, budgetId, isInOrder } = delivery;
        const slot: EndpointSlot = { webhookId: endpoint.id, budgetId };
        inFlight.set(endpoint.id, [slot, (inFlight.get(endpoint.id)?.[1] ?? 0) + 1]);
        if (isInOrder) inOrder.add(endpoint.id);
        queued.moveToEnd(slot);
        return { ...delivery, lost: leases.hold(claimOf(delivery), until) };
      });
    },
    free({ endpoint, budgetId }) {
      const left = (inFlight.get(endpoint.id)?.[1] ?? 1) - 1;
      if (left > 0) inFlight.set(endpoint.id, [{ webhookId: endpoint.id, budgetId }, left]);
      else inFlight.delete(endpoint.id);
    },
    forget(claimed) {
      leases.end(claimOf(claimed));
      if (claimed.isInOrder) inOrder.delete(claimed.endpoint.id);
    },
    renewLeases: leases.renew,
    stop: () => void (isStopped = true),
  };
}
