/** Limits the rendered rows of a long table to those near the viewport. */
import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Tables up to this length are rendered whole, for the browser's search and the simplest markup. */
const WHOLE_UP_TO = 100;
/** Rows rendered above and below the viewport, about one screen at a time. */
const OVERSCAN = 20;
/** Moves the window in steps, so that not every scroll event renders. */
const STEP = 10;
const INITIAL_HEIGHT_PX = 40;

/** A rendered row, or the height that stands for rows left out. */
export type Slot = { readonly index: number } | { readonly before: number; readonly heightPx: number };

interface RowWindow {
  readonly slots: readonly Slot[];
  readonly isWindowed: boolean;
}

/**
 * Renders all rows while the page is printed. Heights of absent rows are estimated from the rendered ones.
 * @param pinned indices rendered in any case, such as the row that has the focus.
 */
export function useRowWindow(
  count: number,
  body: RefObject<HTMLTableSectionElement | null>,
  pinned: readonly number[],
): RowWindow {
  const [isPrinted, setIsPrinted] = useState(false);
  const [first, setFirst] = useState(0);
  const height = useRef(INITIAL_HEIGHT_PX);
  const isWindowed = count > WHOLE_UP_TO && !isPrinted;
  const length = Math.ceil((globalThis.innerHeight / height.current + 2 * OVERSCAN) / STEP) * STEP + STEP;

  const move = useCallback(() => {
    const element = body.current;
    // A list behind its detail has no box; it keeps its rows until it is back.
    if (!element || element.offsetParent === null) return;
    const above = -element.getBoundingClientRect().top / height.current - OVERSCAN;
    setFirst(Math.max(0, Math.floor(above / STEP) * STEP));
  }, []);

  useLayoutEffect(() => {
    if (!isWindowed || !body.current) return;
    height.current = meanHeight(body.current) ?? height.current;
    move();
  });
  useEffect(() => {
    if (!isWindowed) return;
    addEventListener('scroll', move, { passive: true });
    addEventListener('resize', move);
    return () => {
      removeEventListener('scroll', move);
      removeEventListener('resize', move);
    };
  }, [isWindowed]);
  useEffect(() => {
    const print = () => setIsPrinted(true);
    const printed = () => setIsPrinted(false);
    addEventListener('beforeprint', print);
    addEventListener('afterprint', printed);
    return () => {
      removeEventListener('beforeprint', print);
      removeEventListener('afterprint', printed);
    };
  }, []);

  const start = isWindowed ? Math.min(first, Math.max(0, count - length)) : 0;
  const end = isWindowed ? Math.min(count, start + length) : count;
  const outside = isWindowed ? pinned.filter((index) => index >= 0 && (index < start || index >= end)) : [];
  return { slots: slotsOf(count, start, end, outside, height.current), isWindowed };
}

function slotsOf(count: number, start: number, end: number, pinned: readonly number[], heightPx: number): Slot[] {
  const rendered = [...new Set(pinned), ...Array.from({ length: end - start }, (_, offset) => start + offset)];
  const slots: Slot[] = [];
  let next = 0;
  for (const index of rendered.sort((one, other) => one - other)) {
    if (index > next) slots.push({ before: index, heightPx: (index - next) * heightPx });
    slots.push({ index });
    next = index + 1;
  }
  if (count > next) slots.push({ before: count, heightPx: (count - next) * heightPx });
  return slots;
}

/** Mean height of the rendered rows, without the gaps between them. */
function meanHeight(body: HTMLTableSectionElement): number | null {
  let total = 0;
  let rows = 0;
  for (const row of body.rows) {
    if (row.dataset['key'] === undefined) continue;
    total += row.getBoundingClientRect().height;
    rows += 1;
  }
  return total > 0 ? total / rows : null;
}
