/**
 * Long work: a switch takes effect at once because verdicts read it; its trail (rows, events, mails) is written in slices of
 * a few milliseconds, in turn with everybody else's changes, and goes on where it stood after a crash. The first slice is
 * part of the switch, so that what is small is done when the answer comes.
 */
import type { Logger } from 'pino';
import { AppError } from '../core/error.ts';
import { nextTurn } from '../core/turn.ts';
import type { Database, Reader, Unit } from '../db/database.ts';
import { isOutage } from '../db/engine-error.ts';
import {
  advanceLongWork,
  deleteLongWork,
  findLongWork,
  insertLongWork,
  listLongWorks,
  LONG_WORK_BEGUN,
  setLongWorkTotal,
} from '../store/long-works.ts';

/** What one slice did. */
export interface Slice {
  readonly done: number;
  /** Where the next slice begins; what it means is the kind's affair. */
  readonly cursor: string | null;
  readonly isFinished: boolean;
  /** Nothing can be done for now, as while an application is not in service; the job asks again later. */
  readonly isWaiting?: boolean;
}

/** What a step is given of the work it belongs to. */
export interface Task<Data, Whose extends string | null = string | null> {
  /** Null where it is not of one application. */
  readonly applicationId: Whose;
  readonly data: Data;
  readonly cursor: string | null;
}

/** One kind of trail. `Whose` is `string` for a kind that is always of one application. */
export interface LongWorkKind<Data extends object = object, Whose extends string | null = string | null> {
  readonly name: string;
  /** Writes about `limit` rows of the trail. Repeated slices must not repeat rows: the cursor and the row say what is left. */
  step(unit: Unit, task: Task<Data, Whose>, limit: number): Promise<Slice>;
  /** How many rows there are in all; a long read. */
  count?(reader: Reader, task: Task<Data, Whose>): Promise<number>;
}

/** Carries all works on, a slice of each in turn. */
export interface LongWorkRunner {
  /** Writes every trail to its end; calls while it runs join the run. */
  runOnce(): Promise<void>;
  /** Waits for the slice under way; what is left is left to the next start. */
  stop(): Promise<void>;
}

/** Rows of the slice that is part of the switch. */
export const FIRST_SLICE = 25;
const LARGEST_SLICE = 2000;
const SMALLEST_SLICE = 10;
/** What writing a slice should take, in milliseconds, the commit apart; half as many rows in the next one above the second. */
const GOOD_SLICE_MS = 2;
const LONG_SLICE_MS = 4;

/**
 * Begins a trail in the change that makes the switch. The unit's actor stays its actor.
 *
 * @returns how many rows the first slice has written.
 */
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

/** Takes up what is begun as soon as that is durable. A work of an unknown kind is left for a newer version. */
export function longWorkRunner({ db, log, kinds }: LongWorkDependencies): LongWorkRunner {
  const byName = new Map(kinds.map((kind) => [kind.name, kind as unknown as LongWorkKind]));
  /** Rows a slice of each work under way should hold, learnt from how long the last one took. */
  const sizes = new Map<string, number>();
  /** Works that are in the log, once each: some wait for long. */
  const announced = new Set<string>();
  let isStopped = false;
  let running: Promise<void> | undefined;
  let isWanted = false;

  /** Does one slice. */
  async function advance(id: string): Promise<'unfinished' | 'waiting' | 'finished'> {
    const known = await findLongWork(db.reader, id);
    const kind = known && byName.get(known.kind);
    if (!known) return 'finished';
    // Of a newer version of the product.
    if (!kind) return 'waiting';
    const limit = sizes.get(id) ?? FIRST_SLICE;
    const { slice, tookMs } = await db.write(known.actor, async (unit) => {
      const began = performance.now();
      const work = await findLongWork(unit, id);
      // Given up meanwhile.
      if (!work) return { slice: { done: 0, cursor: null, isFinished: true, isWaiting: false }, tookMs: 0 };
      const slice = await kind.step(unit, work, limit);
      const done = work.done + slice.done;
      if (slice.isFinished) await deleteLongWork(unit, id);
      else if (!slice.isWaiting) await advanceLongWork(unit, id, { cursor: slice.cursor, done });
      return { slice, tookMs: performance.now() - began };
    });
    if (tookMs > LONG_SLICE_MS) sizes.set(id, Math.max(SMALLEST_SLICE, Math.floor(limit / 2)));
    // A slice that was not full says nothing of how long a full one takes.
    else if (tookMs < GOOD_SLICE_MS && slice.done >= limit) sizes.set(id, Math.min(LARGEST_SLICE, limit * 2));
    if (slice.isFinished) {
      sizes.delete(id);
      announced.delete(id);
      log.info({ work: id, kind: kind.name, applicationId: known.applicationId }, 'long work is done');
    }
    if (slice.isFinished) return 'finished';
    return slice.isWaiting ? 'waiting' : 'unfinished';
  }

  /** Says in the log that a work is taken up, and counts it, once each. */
  async function announce(id: string): Promise<void> {
    if (announced.has(id)) return;
    announced.add(id);
    const work = await findLongWork(db.reader, id);
    if (!work) return;
    log.info({ work: id, kind: work.kind, applicationId: work.applicationId, done: work.done }, 'long work goes on');
    const kind = byName.get(work.kind);
    if (!kind?.count || work.total !== null) return;
    const total = work.done + (await kind.count(db.reader, work));
    await db.write(work.actor, async (unit) => setLongWorkTotal(unit, id, total));
  }

  /** A slice of each in turn, so that a long trail holds up no short one. */
  async function drain(): Promise<void> {
    let left = (await listLongWorks(db.reader)).map(({ id }) => id);
    const ended = { waiting: 0, finished: 0 };
    while (left.length > 0 && !isStopped) {
      const unfinished: string[] = [];
      for (const id of left) {
        if (isStopped) return;
        try {
          await announce(id);
          const outcome = await advance(id);
          if (outcome === 'unfinished') unfinished.push(id);
          else ended[outcome] += 1;
        } catch (error) {
          // Left where it stands, and taken up again by the job.
          const reason = error instanceof AppError ? error.code : undefined;
          if (!isOutage(error))
            log.error({ err: error, work: id, reason }, 'a slice of long work failed; it will be tried again');
        }
        await nextTurn();
      }
      left = unfinished;
    }
    // What was finished may be what another waited for.
    if (ended.finished > 0 && ended.waiting > 0) isWanted = true;
  }

  const runner: LongWorkRunner = {
    async runOnce() {
      isWanted = true;
      // Work begun while a run is ending must not wait for the next tick.
      running ??= (async () => {
        try {
          while (isWanted && !isStopped) {
            isWanted = false;
            await drain();
          }
        } finally {
          running = undefined;
        }
      })();
      await running;
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
  db.onCommit(LONG_WORK_BEGUN, () => {
    runner.runOnce().catch((err: unknown) => {
      if (!isOutage(err)) log.error({ err }, 'long work could not be taken up; it will be tried again');
    });
  });
  return runner;
}
