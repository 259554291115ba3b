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
  return turnAgeMs() > LONG_TURN_MS ? shortTurn() : undefined;
}

/** The next turn that is not long yet: of many that wait, only so many go on in each. */
async function shortTurn(): Promise<void> {
  do await nextTurn();
  while (turnAgeMs() > LONG_TURN_MS);
}
