/** Loop of a background worker: coalesces wake-ups, and repeats its round until a round finds nothing to do. */
import { yieldIfLong } from './event-loop.ts';

export interface WakeLoop {
  /** Schedules a run; several calls before it starts are one run. */
  wake(): void;
  /** Works until nothing is left. Calls during a run join it and cause one more round. */
  run(): Promise<void>;
  /** Starts no more rounds, and waits for the current one, whose error goes to the caller of `run`. */
  stop(): Promise<void>;
  isStopped(): boolean;
}

/**
 * @param round does a part of the work. @returns whether another round is wanted.
 * @param onFailure receives the error of a scheduled run; the next call tries again.
 */
export function wakeLoop(round: () => Promise<boolean>, onFailure: (error: unknown) => void): WakeLoop {
  let isStopped = false;
  let isScheduled = false;
  let isWanted = false;
  let running: Promise<void> | undefined;

  async function work(): Promise<void> {
    try {
      while (isWanted && !isStopped) {
        isWanted = false;
        if (await round()) isWanted = true;
        // Without I/O the loop is all microtasks, which would block the event loop.
        await yieldIfLong();
      }
    } finally {
      running = undefined;
    }
  }

  function run(): Promise<void> {
    isWanted = true;
    return (running ??= work());
  }

  function wake(): void {
    if (isScheduled || isStopped) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      run().catch((error: unknown) => {
        onFailure(error);
        // A call during the failed round wants another one.
        if (isWanted) wake();
      });
    });
  }

  return {
    run,
    wake,
    async stop() {
      isStopped = true;
      await running?.catch(() => {});
    },
    isStopped: () => isStopped,
  };
}
