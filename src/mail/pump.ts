/** The loop of a queue: many calls are one look, and it goes on until a turn finds nothing more to do. */
import { yieldIfLong } from '../core/turn.ts';

export interface Pump {
  /** Goes through what is due, soon; many calls are one look. */
  wake(): void;
  /** Goes through what is due, and returns when that is done. Calls while it runs join the run, which looks once more. */
  run(): Promise<void>;
  close(): void;
  isClosed(): boolean;
}

/**
 * @param turn one look and what it leads to. @returns whether another look is wanted.
 * @param onFailure told where a turn failed that was woken; the next call looks again.
 */
export function pump(turn: () => Promise<boolean>, onFailure: (error: unknown) => void): Pump {
  let isClosed = false;
  let isWakeScheduled = false;
  let isWanted = false;
  let running: Promise<void> | undefined;

  function run(): Promise<void> {
    isWanted = true;
    running ??= (async () => {
      try {
        while (isWanted && !isClosed) {
          isWanted = false;
          if (await turn()) isWanted = true;
          // Where nothing is waited for, all of this is microtasks.
          await yieldIfLong();
        }
      } finally {
        running = undefined;
      }
    })();
    return running;
  }

  return {
    run,
    wake() {
      if (isWakeScheduled || isClosed) return;
      isWakeScheduled = true;
      setImmediate(() => {
        isWakeScheduled = false;
        run().catch(onFailure);
      });
    },
    close: () => void (isClosed = true),
    isClosed: () => isClosed,
  };
}
