/**
 * Lets the loop turn between requests. With many new connections the runtime hands over one request after the other
 * without ever coming to timers, other sockets or signals: a request that comes when the turn has lasted some milliseconds
 * is taken in the next one, in the order of arrival.
 */
import { LONG_TURN_MS, turnAgeMs } from '../core/turn.ts';

/** Runs at once, or in its turn where the turn of the loop has lasted too long. Rejects as `run` does. */
export type TurnTaker = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** One for all requests of a server: the order of arrival is kept within it. */
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

  return (run) => {
    if (waiting.length === 0 && turnAgeMs() < LONG_TURN_MS) return run();
    return new Promise((resolve, reject) => {
      waiting.push(() => void run().then(resolve, reject));
      if (waiting.length === 1) setImmediate(takeSome);
    });
  };
}
