/** Brings a reader back to their place in a list when they return to it by the browser's history. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Listed } from '../data.ts';

/** Place in a list, kept in the state of its history entry. */
interface Place {
  readonly listId: string;
  readonly rows: number;
  readonly top: number;
}

/** A scroll event is noted once scrolling pauses: browsers limit how often the state may change. */
const PAUSE_MS = 200;
/** Beyond this many rows the reader starts at the top, since loading them again would take seconds. */
const MAX_ROWS = 2000;

/** Loads as many rows as were there before, then scrolls. The rows are read anew, so that none is out of date. */
export function useReturnedList<Item>(listId: string, list: Listed<Item>): void {
  const { items, hasMore, isLoading, failure } = list;
  const wanted = useRef(placeOf(listId));
  const rows = items?.length ?? 0;

  useLayoutEffect(() => {
    const place = wanted.current;
    if (place === null || items === null || failure) return;
    if (rows < place.rows && hasMore) {
      if (!isLoading) void list.loadMore();
      return;
    }
    wanted.current = null;
    scrollTo(0, place.top);
  }, [rows, hasMore, isLoading, failure]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = () => {
      clearTimeout(timer);
      if (wanted.current === null && rows > 0)
        timer = setTimeout(() => keepPlace({ listId, rows, top: scrollY }), PAUSE_MS);
    };
    addEventListener('scroll', note, { passive: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('scroll', note);
    };
  }, [listId, rows]);
}

function placeOf(listId: string): Place | null {
  const place = (history.state as { readonly place?: Place } | null)?.place;
  return place?.listId === listId && place.rows <= MAX_ROWS ? place : null;
}

function keepPlace(place: Place): void {
  history.replaceState({ ...(history.state as object | null), place }, '');
}
