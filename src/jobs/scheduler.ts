/** The only scheduler: runs each job at its interval, never concurrently with itself, and survives a job's failure. */
import type { Logger } from 'pino';
import { isOutage } from '../db/errors.ts';
import type { WorkLeases } from './work-leases.ts';

/** A task that is due at an interval. Its errors are logged, and it runs again. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Also runs when the scheduler starts, not only an interval later. */
  readonly isDueAtStart?: boolean;
  /** Runs in one instance at a time, and once an interval over all; others run in each. */
  readonly isExclusive?: boolean;
  runOnce(): void | Promise<void>;
}

export interface Scheduler {
  start(): void;
  /** Runs every job here and now, one after the other; all that a moved clock made due is done when it returns. */
  runAll(): Promise<void>;
  /** Starts no more runs and waits for running ones. */
  stop(): Promise<void>;
}

export interface SchedulerDependencies {
  readonly log: Logger;
  readonly leases: Pick<WorkLeases, 'begin'>;
  /** Returns whether the database refuses changes now. Jobs that fail during such an outage are logged once. */
  readonly isDatabaseDown: () => boolean;
}

/** Share of its interval in which an exclusive job that has run is begun by no other instance. */
const RESTING_SHARE = 0.9;

/** A job that takes longer than its interval skips a run. */
export function scheduler(jobs: readonly Job[], { log, leases, isDatabaseDown }: SchedulerDependencies): Scheduler {
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

  /** Runs a job unless another instance runs it, or has run it in this interval. */
  async function runExclusively(job: Job): Promise<void> {
    const since = performance.now();
    const lease = await leases.begin(`job ${job.name}`);
    if (!lease) return;
    let restMs = 0;
    try {
      await job.runOnce();
      restMs = job.everyMs * RESTING_SHARE - (performance.now() - since);
    } finally {
      // After a failure another instance may try.
      await lease.end(Math.max(0, Math.floor(restMs)));
    }
  }

  function run(job: Job, start: (job: Job) => void | Promise<void> = (due) => due.runOnce()): Promise<void> {
    const current = running.get(job);
    if (current) return current;
    const started = (async () => {
      try {
        // Deferred, so that even a job that throws at once is in the map before it is removed.
        await Promise.resolve().then(() => start(job));
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
        const start = job.isExclusive ? runExclusively : undefined;
        timers.push(setInterval(() => void run(job, start), job.everyMs));
        if (job.isDueAtStart) void run(job, start);
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
