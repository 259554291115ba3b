/**
 * Decides which deliveries are sent next. At most 10 are in flight for an endpoint, a quarter of all for a budget and 100 in
 * all, claimed round-robin, so that a slow endpoint delays no other. Held deliveries go one by one, in the order of the
 * events, before newer ones.
 */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { MINUTE, type WorldClock } from '../../core/clock.ts';
import { yieldIfLong } from '../../core/turn.ts';
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
import { type DeliveryPlaces, deliveryPlaces, type Place } from './places.ts';

/** Reads of waiting endpoints in one search that is not to be a whole one: a few milliseconds. */
const READS_OF_SEARCH = 10;
/** Endpoints kept in mind, some 200 bytes each; a search finds the others when there is room again. */
const MOST_KNOWN = 50_000;
/** In real time, longer than an attempt can take, so that a lease never runs out under a live one. */
export const LEASE_MS = MINUTE;

/** A delivery with all that sending it takes. */
export interface Claimed extends LeasedDelivery {
  readonly endpoint: Endpoint;
  readonly budgetId: string;
  /** It is one of those that were held, and nothing of its endpoint may overtake it. */
  readonly isInOrder: boolean;
}

/** What is under way and what is next; known to this process alone. */
export interface Claims {
  /** Something may have become due for these endpoints. */
  note(webhookIds: readonly string[]): void;
  /**
   * Finds endpoints for which something has become due by time.
   *
   * @param isWhole all of them; otherwise so many as take a few milliseconds, and the others at the next calls.
   */
  search(isWhole: boolean): Promise<void>;
  /** Claims what there is room for, in one change; nothing where nothing is known to be due or all places are taken. */
  next(): Promise<Claimed[]>;
  /** The attempt is over: its place is free. Before it is recorded, it is not due again. */
  free(claimed: Claimed): void;
  /** Its result is on record, or lost: from now on its row says what is to be done. */
  forget(claimed: Claimed): void;
}

