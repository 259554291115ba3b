/**
 * Requests as they come in, so that a stop leaves none behind: what the kernel has accepted and nobody has read yet would be
 * reset when the listener closes. From the moment of leaving on, each answer asks its client for a new connection.
 */

/** No request for so long, and nothing is left in the kernel: whoever sends several sends them closer together. */
const QUIET_MS = 25;

/** Under a load that never pauses it is the end all the same. */
const MAX_MS = 500;

/** The requests of one listener. */
export interface Arrivals {
  /** A request has come. */
  note(): void;
  /** Marks its answer, before it goes out. */
  answered(response: Response): Response;
  /** Resolves when no more come; to be followed by the end of listening at once. */
  leave(times?: { readonly quietMs: number; readonly maxMs: number }): Promise<void>;
}

/** One for all requests of a server. */
export function arrivals(): Arrivals {
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
