/**
 * Yields to the event loop between requests: under many new connections Bun hands over one after the other and never
 * comes to timers, other sockets or signals. Requests beyond `LONG_TURN_MS` wait for later turns, in order of arrival.
 */
import { LONG_TURN_MS, turnAgeMs } from '../core/event-loop.ts';

export interface RequestQueue {
  /** Returns whether a request may run at once: nothing waits, and the turn is still short. */
  isFree(): boolean;
  /** Runs in a later turn, after the requests that wait already, or before them if urgent. Rejects as `run` does. */
  wait<Result>(run: () => Promise<Result>, isUrgent?: boolean): Promise<Result>;
}

export function requestQueue(): RequestQueue {
  const waiting: (() => void)[] = [];

  function takeSome(): void {
    const since = performance.now();
    let taken = 0;
    for (const begin of waiting) {
      if (performance.now() - since >= LONG_TURN_MS) break;
      taken += 1;
      begin();
    }
    waiting.splice(0, taken);
    if (waiting.length > 0) setImmediate(takeSome);
  }

  return {
    isFree: () => waiting.length === 0 && turnAgeMs() < LONG_TURN_MS,
    wait: (run, isUrgent = false) =>
      new Promise((resolve, reject) => {
        const begin = () => void run().then(resolve, reject);
        if (isUrgent) waiting.unshift(begin);
        else waiting.push(begin);
        if (waiting.length === 1) setImmediate(takeSome);
      }),
  };
}
