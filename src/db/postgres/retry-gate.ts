/** Lets changes that have conflicted run again alone on this instance: otherwise they could conflict forever. */
import { type Deadline, deadlineIn, earlier, waitUntil } from '../../core/deadline.ts';
import { pool as slotPool } from '../../core/pool.ts';
import { busy } from './errors.ts';

/** Longest wait of a new change for those that run again, so that a long one delays few. */
const HOLD_MS = 1000;

export function retryGate(patienceMs: number) {
  const slot = slotPool({ total: 1, waitMs: patienceMs, refusal: busy });
  let retrying = 0;
  let quiet = Promise.withResolvers<void>();

  return {
    /** Waits until no change is to run again, for a limited time. */
    async pass(deadline: Deadline): Promise<void> {
      if (retrying > 0) await waitUntil(earlier(deadline, deadlineIn(HOLD_MS)), quiet.promise);
    },
    /** Runs a change again, after `pause` and those that conflicted before it. */
    async again<Result>(deadline: Deadline, pause: () => Promise<void>, run: () => Promise<Result>): Promise<Result> {
      retrying += 1;
      try {
        await pause();
        return await slot.run('', run, deadline.remainingMs());
      } finally {
        retrying -= 1;
        if (retrying === 0) {
          quiet.resolve();
          quiet = Promise.withResolvers<void>();
        }
      }
    },
  };
}
