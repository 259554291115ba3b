/** The one scheduler: runs each job at its interval, never twice at a time, and survives a job's failure. */
import type { Logger } from 'pino';

/** Something that is due at an interval. What it throws is logged, and it runs again. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  runOnce(): void | Promise<void>;
}

/** Runs jobs from its start to its stop. */
export interface Scheduler {
  start(): void;
  /** Runs every job now, one after the other; what a moved clock made due is done when it returns. */
  runAll(): Promise<void>;
  /** Starts no more runs and waits for those under way. */
  stop(): Promise<void>;
}

/** A job that takes longer than its interval skips a run. */
export function scheduler(jobs: readonly Job[], log: Logger): Scheduler {
  const timers: Timer[] = [];
  const running = new Map<Job, Promise<void>>();

  function run(job: Job): Promise<void> {
    const current = running.get(job);
    if (current) return current;
    const started = (async () => {
      try {
        // After this turn, so that even a job that throws at once is in the map before it is taken out.
        await Promise.resolve().then(() => job.runOnce());
      } catch (error) {
        log.error({ job: job.name, err: error }, 'a job failed; it will run again at its next turn');
      } finally {
        running.delete(job);
      }
    })();
    running.set(job, started);
    return started;
  }

  return {
    start() {
      for (const job of jobs) timers.push(setInterval(() => void run(job), job.everyMs));
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
