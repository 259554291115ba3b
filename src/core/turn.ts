/**
 * The turns of the event loop. Work whose parts are all microtasks never lets timers, sockets and other requests in; it
 * asks here how long the turn has lasted, and goes on in the next one when that is too long.
 */

/** Milliseconds after which work lets timers, sockets and other requests in before it goes on. */
export const LONG_TURN_MS = 5;

let startedAt = 0;
let isKnown = false;

/** Milliseconds since somebody first asked in this turn of the loop. */
export function turnAgeMs(): number {
  const now = performance.now();
  if (!isKnown) {
    isKnown = true;
    startedAt = now;
    setImmediate(() => {
      isKnown = false;
    });
  }
  return now - startedAt;
}

/** Resolves in the next turn of the loop, after timers and sockets have had theirs. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** To be awaited between the parts of long work; undefined where it need not wait. */
export function yieldIfLong(): Promise<void> | undefined {
  return turnAgeMs() > LONG_TURN_MS ? nextTurn() : undefined;
}

/** How long one answer looks for what no index knows, in milliseconds… */
const SEARCH_MS = 30;
/** …and how many rows it looks at in any case: a few are never a reason for a second page. */
const LOOKED_AT_LEAST = 10_000;

/**
 * Begins a search: what it has not reached when its time is over is left to the next page, so that nobody waits long for a
 * page, however rare what they look for.
 *
 * @returns whether its time is over, with so many rows looked at.
 */
export function searchTime(): (looked: number) => boolean {
  const startedAt = performance.now();
  return (looked) => looked >= LOOKED_AT_LEAST && performance.now() - startedAt > SEARCH_MS;
}
