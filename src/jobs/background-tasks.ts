/**
 * Background tasks: a state change takes effect at once because verification reads it; the resulting rows, events and
 * mails are written in short batches between other changes, and resume after a crash. The first batch is part of the
 * state change, so that a small task is done when the answer comes.
 */
import type { Logger } from 'pino';
import { type BatchSize, batchSize } from '../core/batches.ts';
import { AppError } from '../core/error.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import { wakeLoop } from '../core/wake-loop.ts';
import type { Database, Reader, Unit } from '../db/database.ts';
import { isOutage } from '../db/errors.ts';
import {
  advanceLongWork,
  deleteLongWork,
  findLongWork,
  insertLongWork,
  listLongWorks,
  LONG_WORK_BEGUN,
  setLongWorkTotal,
} from '../store/long-works.ts';
import { RENEW_EVERY_MS, type WorkLeases } from './work-leases.ts';

export interface Batch {
  readonly done: number;
  /** Start of the next batch; each task defines its meaning. */
  readonly cursor: string | null;
  readonly isFinished: boolean;
  /** True if nothing can be done for now, as while an application is not in service; the job tries again later. */
  readonly isWaiting?: boolean;
}

export interface RunningTask<Data, Whose extends string | null = string | null> {
  /** Null if the task does not belong to one application. */
  readonly applicationId: Whose;
  readonly data: Data;
  readonly cursor: string | null;
}

/**
 * A kind of background task. `Whose` is `string` for one that always belongs to an application.
 *
 * `Found` is what `find` returns; `undefined` for a task without it.
 */
export interface BackgroundTask<
  Data extends object = object,
  Whose extends string | null = string | null,
  Found = undefined,
> {
  readonly name: string;
  /** Searches the rows of the next batch before its change, so that other writers do not wait for the search. */
  find?(reader: Reader, task: RunningTask<Data, Whose>): Promise<Found>;
  /**
   * Writes about `limit` rows. Repeated batches must not repeat rows: cursor and row say what is left.
   *
   * @param found by `find` at this cursor; undefined in the first batch, which is part of the state change.
   */
  step(unit: Unit, task: RunningTask<Data, Whose>, limit: number, found?: Found): Promise<Batch>;
  /** Counts all rows of the task; a long read. */
  count?(reader: Reader, task: RunningTask<Data, Whose>): Promise<number>;
}

/** Runs all background tasks round-robin, one batch each. */
export interface TaskRunner {
  /** Runs every task to its end; calls during a run join it. */
  runOnce(): Promise<void>;
  /** Waits for the current batch; the rest is left to the next start. */
  stop(): Promise<void>;
}

/** Rows of the batch that is part of the state change. */
export const FIRST_BATCH = 25;
const LARGEST_BATCH = 2000;

/** Begins a background task in the state change, as its actor. @returns rows written by the first batch. */
export async function beginTask<Data extends object, Whose extends string | null, Found>(
  unit: Unit,
  task: BackgroundTask<Data, Whose, Found>,
  { applicationId, data }: Pick<RunningTask<Data, Whose>, 'applicationId' | 'data'>,
): Promise<number> {
  const { done, cursor, isFinished } = await task.step(unit, { applicationId, data, cursor: null }, FIRST_BATCH);
  if (!isFinished) await insertLongWork(unit, { kind: task.name, applicationId, data, cursor, done });
  return done;
}

export interface TaskRunnerDependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly tasks: readonly BackgroundTask<never, string | null, unknown>[];
  /** A task runs in one instance at a time: batches of two would only conflict. */
  readonly leases: Pick<WorkLeases, 'take' | 'release'>;
}

const leaseName = (id: string) => `task ${id}`;

