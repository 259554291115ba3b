/**
 * Queue of changes: runs them one at a time in the order of the calls, and commits those of a few milliseconds in one
 * transaction, whose pages, commit and flush they share.
 */
import type { Deadline } from '../../core/deadline.ts';
import { AppError } from '../../core/error.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Connection } from '../connection.ts';
import type { Author, Unit } from '../database.ts';
import type { Changes } from '../query-cache.ts';
import { type Committed, openUnit, type UnitState } from '../unit.ts';
import { createConnection } from './connection.ts';
import { lossRefusal } from './open-files.ts';
import type { EngineParts } from './parts.ts';
import type { WriteTransaction } from './transaction.ts';

export type WriteQueue = ReturnType<typeof writeQueue>;

/** Longest time for which changes are grouped into one transaction, in milliseconds. */
const GROUP_MS = 3;

interface Change {
  readonly author: Author;
  readonly work: (unit: Unit) => Promise<unknown>;
  readonly done: PromiseWithResolvers<Committed<unknown>>;
}

type Queued = Change | { run(): Promise<void> };

export interface CommitHooks {
  /** Called before each commit. */
  committing(): void;
  /** Called after a commit, before its callers are answered. */
  committed(changes: Changes): void;
  /** Called after a commit that failed. */
  failed(): void;
}

export function writeQueue(parts: EngineParts, transaction: WriteTransaction, hooks: CommitHooks) {
  const { writer, clock, metrics, durability, files, onStatement } = parts;
  const queue: Queued[] = [];
  /** Changes of the open transaction. */
  const changes: Changes = { tables: new Set(), ids: new Set() };
  let isRunning = false;
  let current: UnitState | null = null;

  const connection: Connection = createConnection(writer, {
    onStatement,
    enter() {
      if (current === null) throw new Error('a unit of work was used after its end');
      current.enter();
    },
    changes: {
      built: () => current?.built(),
      executed: () => current?.executed(),
      changed(rows) {
        if ('ids' in rows) for (const id of rows.ids) changes.ids.add(id);
        else for (const table of rows.tables) changes.tables.add(table);
      },
    },
  });

  /**
   * Runs one change behind a savepoint, so that its failure does not affect the others in the transaction.
   *
   * @returns settles the caller's promise, once the transaction is committed or lost.
   */
  async function carryOut({ author, work, done }: Change): Promise<(failure: unknown) => void> {
    const state = openUnit(connection, author, clock.now());
    current = state;
    try {
      const result = await transaction.part(() =>
        state.finish(async (unit) => {
          await author.confirm?.(unit);
          return work(unit);
        }),
      );
      const { messages } = state;
      return (failure) => (failure === null ? done.resolve({ result, messages }) : done.reject(failure));
    } catch (error) {
      return () => done.reject(error);
    } finally {
      current = null;
      state.end();
    }
  }

  function commit(): void {
    hooks.committing();
    try {
      transaction.commit();
    } catch (error) {
      hooks.failed();
      throw error;
    }
  }

  async function commitGroup(): Promise<void> {
    const since = performance.now();
    const settle: ((failure: unknown) => void)[] = [];
    changes.tables.clear();
    changes.ids.clear();
    let failure: unknown = null;
    try {
      durability.refuseWhenBroken();
      const loss = files.loss();
      if (loss !== null) throw lossRefusal(loss);
      await transaction.begin();
      do {
        settle.push(await carryOut(queue.shift() as Change));
        if (!transaction.isActive()) throw new AppError('unavailable', { retryAfterSeconds: 1 });
      } while (queue[0] !== undefined && 'work' in queue[0] && performance.now() - since < GROUP_MS);
      const ending = performance.now();
      commit();
      const ended = performance.now();
      metrics.commits.observe((ended - ending) / 1000);
      metrics.transactions.observe((ended - since) / 1000);
      metrics.changes += settle.length;
      hooks.committed(changes);
    } catch (error) {
      failure = error;
      transaction.rollback();
      // Where no transaction could begin, the next change in the queue is rejected.
      if (settle.length === 0) (queue.shift() as Change).done.reject(error);
    }
    for (const answer of settle) answer(failure);
  }

  /** Runs one transaction per turn of the event loop, so that a long queue does not block everything else. */
  async function drain(): Promise<void> {
    while (queue[0] !== undefined) {
      const next = queue[0];
      if ('work' in next) await commitGroup();
      else {
        queue.shift();
        await next.run();
      }
      if (queue.length > 0) await yieldToEventLoop();
    }
    isRunning = false;
  }

  /** Starts in the next turn of the event loop, so that simultaneous changes share a transaction. */
  function enqueue(queued: Queued): void {
    queue.push(queued);
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => void drain());
  }

  return {
    /** Runs a change after those queued before it. Resolves once it is committed, which may be before it is durable. */
    async commit<Result>(author: Author, work: (unit: Unit) => Promise<Result>) {
      const done = Promise.withResolvers<Committed<unknown>>();
      enqueue({ author, work, done });
      return (await done.promise) as Committed<Result>;
    },
    /** Runs a function after the changes queued before it, while no change runs. */
    alone(run: () => Promise<unknown>): Promise<void> {
      const done = Promise.withResolvers<void>();
      enqueue({ run: () => run().then(() => done.resolve(), done.reject) });
      return done.promise;
    },
    length: () => queue.length,
    /** Waits by the deadline until nothing is queued or running. */
    async idle(deadline: Deadline): Promise<void> {
      while ((isRunning || queue.length > 0) && deadline.remainingMs() > 0) await Bun.sleep(1);
    },
  };
}
