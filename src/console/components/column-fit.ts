/** Fits a table into its frame: drops extra columns, then truncates the first one, and shows where it is cut at last. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

interface Fit {
  /** Width of the frame that the rest was measured for. */
  readonly framePx: number;
  /** Number of extra columns dropped; one more truncates the first column, two more mean that the table scrolls. */
  readonly stage: number;
  /** Widths of all columns, kept while rows come and go; null until needed. */
  readonly widths: readonly number[] | null;
}

interface ColumnFit {
  readonly dropped: number;
  readonly isTight: boolean;
  readonly isCut: boolean;
  readonly widths: readonly number[] | null;
}

interface FitOptions {
  readonly frame: RefObject<HTMLElement | null>;
  readonly table: RefObject<HTMLTableElement | null>;
  readonly extraColumns: number;
  /** False while something else is shown instead of the table. */
  readonly isShown: boolean;
  /** False while only a skeleton is shown. */
  readonly isLoaded: boolean;
  /** Keeps the widths: those of a table follow its rendered rows, and would change while it scrolls. */
  readonly isFrozen: boolean;
}

const UNMEASURED: Fit = { framePx: 0, stage: 0, widths: null };

export function useColumnFit({ frame, table, extraColumns, isShown, isLoaded, isFrozen }: FitOptions): ColumnFit {
  const [fit, setFit] = useState<Fit>(UNMEASURED);
  const { framePx, stage, widths } = fit;

  useLayoutEffect(() => {
    const framed = frame.current;
    const measured = table.current;
    // Without a box, such as behind a detail, nothing can be measured.
    if (!framed || !measured || framed.clientWidth === 0) return;
    if (framed.clientWidth !== framePx) setFit({ ...UNMEASURED, framePx: framed.clientWidth });
    else if (!isLoaded) return;
    else if (measured.offsetWidth > framePx && stage < extraColumns + 2) setFit({ ...fit, stage: stage + 1 });
    else if (isFrozen !== (widths !== null))
      setFit({ ...fit, widths: isFrozen ? Array.from(measured.tHead?.rows[0]?.cells ?? [], widthOf) : null });
  });
  useEffect(() => {
    const framed = frame.current;
    if (!framed) return;
    const observer = new ResizeObserver(() => {
      const width = framed.clientWidth;
      if (width > 0) setFit((now) => (now.framePx === width ? now : { ...UNMEASURED, framePx: width }));
    });
    observer.observe(framed);
    return () => observer.disconnect();
  }, [isShown]);

  return {
    dropped: Math.min(stage, extraColumns),
    isTight: stage > extraColumns,
    isCut: stage > extraColumns + 1,
    widths,
  };
}

const widthOf = (cell: HTMLTableCellElement): number => cell.getBoundingClientRect().width;
