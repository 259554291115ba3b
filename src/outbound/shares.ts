/** Shares the pool for outgoing work among budgets, so that stalled requests of one tenant delay no other. */

export interface PlacesInUse {
  readonly all: number;
  /** Number of budgets that use at least one slot. */
  readonly budgets: number;
  /** Slots of the budget that asks. */
  readonly own: number;
}

/** Returns the most slots that one budget may use. */
export function quarterOf(places: number): number {
  return Math.ceil(places / 4);
}

/**
 * Returns how many more slots a budget may take, up to a quarter of all. The last quarter is reserved for the first
 * slot of budgets that have none, so that a few stalled tenants never take everything.
 */
export function freePlaces(places: number, { all, budgets, own }: PlacesInUse): number {
  const quarter = quarterOf(places);
  const first = own === 0 ? 1 : 0;
  const beyondFirst = Math.max(0, places - quarter - (all - budgets));
  return Math.max(0, Math.min(quarter - own, places - all, first + beyondFirst));
}
