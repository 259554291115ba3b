/** Puts the newest page of a list before what is shown already. */
import type { Page } from './api.ts';

/**
 * @param known newest first, by ids that sort by time.
 * @returns null where there may be others between the two, so that the list has to begin anew.
 */
export function withNewest<Item extends { readonly id: string }>(
  known: readonly Item[],
  { items, nextCursor }: Page<Item>,
): readonly Item[] | null {
  const last = items.at(-1);
  if (nextCursor === null || last === undefined) return items;
  const [first] = known;
  if (first === undefined || first.id < last.id) return null;
  return [...items, ...known.filter(({ id }) => id < last.id)];
}
