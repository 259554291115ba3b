/** Tracks arrivals: closing a listener too early resets requests that the kernel accepted and we have not read. */

/** Silence after which the kernel's queue counts as empty: a client's requests follow each other faster. */
const QUIET_MS = 25;

/** Longest wait, for a load that never pauses. */
const MAX_MS = 500;

export interface ListenerDrain {
  note(): void;
  /** Adds `Connection: close` once leaving has begun, so that the client opens a new connection. */
  answered(response: Response): Response;
  /** Resolves once no more requests arrive. The caller must stop listening at once afterwards. */
  leave(times?: { readonly quietMs: number; readonly maxMs: number }): Promise<void>;
}

export function listenerDrain(): ListenerDrain {
  let latest = 0;
  let isLeaving = false;

  function note(): void {
    latest = performance.now();
  }

  function answered(response: Response): Response {
    if (isLeaving) response.headers.set('Connection', 'close');
    return response;
  }

  async function leave({ quietMs, maxMs } = { quietMs: QUIET_MS, maxMs: MAX_MS }): Promise<void> {
    isLeaving = true;
    const since = performance.now();
    latest = since;
    for (let now = since; now - latest < quietMs && now - since < maxMs; now = performance.now())
      await new Promise((resolve) => setTimeout(resolve, quietMs - (now - latest)));
  }

  return { note, answered, leave };
}
