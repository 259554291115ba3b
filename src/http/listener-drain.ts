/** Tracks arrivals: closing a listener too early resets requests that the kernel accepted and we have not read. */

/** Silence after which the kernel's queue counts as empty: a client's requests follow each other faster. */
const QUIET_MS = 25;

/** Longest wait, for a load that never pauses. */
const MAX_MS = 500;

export interface ListenerDrain {
  /**
   * Notes an arrival. @returns whether leaving has begun: the client must open a new connection for its next request.
   * A request before needs no such answer: Bun closes its connection where the listener has stopped by then.
   */
  arrived(): boolean;
  /** Resolves once no more requests arrive. The caller must stop listening at once afterwards. */
  leave(times?: { readonly quietMs: number; readonly maxMs: number }): Promise<void>;
}

export function listenerDrain(): ListenerDrain {
  let latest = 0;
  let isLeaving = false;

  function arrived(): boolean {
    if (isLeaving) latest = performance.now();
    return isLeaving;
  }

  async function leave({ quietMs, maxMs } = { quietMs: QUIET_MS, maxMs: MAX_MS }): Promise<void> {
    isLeaving = true;
    const since = performance.now();
    latest = since;
    for (let now = since; now - latest < quietMs && now - since < maxMs; now = performance.now())
      await new Promise((resolve) => setTimeout(resolve, quietMs - (now - latest)));
  }

  return { arrived, leave };
}