/** Starts a task as soon as it is durable. Tasks of an unknown kind are left for a newer version. */
export function taskRunner({ db, log, tasks, leases }: TaskRunnerDependencies): TaskRunner {
  const byName = new Map(
    tasks.map((task) => [task.name, task as unknown as BackgroundTask<object, string | null, unknown>]),
  );
  /** Batch sizes of the runs that were resumed: some wait for long. */
  const sizes = new Map<string, BatchSize>();
  const loop = wakeLoop(runAll, (err) => {
    if (!isOutage(err)) log.error({ err }, 'background tasks could not be resumed; it will be tried again');
  });

  async function advance(id: string, size: BatchSize): Promise<'unfinished' | 'waiting' | 'finished'> {
    const known = await findLongWork(db.reader, id);
    if (!known) return 'finished';
    const task = byName.get(known.kind);
    if (!task) return 'waiting';
    const found = await task.find?.(db.reader, known);
    const { isFinished, isWaiting } = await db.write(known.actor, (unit) =>
      size.run(
        async (limit): Promise<Batch> => {
          const run = await findLongWork(unit, id);
          // The run was deleted during the batch.
          if (!run) return { done: 0, cursor: null, isFinished: true };
          // Another instance has taken the task over since.
          if (run.cursor !== known.cursor) return { done: 0, cursor: run.cursor, isFinished: false, isWaiting: true };
          const batch = await task.step(unit, run, limit, found);
          const done = run.done + batch.done;
          if (batch.isFinished) await deleteLongWork(unit, id);
          else if (!batch.isWaiting) await advanceLongWork(unit, id, { cursor: batch.cursor, done });
          return batch;
        },
        ({ done }, limit) => done >= limit,
      ),
    );
    if (!isFinished) return isWaiting ? 'waiting' : 'unfinished';
    log.info({ work: id, kind: task.name, applicationId: known.applicationId }, 'background task finished');
    return 'finished';
  }

  /** Logs once that a run is resumed, and counts its rows. @returns its batch size. */
  async function resume(id: string): Promise<BatchSize> {
    const known = sizes.get(id);
    if (known) return known;
    const size = batchSize({ first: FIRST_BATCH, largest: LARGEST_BATCH, longMs: db.batchMs });
    sizes.set(id, size);
    const run = await findLongWork(db.reader, id);
    if (!run) return size;
    log.info({ work: id, kind: run.kind, applicationId: run.applicationId, done: run.done }, 'background task resumed');
    const task = byName.get(run.kind);
    if (!task?.count || run.total !== null) return size;
    const total = run.done + (await task.count(db.reader, run));
    await db.write(run.actor, async (unit) => setLongWorkTotal(unit, id, total));
    return size;
  }

  /** Returns the tasks that this instance holds, and renews their leases. */
  async function held(ids: readonly string[]): Promise<string[]> {
    const names = new Set(await leases.take(ids.map(leaseName)));
    return ids.filter((id) => names.has(leaseName(id)));
  }

  async function runAll(): Promise<boolean> {
    const taken = await held((await listLongWorks(db.reader)).map(({ id }) => id));
    try {
      return await runHeld(taken);
    } finally {
      await leases.release(taken.map(leaseName));
    }
  }

  /** Writes one batch of each run round-robin, so that a long task delays no short one. */
  async function runHeld(taken: readonly string[]): Promise<boolean> {
    let left = [...taken];
    let renewedAt = performance.now();
    const ended = { waiting: 0, finished: 0 };
    while (left.length > 0) {
      if (performance.now() - renewedAt >= RENEW_EVERY_MS) {
        left = await held(left);
        renewedAt = performance.now();
      }
      const unfinished: string[] = [];
      for (const id of left) {
        if (loop.isStopped()) return false;
        try {
          const outcome = await advance(id, await resume(id));
          if (outcome === 'finished') sizes.delete(id);
          if (outcome === 'unfinished') unfinished.push(id);
          else ended[outcome] += 1;
        } catch (error) {
          // The run stays where it is; the job resumes it.
          const reason = error instanceof AppError ? error.code : undefined;
          if (!isOutage(error))
            log.error({ err: error, work: id, reason }, 'a batch of a background task failed; it will be tried again');
        }
        await yieldToEventLoop();
      }
      left = unfinished;
    }
    // A waiting task may have waited for one that finished.
    return ended.finished > 0 && ended.waiting > 0;
  }

  db.onCommit(LONG_WORK_BEGUN, loop.wake);
  return { runOnce: loop.run, stop: loop.stop };
}
