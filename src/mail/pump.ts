/** The loop of a queue: coalesces wake-ups and repeats until a turn finds nothing to do. */
import { yieldIfLong } from '../core/turn.ts';

export interface Pump {
  /** Schedules a run; several calls before it starts are one run. */
  wake(): void;
  /** Processes everything due. Calls during a run join it and make it look once more. */
  run(): Promise<void>;
  close(): void;
  isClosed(): boolean;
}

/**
 * @param turn does one round. @returns whether another round is wanted.
 * @param onFailure receives the error of a scheduled run; the next call tries again.
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
          // Without I/O the loop is all microtasks, which would block the event loop.
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
