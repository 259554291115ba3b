/** Yields to the event loop: work made of microtasks alone never lets timers, sockets and other requests in. */

/** Milliseconds after which work yields to timers, sockets and other requests. */
export const LONG_TURN_MS = 5;

let startedAt = 0;
let isKnown = false;

/** Returns the milliseconds since the first call in this turn of the event loop. */
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

/** Resolves in the next turn of the event loop, after timers and sockets. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Yields if the turn is long; undefined if there is no need to wait. Await it between the parts of long work. */
export function yieldIfLong(): Promise<void> | undefined {
  return turnAgeMs() > LONG_TURN_MS ? shortTurn() : undefined;
}

/** Waits for a turn that is not long yet, so that of many waiters only a few go on in each. */
async function shortTurn(): Promise<void> {
  do await yieldToEventLoop();
  while (turnAgeMs() > LONG_TURN_MS);
}
