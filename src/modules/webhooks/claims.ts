/**
 * Which deliveries are sent next. At most 10 are in flight for an endpoint and 100 in all, claimed in turn, so that a slow
 * endpoint delays no other; what was held goes one by one, in the order of the events, before what is newer.
 */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { type Clock, MINUTE } from '../../core/clock.ts';
import { yieldIfLong } from '../../core/turn.ts';
import type { Database, Unit } from '../../db/database.ts';
import {
  ENDPOINTS_READ,
  findNextPending,
  isEndpointDue,
  leaseDelivery,
  type LeasedDelivery,
  listDueDeliveries,
  listWaitingEndpoints,
} from '../../store/deliveries.ts';
import { type Endpoint, endOrder, findActiveEndpoint } from '../../store/webhooks.ts';

const PER_ENDPOINT = 10;
const IN_ALL = 100;
/** Of those, the places that endpoints may use beyond their first. */
const FURTHER = 50;
/** Reads of waiting endpoints in one search that is not to be a whole one: a few milliseconds. */
const READS_OF_SEARCH = 10;
/** Longer than an attempt can take, so that a lease never runs out under a live one. */
export const LEASE_MS = MINUTE;

/** A delivery with all that sending it takes. */
export interface Claimed extends LeasedDelivery {
  readonly endpoint: Endpoint;
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

/** Two claims never give the same delivery until the first is forgotten. */
export function deliveryClaims({ db, clock }: { readonly db: Database; readonly clock: Clock }): Claims {
  /** How many are under way, by endpoint. */
  const inFlight = new Map<string, number>();
  /** Endpoints with one under way that is sent in order. */
  const inOrder = new Set<string>();
  /** Deliveries that are under way or wait to be recorded. */
  const here = new Set<string>();
  /** Endpoints for which something may be due; those that were served last come last. */
  const known = new Set<string>();
  /** The endpoint that was looked at last in a search. */
  let searched = '';

  function total(): number {
    let sum = 0;
    for (const count of inFlight.values()) sum += count;
    return sum;
  }

  /** Places that endpoints use beyond their first. */
  function further(): number {
    return total() - inFlight.size;
  }

  function hasPlace(webhookId: string): boolean {
    if (inOrder.has(webhookId)) return false;
    const own = inFlight.get(webhookId) ?? 0;
    return own === 0 || (own < PER_ENDPOINT && further() < FURTHER);
  }

  async function search(isWhole: boolean): Promise<void> {
    const now = clock.now();
    if (isWhole) searched = '';
    for (let read = 0; isWhole || read < READS_OF_SEARCH; read += 1) {
      const waiting = await listWaitingEndpoints(db.reader, searched, now);
      for (const { id, isDue } of waiting) if (isDue) known.add(id);
      const isAtEnd = waiting.length < ENDPOINTS_READ;
      searched = isAtEnd ? '' : (waiting.at(-1)?.id ?? '');
      if (isAtEnd) return;
      await yieldIfLong();
    }
  }

  /** Endpoints to be served now. */
  async function listInTurn(): Promise<string[]> {
    const now = clock.now();
    const found: string[] = [];
    for (const id of known) {
      if (!hasPlace(id)) continue;
      if (await isEndpointDue(db.reader, id, now)) found.push(id);
      else known.delete(id);
      if (found.length === IN_ALL) break;
    }
    return found;
  }

  /**
   * Every endpoint can have a first place; further ones come out of half of the places, so that a few endpoints that hang
   * never take all there are.
   */
  async function claimFrom(unit: Unit, webhookIds: readonly string[]): Promise<Claimed[]> {
    let room = IN_ALL - total();
    let furtherRoom = FURTHER - further();
    const share = Math.ceil(furtherRoom / webhookIds.length);
    const claimed: Claimed[] = [];
    for (const webhookId of webhookIds) {
      if (room <= 0) break;
      const own = inFlight.get(webhookId) ?? 0;
      const first = own === 0 ? 1 : 0;
      const more = Math.min(PER_ENDPOINT - own - first, share, furtherRoom, room - first);
      const taken = await claimOf(unit, webhookId, first + Math.max(0, more));
      claimed.push(...taken);
      room -= taken.length;
      furtherRoom -= Math.max(0, taken.length - first);
    }
    return claimed;
  }

  async function claimOf(unit: Unit, webhookId: string, places: number): Promise<Claimed[]> {
    const endpoint = await findActiveEndpoint(unit, webhookId);
    if (!endpoint || places === 0) return [];
    const { inOrderUntil: until, inOrderAfter } = endpoint;
    const next =
      until === null ? undefined : await findNextPending(unit, webhookId, { after: inOrderAfter ?? '', until });
    if (next) {
      const isFree = !here.has(next.id) && (next.leasedUntil === null || next.leasedUntil <= unit.now);
      return isFree ? [await claim(unit, endpoint, next.id, true)] : [];
    }
    if (until !== null) await endOrder(unit, webhookId);
    const due = (await listDueDeliveries(unit, webhookId)).filter((id) => !here.has(id));
    const claimed: Claimed[] = [];
    for (const id of due.slice(0, places)) claimed.push(await claim(unit, endpoint, id, false));
    return claimed;
  }

  async function claim(unit: Unit, endpoint: Endpoint, id: string, isInOrder: boolean): Promise<Claimed> {
    return { ...(await leaseDelivery(unit, id, unit.now + LEASE_MS)), endpoint, isInOrder };
  }

  return {
    note(webhookIds) {
      for (const id of webhookIds) known.add(id);
    },
    search,
    async next() {
      if (total() >= IN_ALL) return [];
      const webhookIds = await listInTurn();
      if (webhookIds.length === 0) return [];
      const claimed = await db.write(SYSTEM_ACTOR, (unit) => claimFrom(unit, webhookIds));
      // Only what has been committed is under way.
      for (const { deliveryId, endpoint, isInOrder } of claimed) {
        here.add(deliveryId);
        inFlight.set(endpoint.id, (inFlight.get(endpoint.id) ?? 0) + 1);
        if (isInOrder) inOrder.add(endpoint.id);
        known.delete(endpoint.id);
        known.add(endpoint.id);
      }
      return claimed;
    },
    free({ endpoint, isInOrder }) {
      const left = (inFlight.get(endpoint.id) ?? 1) - 1;
      if (left > 0) inFlight.set(endpoint.id, left);
      else inFlight.delete(endpoint.id);
      if (isInOrder) inOrder.delete(endpoint.id);
    },
    forget: ({ deliveryId }) => void here.delete(deliveryId),
  };
}
