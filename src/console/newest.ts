import type { Page } from './api.ts';

/**
 * Merges the newest page into a list that is newest first and has ids that sort by time.
 * @returns null if records may be missing between the two, so the list must be reloaded.
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
