/** Loads API records and paginated lists for views, with loading, failure and refresh. */
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Failure, Outcome, Page } from './api.ts';

export interface Loaded<T> {
  /** Null until loaded; kept during a reload. */
  readonly data: T | null;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
  reload(): Promise<void>;
  /** Shows the response of a change without another request. */
  set(data: T): void;
}

/** @param load called when one of `inputs` changes; outdated responses are dropped. */
export function useLoaded<T>(load: () => Promise<Outcome<T>>, inputs: readonly unknown[]): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isLoading, setIsLoading] = useState(true);
  const request = useRef(0);
  // A reload uses the latest `load`, even though no input has changed.
  const latest = useRef(load);
  latest.current = load;

  const run = useCallback(async () => {
    const current = ++request.current;
    setIsLoading(true);
    const outcome = await latest.current();
    if (current !== request.current) return;
    setIsLoading(false);
    setFailure(outcome.ok ? null : outcome);
    if (outcome.ok) setData(outcome.data);
  }, inputs);

  // Before the next frame is painted: an effect would ask only after it.
  useLayoutEffect(() => {
    setData(null);
    void run();
    return () => void (request.current += 1);
  }, [run]);

  return { data, failure, isLoading, reload: run, set: setData };
}

export interface Listed<Item> {
  /** Null until the first page has loaded. */
  readonly items: readonly Item[] | null;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  loadMore(): Promise<void>;
  /** Reloads from the first page; the current items stay until it arrives. */
  reload(): Promise<void>;
  /** Merges a new first page into the list; reloads from the start if `merge` cannot connect them. */
  renew(merge: Merge<Item>): Promise<void>;
  change(change: (items: readonly Item[]) => readonly Item[]): void;
}

/** @returns null when the two do not overlap. */
type Merge<Item> = (known: readonly Item[], newest: Page<Item>) => readonly Item[] | null;

/** @param load loads the page at a cursor; called again when one of `inputs` changes. */
export function useListed<Item>(
  load: (cursor: string | undefined) => Promise<Outcome<Page<Item>>>,
  inputs: readonly unknown[],
): Listed<Item> {
  const [page, setPage] = useState<Page<Item> | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isLoading, setIsLoading] = useState(true);
  const request = useRef(0);

  const fetchPage = useCallback(async (cursor?: string) => {
    const current = ++request.current;
    setIsLoading(true);
    const outcome = await load(cursor);
    if (current !== request.current) return;
    setIsLoading(false);
    setFailure(outcome.ok ? null : outcome);
    if (!outcome.ok) return;
    const { items, nextCursor } = outcome.data;
    setPage((before) => ({ items: cursor === undefined ? items : [...(before?.items ?? []), ...items], nextCursor }));
  }, inputs);

  const latest = useRef(fetchPage);
  latest.current = fetchPage;
  useLayoutEffect(() => {
    setPage(null);
    void fetchPage();
    return () => void (request.current += 1);
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
      // Drops a response for earlier inputs.
      if (!newest.ok || latest.current !== fetchPage) return;
      if (merge(page.items, newest.data) === null) return fetchPage();
      setPage((now) => now && { ...now, items: merge(now.items, newest.data) ?? now.items });
    },
    change: (change) => setPage((before) => before && { ...before, items: change(before.items) }),
  };
}

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
