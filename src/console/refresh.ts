/** What goes on by itself while a view is shown: fetching again what is under way, and clocks that run. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** Runs again and again, each time so long after the end of the last; at rest while nobody looks. @param ms null for never */
export function useEvery(ms: number | null, run: () => unknown): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (ms === null) return;
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const wait = () => {
      timer = setTimeout(async () => {
        if (!document.hidden) await latest.current();
        if (!isOver) wait();
      }, ms);
    };
    wait();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [ms]);
}

/** The time, told every second for as long as it is needed. */
export function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEvery(isNeeded ? 1000 : null, () => setNow(Date.now()));
  return now;
}
