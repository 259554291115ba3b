/** How the places for outgoing work are shared among budgets, so that requests of one tenant that hang delay no other. */

/** The places in use now. */
export interface PlacesInUse {
  readonly all: number;
  /** How many budgets use at least one. */
  readonly budgets: number;
  /** Those of the budget that asks. */
  readonly own: number;
}

/** Returns the most places that one budget may use. */
export function quarterOf(places: number): number {
  return Math.ceil(places / 4);
}

/**
 * Returns how many more places a budget may take: up to a quarter. The last quarter of all is reserved for the first place
 * of budgets that have none, so that a few tenants that hang never take everything.
 */
export function freePlaces(places: number, { all, budgets, own }: PlacesInUse): number {
  const quarter = quarterOf(places);
  const first = own === 0 ? 1 : 0;
  const beyondFirst = Math.max(0, places - quarter - (all - budgets));
  return Math.max(0, Math.min(quarter - own, places - all, first + beyondFirst));
}
