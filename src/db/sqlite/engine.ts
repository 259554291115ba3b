/**
 * SQLite engine: one writer connection behind a first-in-first-out queue, and a reader. Changes run one at a time, so
 * what a change reads is still true when it writes, and an `await` inside lets no other change in.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import { NO_DEADLINE, waitUntil } from '../../core/deadline.ts';
import { AppError } from '../../core/error.ts';
import { nextTurn } from '../../core/turn.ts';
import type { DatabaseWorker } from './worker-client.ts';
import { type Connection, createConnection } from './connection.ts';
import {
  type Author,
  CONNECTION,
  type Database,
  type DatabaseSize,
  type DatabaseStatus,
  type Topic,
  type Unit,
} from '../database.ts';
import type { Durability } from './durability.ts';
import { type MutableMetrics, type SlowStatements, slowStatementMonitor } from '../metrics.ts';
import { walMaintenance } from './wal-maintenance.ts';
import { type FileLoss, lossRefusal, type OpenFiles } from './open-files.ts';
import { asDiskError, isDiskError, type DiskHealthOptions, diskHealth } from './disk-health.ts';
import type { Changes, QueryCache } from '../query-cache.ts';
import type { Snapshot } from './snapshot.ts';
import { openUnit, type UnitState } from '../unit.ts';

/** Longest wait for another process that holds the write lock; answers stay well under the server's idle time-out. */
const LOCK_PATIENCE_MS = 8000;
const LOCK_RETRY_MS = 10;

/** Parts of a database, which takes them over and closes them. */
export interface SqliteEngine {
  /** Used by changes, and by lookups between them; must not wait for locks (`busy_timeout = 0`). */
  readonly writer: SqliteDatabase;
  readonly reader: SqliteDatabase;
  readonly snapshotOn: (connection: SqliteDatabase, begins?: () => void) => Snapshot;
  readonly remembered: QueryCache;
  readonly clock: Clock;
  readonly durability: Durability;
  readonly metrics: MutableMetrics;
  readonly slow?: SlowStatements;
  /** For checkpoints and long reads; null where this thread does them. */
  readonly thread: DatabaseWorker | null;
  readonly files: OpenFiles;
  /** Whether another process must checkpoint the log, which it copies before. */
  readonly isCheckpointedByOthers?: () => boolean;
  readonly measure?: () => Promise<DatabaseSize>;
  /** Called with the error when the disk begins to refuse changes, and with null when it takes them again. */
  readonly onRefusal?: DiskHealthOptions['onChange'];
  /** Writes this many KiB in a change and leaves no row. */
  readonly probe?: (unit: Unit, kibibytes: number) => Promise<void>;
  /** Damage found before the file was opened, in a sentence. */
  readonly damage?: string | null;
  /** Checks the whole file. @returns problems in SQLite's words. */
  readonly check?: () => Promise<readonly string[]>;
  /**
   * Called when an open file's name leads elsewhere. @param isKept whether all acknowledged data is in the database
   * file.
   */
  readonly onLoss?: (loss: FileLoss, isKept: boolean) => void;
  /** Called where closing leaves frames in the log, with the failure, or with null where the time was over. */
  readonly onWalLeft?: (error: unknown) => void;
}

/** Longest time for which changes are grouped into one transaction, in milliseconds. */
const GROUP_MS = 3;

interface Change {
  readonly author: Author;
  readonly work: (unit: Unit) => Promise<unknown>;
  readonly turn: PromiseWithResolvers<{ result: unknown; state: UnitState }>;
}

type Queued = Change | { run(): Promise<void> };

