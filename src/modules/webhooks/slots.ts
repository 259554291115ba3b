/** Shares delivery slots among budgets, then their endpoints, so that hanging endpoints delay no other tenant. */
import { fairShares, pool } from '../../core/pool.ts';

const PER_ENDPOINT = 10;
const TOTAL = 100;

/** An endpoint, and the budget whose slots it uses. */
export interface EndpointSlot {
  readonly webhookId: string;
  readonly budgetId: string;
}

export interface DeliverySlots {
  of(slot: EndpointSlot): number;
  ofBudget(budgetId: string): number;
  /** Returns how many more slots the endpoints of a budget may use beyond their first. */
  furtherOf(budgetId: string): number;
  take(slot: EndpointSlot, count: number): void;
  /** How many are left in all. */
  left(): number;
}

/** @param isShared whether there are several budgets; a tenant alone on the server gets all slots. */
export function deliverySlots(
  underWay: Iterable<readonly [EndpointSlot, count: number]>,
  isShared: boolean,
): DeliverySlots {
  const { perKey = TOTAL, ...shares } = isShared ? fairShares(TOTAL) : { total: TOTAL };
  const budgets = pool({ perKey, ...shares });
  const endpoints = pool({ perKey: PER_ENDPOINT });
  /** Slots beyond each endpoint's first: half of the budget's, so that every endpoint can get a first one. */
  const further = pool({ perKey: Math.floor(perKey / 2) });

  function take({ webhookId, budgetId }: EndpointSlot, count: number): void {
    if (count === 0) return;
    further.add(budgetId, endpoints.of(webhookId) === 0 ? count - 1 : count);
    endpoints.add(webhookId, count);
    budgets.add(budgetId, count);
  }

  for (const [slot, count] of underWay) take(slot, count);
  return {
    ofBudget: budgets.free,
    furtherOf: further.free,
    of({ webhookId, budgetId }) {
      const first = endpoints.of(webhookId) === 0 ? 1 : 0;
      return Math.min(endpoints.free(webhookId), budgets.free(budgetId), first + further.free(budgetId));
    },
    take,
    left: () => Math.max(0, TOTAL - budgets.used),
  };
}
