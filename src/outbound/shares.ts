/** How the places for outgoing work are shared among workspaces, so that what one of them calls delays no other. */

/** Who uses how many of the places now. */
export interface PlacesInUse {
  readonly all: number;
  /** How many workspaces use at least one. */
  readonly workspaces: number;
  /** Of the workspace that asks. */
  readonly own: number;
}

/** The most that one workspace may use. */
export function quarterOf(places: number): number {
  return Math.ceil(places / 4);
}

/**
 * How many more places a workspace may take. A quarter is the most; the last quarter of all is kept for the first place of
 * workspaces that have none, so that a few which hang never take all there are.
 */
export function freePlaces(places: number, { all, workspaces, own }: PlacesInUse): number {
  const quarter = quarterOf(places);
  const first = own === 0 ? 1 : 0;
  const beyondFirst = Math.max(0, places - quarter - (all - workspaces));
  return Math.max(0, Math.min(quarter - own, places - all, first + beyondFirst));
}
