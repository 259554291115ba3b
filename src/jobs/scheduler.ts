/** The only scheduler: runs each job at its interval, never concurrently with itself, and survives a job's failure. */
import type { Logger } from 'pino';
import { isOutage } from '../db/errors.ts';

/** A task that is due at an interval. Its errors are logged, and it runs again. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Also runs when the scheduler starts, not only an interval later. */
  readonly isDueAtStart?: boolean;
  runOnce(): void | Promise<void>;
}

export interface Scheduler {
  start(): void;
  /** Runs every job now, one after the other; everything that a moved clock made due is done when it returns. */
  runAll(): Promise<void>;
  /** Starts no more runs and waits for running ones. */
  stop(): Promise<void>;
}

/**
 * A job that takes longer than its interval skips a run.
 * @param isDatabaseDown whether the database refuses changes now. Jobs that fail during such an outage are logged once.
 */
export function scheduler(jobs: readonly Job[], log: Logger, isDatabaseDown: () => boolean = () => false): Scheduler {
  const timers: Timer[] = [];
  const running = new Map<Job, Promise<void>>();
  /** Jobs that failed because the database takes no changes and have not succeeded since, by logged cause. */
  const stalled = new Map<string, Set<Job>>();

  function failed(job: Job, error: unknown): void {
    if (!isOutage(error)) {
      log.error({ job: job.name, err: error }, 'a job failed; it will run again at its next turn');
      return;
    }
    const known = stalled.get(error.message);
    if (known) return void known.add(job);
    stalled.set(error.message, new Set([job]));
    log.error(
      { job: job.name, reason: error.message },
      'jobs fail because the database takes no changes; each runs again at its next turn',
    );
  }

  function succeeded(job: Job): void {
    if (stalled.size === 0 || isDatabaseDown()) return;
    for (const [cause, those] of stalled) if (those.delete(job) && those.size === 0) stalled.delete(cause);
  }

  function run(job: Job): Promise<void> {
    const current = running.get(job);
    if (current) return current;
    const started = (async () => {
      try {
        // Deferred, so that even a job that throws at once is in the map before it is removed.
        await Promise.resolve().then(() => job.runOnce());
        succeeded(job);
      } catch (error) {
        failed(job, error);
      } finally {
        running.delete(job);
      }
    })();
    running.set(job, started);
    return started;
  }

  return {
    start() {
      for (const job of jobs) {
        timers.push(setInterval(() => void run(job), job.everyMs));
        if (job.isDueAtStart) void run(job);
      }
    },
    async runAll() {
      for (const job of jobs) {
        await running.get(job);
        await run(job);
      }
    },
    async stop() {
      timers.splice(0).forEach(clearInterval);
      await Promise.all(running.values());
    },
  };
}
