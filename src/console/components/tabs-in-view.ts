/** Keeps the current tab in view: on a phone a row of tabs scrolls. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Part of the next tab that stays visible, in pixels. */
const NEXT_PX = 24;

/** Returns the ref of the row of tabs. Scrolls only sideways: the page stays where it is. @param current names the tab. */
export function useTabInView(current: string | null | undefined): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!row.current) return;
    const observer = new ResizeObserver(() => row.current && reveal(row.current));
    observer.observe(row.current);
    return () => observer.disconnect();
  }, [current]);
  return row;
}

function reveal(row: HTMLElement): void {
  const tab = row.querySelector('[aria-current]')?.getBoundingClientRect();
  if (!tab) return;
  const { left, right } = row.getBoundingClientRect();
  const beyond = tab.right > right ? tab.right - right : tab.left < left ? tab.left - left : 0;
  if (beyond !== 0) row.scrollLeft += beyond + Math.sign(beyond) * NEXT_PX;
}