export function createDatabase(engine: SqliteEngine): Database {
  const { writer, clock, durability, remembered, metrics, files } = engine;
  const { isCheckpointedByOthers = () => false, probe = async () => {} } = engine;
  const { onRefusal = () => {}, onLoss = () => {}, onWalLeft = () => {} } = engine;
  const { measure = async () => ({ bytes: 0, reusableBytes: 0, freeBytes: null }) } = engine;
  const listeners = new Map<Topic<never>, ((messages: readonly never[]) => void)[]>();
  const begin = writer.prepare('BEGIN IMMEDIATE');
  const commit = writer.prepare('COMMIT');
  const rollback = writer.prepare('ROLLBACK');
  const savepoint = writer.prepare('SAVEPOINT change');
  const release = writer.prepare('RELEASE change');
  const rollbackTo = writer.prepare('ROLLBACK TO change');
  const queue: Queued[] = [];
  let isRunning = false;
  let isClosed = false;
  let damage = engine.damage ?? null;
  let current: UnitState | null = null;
  /** Whether a transaction is open, even one that the disk does not let end. */
  let isChanging = false;
  /** Changes of the open transaction. */
  const changed: Changes = { tables: new Set(), ids: new Set() };

  const refusals = diskHealth({
    probe: (kibibytes) => commitDurably(SYSTEM_ACTOR, (unit) => probe(unit, kibibytes)).then(() => {}),
    onChange: onRefusal,
  });

  const ran = engine.slow && slowStatementMonitor(engine.slow, metrics);

  const connection: Connection = createConnection(writer, {
    ...(ran && { ran }),
    enter() {
      if (current === null) throw new Error('a unit of work was used after its end');
      current.enter();
    },
    changes: {
      begun: () => current?.built(),
      ran: () => current?.executed(),
      touched(what) {
        if ('id' in what) changed.ids.add(what.id);
        else for (const table of what.tables) changed.tables.add(table);
      },
    },
  });
  const { thread } = engine;
  const snapshot = engine.snapshotOn(engine.reader);
  const lookUpSnapshot = engine.snapshotOn(writer, remembered.invalidateIfChangedElsewhere);
  const snapshots = [snapshot, lookUpSnapshot];
  // Lookups run on the writer, and on the reader only during a change: SQLite drops a connection's cache when another
  // one has changed the file (sqlite3PagerSharedLock, https://sqlite.org/src/file/src/pager.c), and remapping a
  // gigabyte takes milliseconds.
  const lookUps = createConnection(writer, { enter: lookUpSnapshot.enter, remembered, ...(ran && { ran }) });
  const reading: Connection = createConnection(
    engine.reader,
    { enter: snapshot.enter, lookUps: () => (isChanging ? reading : lookUps), ...(ran && { ran }) },
    thread?.read ?? null,
  );

  /** Retries off the event loop while another process holds the write lock; readers go on. */
  async function beginWhenFree(): Promise<void> {
    const since = performance.now();
    for (;;) {
      try {
        lookUpSnapshot.end();
        begin.run();
        isChanging = true;
        return;
      } catch (cause) {
        if (!isBusy(cause)) throw cause;
        if (performance.now() - since > LOCK_PATIENCE_MS)
          throw new AppError('unavailable', { hint: 'database_in_use', retryAfterSeconds: 1, cause });
        await Bun.sleep(LOCK_RETRY_MS);
      }
    }
  }

  /**
   * Runs one change behind a savepoint, so that its failure does not affect the others in the transaction.
   *
   * @returns settles the caller's promise, once the transaction is committed or lost.
   */
  async function carryOut({ author, work, turn }: Change): Promise<(failure: unknown) => void> {
    const state = openUnit(connection, author, clock.now());
    current = state;
    try {
      savepoint.run();
      const result = await state.finish(async (unit) => {
        await author.confirm?.(unit);
        return work(unit);
      });
      release.run();
      return (failure) => (failure === null ? turn.resolve({ result, state }) : turn.reject(failure));
    } catch (error) {
      undoChange();
      return () => turn.reject(error);
    } finally {
      current = null;
      state.end();
    }
  }

  /** Rolls back one change. A full disk ends the whole transaction; a failing one may prevent a partial rollback. */
  function undoChange(): void {
    if (!writer.inTransaction) return;
    try {
      rollbackTo.run();
      release.run();
    } catch {
      undoAll();
    }
  }

  /** Never throws: the queue must go on. */
  function undoAll(): void {
    try {
      if (writer.inTransaction) rollback.run();
    } catch {
      // The next BEGIN reports the problem.
    }
  }

  /** Groups the changes of a few milliseconds into one transaction: they share its pages, commit and flush. */
  async function commitSome(): Promise<void> {
    const since = performance.now();
    const settle: ((failure: unknown) => void)[] = [];
    changed.tables.clear();
    changed.ids.clear();
    let failure: unknown = null;
    try {
      durability.refuseWhenBroken();
      const loss = files.loss();
      if (loss !== null) throw lossRefusal(loss);
      await beginWhenFree();
      do {
        settle.push(await carryOut(queue.shift() as Change));
        if (!writer.inTransaction) throw new AppError('unavailable', { retryAfterSeconds: 1 });
      } while (queue[0] !== undefined && 'work' in queue[0] && performance.now() - since < GROUP_MS);
      const ending = performance.now();
      commit.run();
      const ended = performance.now();
      metrics.commits.observe((ended - ending) / 1000);
      metrics.transactions.observe((ended - since) / 1000);
      metrics.changes += settle.length;
      snapshot.end();
      remembered.invalidate(changed);
    } catch (error) {
      failure = error;
      undoAll();
      // Where no transaction could begin, the next change in the queue is rejected.
      if (settle.length === 0) (queue.shift() as Change).turn.reject(error);
    } finally {
      isChanging = writer.inTransaction;
    }
    for (const tell of settle) tell(failure);
  }

  /** Runs one transaction per turn of the event loop, so that a long queue does not block everything else. */
  async function drain(): Promise<void> {
    while (queue[0] !== undefined) {
      const next = queue[0];
      if ('work' in next) await commitSome();
      else {
        queue.shift();
        await next.run();
      }
      if (queue.length > 0) await nextTurn();
    }
    isRunning = false;
  }

  /** Starts in the next turn of the event loop, so that simultaneous changes share a transaction. */
  function queueUp(queued: Queued): void {
    queue.push(queued);
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => void drain());
  }

  async function commitDurably<Result>(author: Author, work: (unit: Unit) => Promise<Result>) {
    if (isClosed) throw new AppError('unavailable');
    const turn = Promise.withResolvers<{ result: unknown; state: UnitState }>();
    queueUp({ author, work, turn });
    const { result, state } = await turn.promise;
    await durability.settled();
    return { result: result as Awaited<Result>, state };
  }

  /** Counts refusals of the disk. @returns the failure as callers see it. */
  function refused(error: unknown): unknown {
    const refusal = refusals.record(error);
    if (isDiskError(refusal)) metrics.refusals += 1;
    return refusal;
  }

  function trouble(): DatabaseStatus['outage'] {
    const loss = files.check();
    if (loss !== null) return loss;
    if (isClosed) return 'database_not_writable';
    return durability.isBroken() || refusals.isRefusing() ? 'disk_refuses_writes' : null;
  }

  /** Runs something in the queue, with no change under way. */
  function alone(run: () => Promise<unknown>): Promise<void> {
    const turn = Promise.withResolvers<void>();
    queueUp({ run: () => run().then(() => turn.resolve(), turn.reject) });
    return turn.promise;
  }

  const log = walMaintenance({
    writer,
    thread,
    snapshots,
    files,
    alone,
    logBytes: durability.logBytes,
    isCheckpointedByOthers,
    onWalLeft,
  });
  const lossHandled = files.lost.then(async (loss) =>
    onLoss(loss, loss !== 'database_log_gone' || (await log.rescue())),
  );

  return {
    engine: 'sqlite',
    reader: { [CONNECTION]: reading },
    metrics,
    async write(author, work) {
      const { result, state } = await commitDurably(author, work).catch((error: unknown) => {
        throw refused(error);
      });
      void refusals.probeWhileRefusing();
      for (const [topic, messages] of state.messages)
        for (const listener of listeners.get(topic as Topic<never>) ?? []) listener(messages as never[]);
      return result;
    },
    onCommit(topic, listener) {
      const known = listeners.get(topic as Topic<never>) ?? [];
      listeners.set(topic as Topic<never>, [...known, listener as (messages: readonly never[]) => void]);
    },
    status: (): DatabaseStatus => ({
      queued: queue.length,
      logBytes: durability.logBytes(),
      outage: trouble(),
      damage,
    }),
    probeDisk: refusals.probeWhileRefusing,
    measure,
    async checkIntegrity() {
      const problems = (await engine.check?.()) ?? [];
      if (problems.length > 0) damage = `The database is damaged: ${problems.join('; ')}.`;
      return problems;
    },
    async maintain() {
      await refusals.probeWhileRefusing();
      if (isClosed) return;
      await log.maintain(metrics.changes).catch((error: unknown) => {
        throw asDiskError(error);
      });
    },
    async close(deadline = NO_DEADLINE) {
      if (isClosed) return;
      isClosed = true;
      while ((isRunning || queue.length > 0) && deadline.remainingMs() > 0) await Bun.sleep(1);
      await waitUntil(
        deadline,
        durability.settled().catch(() => {}),
      );
      const isLost = files.check() !== null;
      await (isLost ? waitUntil(deadline, lossHandled) : log.finish(deadline));
      files.close();
      await durability.close();
      // SQLite deletes the log by its name as it closes. Once lost, that name may lead to the log of another process.
      if (isLost) return;
      engine.reader.close();
      writer.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}
