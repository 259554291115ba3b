/**
 * Lets the event loop turn between requests. With many new connections the runtime hands over one request after the other
 * without ever coming to timers, other sockets or signals: a request that comes when the turn has lasted some milliseconds
 * waits for the next one, in the order of arrival.
 */
import { LONG_TURN_MS, turnAgeMs } from '../core/turn.ts';

/** One for all requests of a server: the order of arrival is kept within it. */
export interface TurnTaker {
  /** Whether a request may run at once: nothing waits, and the turn of the loop is short so far. */
  isFree(): boolean;
  /** Runs in a later turn, after what waits already; an urgent one before it. Rejects as `run` does. */
  wait<Result>(run: () => Promise<Result>, isUrgent?: boolean): Promise<Result>;
}

export function turnTaker(): TurnTaker {
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
