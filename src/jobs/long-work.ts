/**
 * Background tasks: a state change takes effect at once because verification reads it; the resulting rows, events and
 * mails are written in batches of a few milliseconds between other changes, and resume after a crash. The first batch
 * is part of the state change, so that a small task is done when the answer comes.
 */
import type { Logger } from 'pino';
import { type BatchSize, batchSize } from '../core/batches.ts';
import { AppError } from '../core/error.ts';
import { nextTurn } from '../core/turn.ts';
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

/** The result of one batch. */
export interface Slice {
  readonly done: number;
  /** Start of the next batch; each kind defines its meaning. */
  readonly cursor: string | null;
  readonly isFinished: boolean;
  /** True if nothing can be done for now, as while an application is not in service; the job tries again later. */
  readonly isWaiting?: boolean;
}

/** A background task, as a step receives it. */
export interface Task<Data, Whose extends string | null = string | null> {
  /** Null if the task does not belong to one application. */
  readonly applicationId: Whose;
  readonly data: Data;
  readonly cursor: string | null;
}

/** One kind of background task. `Whose` is `string` for a kind that always belongs to one application. */
export interface LongWorkKind<Data extends object = object, Whose extends string | null = string | null> {
  readonly name: string;
  /** Writes about `limit` rows. Repeated batches must not repeat rows: cursor and row say what is left. */
  step(unit: Unit, task: Task<Data, Whose>, limit: number): Promise<Slice>;
  /** Counts all rows of the task; a long read. */
  count?(reader: Reader, task: Task<Data, Whose>): Promise<number>;
}

/** Runs all background tasks, one batch of each in turn. */
export interface LongWorkRunner {
  /** Runs every task to its end; calls during a run join it. */
  runOnce(): Promise<void>;
  /** Waits for the current batch; the rest is left to the next start. */
  stop(): Promise<void>;
}

/** Rows of the batch that is part of the state change. */
export const FIRST_SLICE = 25;
const LARGEST_SLICE = 2000;

/** Begins a background task in the state change, as its actor. @returns rows written by the first batch. */
export async function beginLongWork<Data extends object, Whose extends string | null>(
  unit: Unit,
  kind: LongWorkKind<Data, Whose>,
  { applicationId, data }: Pick<Task<Data, Whose>, 'applicationId' | 'data'>,
): Promise<number> {
  const { done, cursor, isFinished } = await kind.step(unit, { applicationId, data, cursor: null }, FIRST_SLICE);
  if (!isFinished) await insertLongWork(unit, { kind: kind.name, applicationId, data, cursor, done });
  return done;
}

export interface LongWorkDependencies {
  readonly db: Database;
  readonly log: Logger;
  readonly kinds: readonly LongWorkKind<never>[];
}

/** Starts a task as soon as it is durable. Tasks of an unknown kind are left for a newer version. */
export function longWorkRunner({ db, log, kinds }: LongWorkDependencies): LongWorkRunner {
  const byName = new Map(kinds.map((kind) => [kind.name, kind as unknown as LongWorkKind]));
  /** Batch sizes of the running tasks. */
  const sizes = new Map<string, BatchSize>();
  /** Tasks that were logged already: some wait for long. */
  const announced = new Set<string>();
  const loop = wakeLoop(drain, (err) => {
    if (!isOutage(err)) log.error({ err }, 'background tasks could not be resumed; it will be tried again');
  });

  async function advance(id: string): Promise<'unfinished' | 'waiting' | 'finished'> {
    const known = await findLongWork(db.reader, id);
    const kind = known && byName.get(known.kind);
    if (!known) return 'finished';
    // The kind belongs to a newer version of the product.
    if (!kind) return 'waiting';
    const size = sizes.get(id) ?? batchSize(FIRST_SLICE, LARGEST_SLICE);
    sizes.set(id, size);
    const step = async (unit: Unit, limit: number): Promise<Slice> => {
      const work = await findLongWork(unit, id);
      // The task was deleted meanwhile.
      if (!work) return { done: 0, cursor: null, isFinished: true };
      const slice = await kind.step(unit, work, limit);
      const done = work.done + slice.done;
      if (slice.isFinished) await deleteLongWork(unit, id);
      else if (!slice.isWaiting) await advanceLongWork(unit, id, { cursor: slice.cursor, done });
      return slice;
    };
    const slice = await db.write(known.actor, (unit) =>
      size.run(
        (limit) => step(unit, limit),
        ({ done }, limit) => done >= limit,
      ),
    );
    if (!slice.isFinished) return slice.isWaiting ? 'waiting' : 'unfinished';
    sizes.delete(id);
    announced.delete(id);
    log.info({ work: id, kind: kind.name, applicationId: known.applicationId }, 'background task finished');
    return 'finished';
  }

  /** Logs that a task is taken up, and counts its rows, once each. */
  async function announce(id: string): Promise<void> {
    if (announced.has(id)) return;
    announced.add(id);
    const work = await findLongWork(db.reader, id);
    if (!work) return;
    log.info(
      { work: id, kind: work.kind, applicationId: work.applicationId, done: work.done },
      'background task resumed',
    );
    const kind = byName.get(work.kind);
    if (!kind?.count || work.total !== null) return;
    const total = work.done + (await kind.count(db.reader, work));
    await db.write(work.actor, async (unit) => setLongWorkTotal(unit, id, total));
  }

  /** Runs one batch of each task in turn, so that a long task delays no short one. */
  async function drain(): Promise<boolean> {
    let left = (await listLongWorks(db.reader)).map(({ id }) => id);
    const ended = { waiting: 0, finished: 0 };
    while (left.length > 0 && !loop.isStopped()) {
      const unfinished: string[] = [];
      for (const id of left) {
        if (loop.isStopped()) return false;
        try {
          await announce(id);
          const outcome = await advance(id);
          if (outcome === 'unfinished') unfinished.push(id);
          else ended[outcome] += 1;
        } catch (error) {
          // The task stays where it is; the job takes it up again.
          const reason = error instanceof AppError ? error.code : undefined;
          if (!isOutage(error))
            log.error({ err: error, work: id, reason }, 'a batch of a background task failed; it will be tried again');
        }
        await nextTurn();
      }
      left = unfinished;
    }
    // A waiting task may have waited for one that finished.
    return ended.finished > 0 && ended.waiting > 0;
  }

  db.onCommit(LONG_WORK_BEGUN, loop.wake);
  return { runOnce: loop.run, stop: loop.stop };
}
