/** Asks the server again and again while the page is visible. */

const EVERY_MS = 6_000;
const MOST_DOUBLINGS = 4;
/** Share of a wait that varies, so that pages opened together do not ask together. */
const JITTER = 0.15;

/** `failed` backs off; `over` ends the polling. */
export type Polled = 'answered' | 'failed' | 'over';

/**
 * Asks about every six seconds, at once when the page becomes visible, and never while it is hidden. Backs off to a
 * minute and a half while the server is away.
 *
 * @param ask never throws. @returns ends the polling.
 */
export function poll(ask: () => Promise<Polled>, isAtOnce = false): () => void {
  let failures = 0;
  let isAsking = false;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function run(): Promise<void> {
    if (isAsking || isOver || document.hidden) return;
    isAsking = true;
    const outcome = await ask();
    isAsking = false;
    failures = outcome === 'failed' ? Math.min(failures + 1, MOST_DOUBLINGS) : 0;
    if (outcome === 'over') stop();
    else wait();
  }

  function wait(): void {
    if (isOver || document.hidden) return;
    clearTimeout(timer);
    timer = setTimeout(() => void run(), EVERY_MS * 2 ** failures * (1 - JITTER * Math.random()));
  }

  function follow(): void {
    clearTimeout(timer);
    if (!document.hidden) void run();
  }

  function stop(): void {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', follow);
  }

  document.addEventListener('visibilitychange', follow);
  if (isAtOnce) void run();
  else wait();
  return stop;
}
