/** Polling and clocks of a visible view. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** Runs again `ms` after each run has ended; pauses while the page is hidden. @param ms null disables it. */
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

/** Returns the current time, updated every second while needed. */
export function useNow(isNeeded: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEvery(isNeeded ? 1000 : null, () => setNow(Date.now()));
  return now;
}
