/** Keeps a list's place on the page while a detail covers it. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** @param isOpen whether a detail is open; it hides the list only on narrow screens. */
export function useKeptScroll(list: RefObject<HTMLElement | null>, isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  const before = useRef(0);
  const place = useRef<number | null>(null);
  // Read while the list is still shown: hiding it shortens the page, which loses its place.
  if (isOpen && !wasOpen.current) before.current = scrollY;
  useLayoutEffect(() => {
    if (wasOpen.current === isOpen) return;
    wasOpen.current = isOpen;
    if (!isOpen) {
      if (place.current !== null) scrollTo(0, place.current);
      place.current = null;
    } else if (list.current?.checkVisibility() === false) {
      place.current = before.current;
      scrollTo(0, 0);
    }
  }, [isOpen]);
}
