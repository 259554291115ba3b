/** Loads a paginated list of the account, with optimistic changes and reload. */
import { useEffect, useState } from 'preact/hooks';
import { useAccount } from './account-context.tsx';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export interface Pages<Item> {
  /** Null until the first page has loaded. */
  readonly items: readonly Item[] | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  loadMore(): Promise<void>;
  reload(): Promise<void>;
  set(change: (items: readonly Item[]) => readonly Item[]): void;
}

const PAGE_SIZE = 20;

/** @param path API path without parameters. @param isPaged false for a list without pagination parameters. */
export function usePages<Item>(path: string, isPaged: boolean): Pages<Item> {
  const { api, fail } = useAccount();
  const [page, setPage] = useState<Page<Item> | null>(null);
  const [isLoadingMore, setIsLoadingMore] = useState(false);
  useEffect(() => void load(null), []);

  async function load(cursor: string | null): Promise<void> {
    const query = new URLSearchParams({
      ...(isPaged && { limit: String(PAGE_SIZE) }),
      ...(cursor !== null && { cursor }),
    });
    const outcome = await api.get<Page<Item>>(query.size > 0 ? `${path}?${query}` : path);
    if (!outcome.ok) return fail(outcome);
    const { items, nextCursor } = outcome.data;
    setPage((before) => ({ items: cursor === null ? items : [...(before?.items ?? []), ...items], nextCursor }));
  }

  return {
    items: page?.items ?? null,
    hasMore: page !== null && page.nextCursor !== null,
    isLoadingMore,
    async loadMore() {
      if (isLoadingMore || !page?.nextCursor) return;
      setIsLoadingMore(true);
      await load(page.nextCursor);
      setIsLoadingMore(false);
    },
    reload: () => load(null),
    set: (change) => setPage((before) => before && { ...before, items: change(before.items) }),
  };
}
