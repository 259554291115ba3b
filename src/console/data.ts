/** What a view shows of the API: one record or a list in pages, with its loading, its failure and its refreshing. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Failure, Outcome, Page } from './api.ts';

export interface Loaded<T> {
  /** Null until it is there; what was there stays while it is fetched again. */
  readonly data: T | null;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
  reload(): Promise<void>;
  /** Shows what a change has answered, without another call. */
  set(data: T): void;
}

/** @param load is called when one of `inputs` changes; answers that come too late are dropped. */
export function useLoaded<T>(load: () => Promise<Outcome<T>>, inputs: readonly unknown[]): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isLoading, setIsLoading] = useState(true);
  const turn = useRef(0);
  // What is fetched again is what the view would fetch now, though no input has changed.
  const latest = useRef(load);
  latest.current = load;

  const run = useCallback(async () => {
    const mine = ++turn.current;
    setIsLoading(true);
    const outcome = await latest.current();
    if (mine !== turn.current) return;
    setIsLoading(false);
    setFailure(outcome.ok ? null : outcome);
    if (outcome.ok) setData(outcome.data);
  }, inputs);

  useEffect(() => {
    setData(null);
    void run();
    return () => void (turn.current += 1);
  }, [run]);

  return { data, failure, isLoading, reload: run, set: setData };
}

export interface Listed<Item> {
  /** Null until the first page is there. */
  readonly items: readonly Item[] | null;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  loadMore(): Promise<void>;
  /** From the first page on; what is shown stays until it is there. */
  reload(): Promise<void>;
  /** The first page into what is shown; where `merge` has no place for it, the list begins anew. */
  renew(merge: Merge<Item>): Promise<void>;
  change(change: (items: readonly Item[]) => readonly Item[]): void;
}

/** @returns null where the two do not meet. */
type Merge<Item> = (known: readonly Item[], newest: Page<Item>) => readonly Item[] | null;

/** @param load one page, from a cursor on; called anew when one of `inputs` changes. */
export function useListed<Item>(
  load: (cursor: string | undefined) => Promise<Outcome<Page<Item>>>,
  inputs: readonly unknown[],
): Listed<Item> {
  const [page, setPage] = useState<Page<Item> | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isLoading, setIsLoading] = useState(true);
  const turn = useRef(0);

  const fetchPage = useCallback(async (cursor?: string) => {
    const mine = ++turn.current;
    setIsLoading(true);
    const outcome = await load(cursor);
    if (mine !== turn.current) return;
    setIsLoading(false);
    setFailure(outcome.ok ? null : outcome);
    if (!outcome.ok) return;
    const { items, nextCursor } = outcome.data;
    setPage((before) => ({ items: cursor === undefined ? items : [...(before?.items ?? []), ...items], nextCursor }));
  }, inputs);

  const latest = useRef(fetchPage);
  latest.current = fetchPage;
  useEffect(() => {
    setPage(null);
    void fetchPage();
    return () => void (turn.current += 1);
  }, [fetchPage]);

  return {
    items: page?.items ?? null,
    failure,
    isLoading,
    hasMore: typeof page?.nextCursor === 'string',
    async loadMore() {
      if (!isLoading && page?.nextCursor) await fetchPage(page.nextCursor);
    },
    reload: () => fetchPage(),
    async renew(merge) {
      if (page === null) return;
      const newest = await load(undefined);
      // What comes after another choice of inputs is not of it.
      if (!newest.ok || latest.current !== fetchPage) return;
      if (merge(page.items, newest.data) === null) return fetchPage();
      setPage((now) => now && { ...now, items: merge(now.items, newest.data) ?? now.items });
    },
    change: (change) => setPage((before) => before && { ...before, items: change(before.items) }),
  };
}

/** A list that is there already, as tables take it. */
export function listOf<Item>(items: readonly Item[], rest: Partial<Listed<Item>> = {}): Listed<Item> {
  const nothing = async () => {};
  return {
    items,
    failure: null,
    isLoading: false,
    hasMore: false,
    loadMore: nothing,
    reload: nothing,
    renew: nothing,
    change() {},
    ...rest,
  };
}