/** Two claims never give the same delivery until the first is forgotten. @param mostKnown given by tests only. */
export function deliveryClaims(
  { db, clock }: { readonly db: Database; readonly clock: WorldClock },
  mostKnown = MOST_KNOWN,
): Claims {
  /** How many are under way, by endpoint. */
  const inFlight = new Map<string, [place: Place, count: number]>();
  /** Endpoints with one under way that is sent in order. */
  const inOrder = new Set<string>();
  /** Deliveries that are under way or wait to be recorded. */
  const here = new Set<string>();
  const known = dueEndpoints(mostKnown);
  /** The endpoint that was looked at last in a search. */
  let searched = '';

  const timesNow = (): DueTimes => ({ now: clock.now(), realNow: clock.real() });

  /** The free places as of now. */
  async function placesNow(): Promise<DeliveryPlaces> {
    const isShared = !(await isOnlyBudget(db.reader));
    return deliveryPlaces(inFlight.values(), isShared);
  }

  async function search(isWhole: boolean): Promise<void> {
    const times = timesNow();
    if (isWhole) searched = '';
    for (let read = 0; isWhole || read < READS_OF_SEARCH; read += 1) {
      const waiting = await listWaitingEndpoints(db.reader, searched, times);
      for (const { id, isDue } of waiting) if (isDue) known.note(id);
      const isAtEnd = waiting.length < ENDPOINTS_READ;
      searched = isAtEnd ? '' : (waiting.at(-1)?.id ?? '');
      if (isAtEnd) return;
      await yieldIfLong();
    }
  }

  /** Queues what was noted under its budget. @returns the endpoints that need no second look. */
  async function queueNoted(times: DueTimes): Promise<Set<string>> {
    const looked = new Set<string>();
    for (const webhookId of known.takeNoted()) {
      const due = await findDueEndpoint(db.reader, webhookId, times);
      if (due) known.queue({ webhookId, budgetId: due.budgetId });
      looked.add(webhookId);
      const pause = yieldIfLong();
      if (pause) await pause;
    }
    return looked;
  }

  /** Returns the endpoints to serve now: one of each budget in turn, round after round, while there are places. */
  async function listInTurn(): Promise<Place[]> {
    const times = timesNow();
    const looked = await queueNoted(times);
    const free = await placesNow();
    const found: Place[] = [];
    let round = known.inTurn().map((queue) => candidates(queue, free));
    while (round.length > 0 && free.left > 0) {
      const next: typeof round = [];
      for (const candidate of round) {
        const place = await firstDue(candidate, times, looked);
        if (!place) continue;
        free.take(place, 1);
        found.push(place);
        next.push(candidate);
      }
      round = next;
    }
    return found;
  }

  /** Endpoints of a queue that there is a place for. */
  function* candidates({ budgetId, endpoints }: DueQueue, free: DeliveryPlaces): Generator<Place, void> {
    for (const webhookId of endpoints) {
      if (free.ofBudget(budgetId) === 0) return;
      const place = { webhookId, budgetId };
      if (!inOrder.has(webhookId) && free.of(place) > 0) yield place;
    }
  }

  async function firstDue(
    places: Generator<Place, void>,
    times: DueTimes,
    looked: ReadonlySet<string>,
  ): Promise<Place | undefined> {
    for (let next = places.next(); !next.done; next = places.next()) {
      const { value: place } = next;
      if (looked.has(place.webhookId) || (await findDueEndpoint(db.reader, place.webhookId, times))) return place;
      known.drop(place);
      const pause = yieldIfLong();
      if (pause) await pause;
    }
    return undefined;
  }

  /** Gives each endpoint a place in turn, and an equal share of what its budget may use beyond first places. */
  async function claimFrom(unit: Unit, places: readonly Place[], free: DeliveryPlaces): Promise<Claimed[]> {
    const shares = new Map<string, number>();
    for (const [budgetId, ofBudget] of Map.groupBy(places, (place) => place.budgetId))
      shares.set(budgetId, Math.ceil(free.furtherOf(budgetId) / ofBudget.length));
    const claimed: Claimed[] = [];
    for (const [index, place] of places.entries()) {
      const first = inFlight.has(place.webhookId) ? 0 : 1;
      const share = shares.get(place.budgetId) ?? 0;
      // Leave a place for each endpoint that follows.
      const spare = Math.max(0, free.left - (places.length - index - 1));
      const taken = await claimOf(unit, place, Math.min(free.of(place), first + share, spare));
      claimed.push(...taken);
      free.take(place, taken.length);
    }
    return claimed;
  }

  async function claimOf(unit: Unit, { webhookId, budgetId }: Place, places: number): Promise<Claimed[]> {
    const endpoint = places === 0 ? undefined : await findActiveEndpoint(unit, webhookId);
    if (!endpoint) return [];
    const claim = async (id: string, isInOrder: boolean): Promise<Claimed> => ({
      ...(await leaseDelivery(unit, id, clock.real() + LEASE_MS)),
      endpoint,
      budgetId,
      isInOrder,
    });
    const { inOrderUntil: until, inOrderAfter } = endpoint;
    const next =
      until === null ? undefined : await findNextPending(unit, webhookId, { after: inOrderAfter ?? '', until });
    if (next) {
      const isFree = !here.has(next.id) && (next.leasedUntil === null || next.leasedUntil <= clock.real());
      return isFree ? [await claim(next.id, true)] : [];
    }
    if (until !== null) await endOrder(unit, webhookId);
    const due = (await listDueDeliveries(unit, webhookId, timesNow())).filter((id) => !here.has(id));
    const claimed: Claimed[] = [];
    for (const id of due.slice(0, places)) claimed.push(await claim(id, false));
    return claimed;
  }

  return {
    note(webhookIds) {
      for (const id of webhookIds) known.note(id);
    },
    search,
    async next() {
      if (known.isEmpty()) return [];
      const places = await listInTurn();
      if (places.length === 0) return [];
      const free = await placesNow();
      const claimed = await db.write(SYSTEM_ACTOR, (unit) => claimFrom(unit, places, free));
      // Only what has been committed is under way.
      for (const { deliveryId, endpoint, budgetId, isInOrder } of claimed) {
        const place: Place = { webhookId: endpoint.id, budgetId };
        here.add(deliveryId);
        inFlight.set(endpoint.id, [place, (inFlight.get(endpoint.id)?.[1] ?? 0) + 1]);
        if (isInOrder) inOrder.add(endpoint.id);
        known.moveToEnd(place);
      }
      return claimed;
    },
    free({ endpoint, budgetId, isInOrder }) {
      const left = (inFlight.get(endpoint.id)?.[1] ?? 1) - 1;
      if (left > 0) inFlight.set(endpoint.id, [{ webhookId: endpoint.id, budgetId }, left]);
      else inFlight.delete(endpoint.id);
      if (isInOrder) inOrder.delete(endpoint.id);
    },
    forget: ({ deliveryId }) => void here.delete(deliveryId),
  };
}
