/** Shares delivery slots among budgets, then their endpoints, so that hanging endpoints delay no other tenant. */
import { freePlaces, quarterOf } from '../../outbound/shares.ts';

const PER_ENDPOINT = 10;
const IN_ALL = 100;

/** An endpoint, and the budget whose slots it uses. */
export interface Place {
  readonly webhookId: string;
  readonly budgetId: string;
}

interface Use {
  places: number;
  endpoints: number;
}

export interface DeliveryPlaces {
  of(place: Place): number;
  ofBudget(budgetId: string): number;
  /** Returns how many more slots the endpoints of a budget may use beyond their first. */
  furtherOf(budgetId: string): number;
  take(place: Place, count: number): void;
  /** How many are left in all. */
  readonly left: number;
}

/** @param isShared whether there are several budgets; a tenant alone on the server gets all slots. */
export function deliveryPlaces(underWay: Iterable<readonly [Place, count: number]>, isShared: boolean): DeliveryPlaces {
  const byEndpoint = new Map<string, number>();
  const byBudget = new Map<string, Use>();
  let all = 0;

  const useOf = (budgetId: string): Use => byBudget.get(budgetId) ?? { places: 0, endpoints: 0 };

  /** Limits further slots to half of the budget's, so that every endpoint can get a first one. */
  function furtherOf(budgetId: string): number {
    const { places, endpoints } = useOf(budgetId);
    const most = isShared ? quarterOf(IN_ALL) : IN_ALL;
    return Math.max(0, Math.floor(most / 2) - (places - endpoints));
  }

  function ofBudget(budgetId: string): number {
    const inUse = { all, budgets: byBudget.size, own: useOf(budgetId).places };
    return isShared ? freePlaces(IN_ALL, inUse) : IN_ALL - all;
  }

  const free: DeliveryPlaces = {
    ofBudget,
    furtherOf,
    of({ webhookId, budgetId }) {
      const own = byEndpoint.get(webhookId) ?? 0;
      const first = own === 0 ? 1 : 0;
      return Math.max(0, Math.min(PER_ENDPOINT - own, ofBudget(budgetId), first + furtherOf(budgetId)));
    },
    take({ webhookId, budgetId }, count) {
      if (count === 0) return;
      const { places, endpoints } = useOf(budgetId);
      const isFirst = !byEndpoint.has(webhookId);
      byBudget.set(budgetId, { places: places + count, endpoints: endpoints + (isFirst ? 1 : 0) });
      byEndpoint.set(webhookId, (byEndpoint.get(webhookId) ?? 0) + count);
      all += count;
    },
    get left() {
      return Math.max(0, IN_ALL - all);
    },
  };
  for (const [place, count] of underWay) free.take(place, count);
  return free;
}
