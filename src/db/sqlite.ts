/**
 * The SQLite engine: one writer connection behind a first-in-first-out queue, a reader connection beside it. Changes run
 * one at a time, so what a change reads is still so when it writes, and an `await` inside one lets nobody else into it.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import type { Clock } from '../core/clock.ts';
import { AppError } from '../core/error.ts';
import { nextTurn } from '../core/turn.ts';
import type { Background } from './background.ts';
import { type Connection, createConnection } from './connection.ts';
import {
  type Author,
  CONNECTION,
  type Database,
  type DatabaseSize,
  type DatabaseStatus,
  type Topic,
  type Unit,
} from './database.ts';
import type { Durability } from './durability.ts';
import { type CountedFigures, type SlowStatements, slowStatementWatch } from './figures.ts';
import type { Changes, Remembered } from './remembered.ts';
import type { Snapshot } from './snapshot.ts';
import { openUnit, type UnitState } from './unit.ts';

/** Longest wait for another process that holds the write lock; answers stay well under the server's idle time-out. */
const LOCK_PATIENCE_MS = 8000;
const LOCK_RETRY_MS = 10;

/** What a database is made of. It is the database's from then on, which closes it. */
export interface SqliteEngine {
  /** Used by changes, and by look-ups between them; must not wait for locks (`busy_timeout = 0`). */
  readonly writer: SqliteDatabase;
  readonly reader: SqliteDatabase;
  readonly snapshotOn: (connection: SqliteDatabase, begins?: () => void) => Snapshot;
  readonly remembered: Remembered;
  readonly clock: Clock;
  readonly durability: Durability;
  readonly figures: CountedFigures;
  readonly slow?: SlowStatements;
  /** For checkpoints and long reads; null where they are made here. */
  readonly thread: Background | null;
  /** Whether the file that is open is still the one in the folder: what is written to another would be lost. */
  readonly isInPlace?: () => boolean;
  /** Whether another process folds the log, and must be let: it copies what is in it before. */
  readonly isFoldedByOthers?: () => boolean;
  /** Looks at the file and its disk. */
  readonly measure?: () => Promise<DatabaseSize>;
  /** The disk refused a change, or, with null, takes them again; told once of each. Flushes have their own word. */
  readonly onRefusal?: (error: unknown) => void;
  /** Called last, before the connections are closed. */
  readonly close?: () => void | Promise<void>;
}

/** What SQLite says where the disk is full, gone, or read-only (https://www.sqlite.org/rescode.html). */
const DISK_CODES = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)/;
const RETRY_SECONDS = 5;
const DISK_HINT = 'disk_refuses_writes';

/** Longest time for which changes are taken into one transaction, in milliseconds. */
const GROUP_MS = 3;

/** A change that waits for its turn. */
interface Change {
  readonly author: Author;
  readonly work: (unit: Unit) => Promise<unknown>;
  readonly turn: PromiseWithResolvers<{ result: unknown; state: UnitState }>;
}

type Queued = Change | { run(): Promise<void> };

/** Pages of log from which on changes wait a moment, so that the log can begin anew: 64 MiB. */
const LONG_LOG_PAGES = 16_384;

/** Until it is tried again where somebody reads for long, such as a backup: changes wait for each try. */
const RESTART_AGAIN_MS = 5000;

/** A file of the log that a burst has made as large is cut, once the log in it is short again. */
const LARGE_LOG_BYTES = 128 * 2 ** 20;

/**
 * How much of it is cut at a time: a millisecond or two of a commit, where all at once holds the loop for 50. Nobody else can do it:
 * after a TRUNCATE on another connection SQLite takes the file for a changed one, and drops the writer's mapping of it.
 */
const CUT_BYTES = 8 * 2 ** 20;

const NO_LIMIT = -1;

/** From here on the log is folded here, whoever else should: they have not for long, or do not run. */
const ABANDONED_LOG_BYTES = 512 * 2 ** 20;

/** Puts the queue of changes before the engine. */
export function createDatabase(engine: SqliteEngine): Database {
  const { writer, clock, durability, remembered, figures, isInPlace = () => true, onRefusal } = engine;
  const { isFoldedByOthers = () => false } = engine;
  const { measure = async () => ({ bytes: 0, reusableBytes: 0, freeBytes: null }) } = engine;
  const listeners = new Map<Topic<never>, ((messages: readonly never[]) => void)[]>();
  const begin = writer.prepare('BEGIN IMMEDIATE');
  const commit = writer.prepare('COMMIT');
  const rollback = writer.prepare('ROLLBACK');
  const savepoint = writer.prepare('SAVEPOINT change');
  const release = writer.prepare('RELEASE change');
  const rollbackTo = writer.prepare('ROLLBACK TO change');
  const queue: Queued[] = [];
  let changesFolded = 0;
  let restartFrom = 0;
  let logLimit = NO_LIMIT;
  let isRunning = false;
  let isClosed = false;
  let isRefusing = false;
  let isRefusalTold = false;
  let current: UnitState | null = null;
  /** From the beginning of a transaction to its end, and longer where the disk does not let it end. */
  let isChanging = false;
  /** By the open transaction. */
  const changed: Changes = { tables: new Set(), ids: new Set() };

  const ran = engine.slow && slowStatementWatch(engine.slow, figures);

  const connection: Connection = createConnection(writer, {
    ...(ran && { ran }),
    enter() {
      if (current === null) throw new Error('a unit of work was used after its end');
      current.enter();
    },
    changes: {
      begun: () => current?.begun(),
      ran: () => current?.ran(),
      touched(what) {
        if ('id' in what) changed.ids.add(what.id);
        else for (const table of what.tables) changed.tables.add(table);
      },
    },
  });
  const { thread } = engine;
  const snapshot = engine.snapshotOn(engine.reader);
  const lookUpSnapshot = engine.snapshotOn(writer, remembered.lookAround);
  const snapshots = [snapshot, lookUpSnapshot];
  // Look-ups are made where changes are: what a connection has in memory of the file, SQLite drops when another one has changed it
  // (sqlite3PagerSharedLock, https://sqlite.org/src/file/src/pager.c), and a mapping of a gigabyte is dropped and found again in
  // milliseconds. While a change is under way, they are made beside it.
  const lookUps = createConnection(writer, { enter: lookUpSnapshot.enter, remembered, ...(ran && { ran }) });
  const reading: Connection = createConnection(
    engine.reader,
    { enter: snapshot.enter, lookUps: () => (isChanging ? reading : lookUps), ...(ran && { ran }) },
    thread?.read ?? null,
  );

  /** Another process may hold the write lock: it is asked for again off the loop, and readers go on. */
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
   * Runs one change inside the open transaction, behind a savepoint: one that throws takes nothing of the others with it.
   *
   * @returns what tells its caller how it ended, once the transaction is committed or lost.
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

  /** A full disk ends the whole transaction by itself; one that fails may not even let a part of it be undone. */
  function undoChange(): void {
    if (!writer.inTransaction) return;
    try {
      rollbackTo.run();
      release.run();
    } catch {
      undoAll();
    }
  }

  /** Whatever a disk says to it: the queue must go on. */
  function undoAll(): void {
    try {
      if (writer.inTransaction) rollback.run();
    } catch {
      // The next transaction that is begun tells what the matter is.
    }
  }

  /** Takes changes for a few milliseconds into one transaction: they share its pages, its commit and its flush. */
  async function commitSome(): Promise<void> {
    const since = performance.now();
    const settle: ((failure: unknown) => void)[] = [];
    changed.tables.clear();
    changed.ids.clear();
    let failure: unknown = null;
    try {
      durability.refuseWhenBroken();
      if (!isInPlace()) throw new AppError('unavailable', { hint: 'database_gone', retryAfterSeconds: RETRY_SECONDS });
      await beginWhenFree();
      do {
        settle.push(await carryOut(queue.shift() as Change));
        if (!writer.inTransaction) throw new AppError('unavailable', { retryAfterSeconds: 1 });
      } while (queue[0] !== undefined && 'work' in queue[0] && performance.now() - since < GROUP_MS);
      const ending = performance.now();
      commit.run();
      const ended = performance.now();
      figures.commits.observe((ended - ending) / 1000);
      figures.transactions.observe((ended - since) / 1000);
      figures.changes += settle.length;
      if (isRefusing) takenAgain();
      snapshot.end();
      remembered.forget(changed);
    } catch (error) {
      failure = error;
      undoAll();
      // Where not even a transaction could be begun, the next in turn is told.
      if (settle.length === 0) (queue.shift() as Change).turn.reject(error);
    } finally {
      isChanging = writer.inTransaction;
    }
    for (const tell of settle) tell(failure);
  }

  /** Runs what is queued, a transaction a turn of the loop: a long queue must not hold everybody else. */
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

  /** Begins in the next turn of the loop, so that what many ask for at once is one transaction. */
  function queueUp(queued: Queued): void {
    queue.push(queued);
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => void drain());
  }

  /** Counts what the disk is the reason of. */
  function refused(error: unknown): unknown {
    if (error instanceof AppError && error.hint === DISK_HINT) {
      figures.refusals += 1;
      isRefusing = true;
      if (!isRefusalTold && !durability.isBroken()) {
        isRefusalTold = true;
        onRefusal?.(error.cause);
      }
    }
    return error;
  }

  function takenAgain(): void {
    isRefusing = false;
    if (!isRefusalTold) return;
    isRefusalTold = false;
    onRefusal?.(null);
  }

  /** Waits for the turn among the changes, and lets none begin meanwhile. */
  function alone(run: () => Promise<unknown>): Promise<void> {
    const turn = Promise.withResolvers<void>();
    queueUp({ run: () => run().then(() => turn.resolve(), turn.reject) });
    return turn.promise;
  }

  /** The next change that begins the log anew shortens its file to the limit. */
  function cutLog(isLong: boolean): void {
    const bytes = durability.logBytes();
    const limit = isLong || bytes <= LARGE_LOG_BYTES || isFoldedByOthers() ? NO_LIMIT : bytes - CUT_BYTES;
    if (limit === logLimit) return;
    writer.run(`PRAGMA journal_size_limit = ${limit}`);
    logLimit = limit;
  }

  return {
    engine: 'sqlite',
    reader: { [CONNECTION]: reading },
    figures,
    async write(author, work) {
      if (isClosed) throw new AppError('unavailable');
      const turn = Promise.withResolvers<{ result: unknown; state: UnitState }>();
      queueUp({ author, work, turn });
      const { result, state } = await turn.promise.catch((error: unknown) => {
        throw refused(asRefusal(error));
      });
      await durability.settled().catch((error: unknown) => {
        throw refused(error);
      });
      for (const [topic, messages] of state.news)
        for (const listener of listeners.get(topic as Topic<never>) ?? []) listener(messages as never[]);
      return result as Awaited<ReturnType<typeof work>>;
    },
    onCommit(topic, listener) {
      const known = listeners.get(topic as Topic<never>) ?? [];
      listeners.set(topic as Topic<never>, [...known, listener as (messages: readonly never[]) => void]);
    },
    status: (): DatabaseStatus => ({
      queued: queue.length,
      logBytes: durability.logBytes(),
      isWritable: !durability.isBroken() && !isClosed,
      isRefusing,
      isInPlace: isInPlace(),
    }),
    measure,
    async maintain() {
      if (!thread || isClosed || figures.changes === changesFolded) return;
      if (isFoldedByOthers() && durability.logBytes() < ABANDONED_LOG_BYTES) return;
      changesFolded = figures.changes;
      const { log } = await thread.checkpoint('PASSIVE');
      const isLong = log > LONG_LOG_PAGES;
      cutLog(isLong);
      if (!isLong || performance.now() < restartFrom) return;
      for (const each of snapshots) each.suspend();
      try {
        await alone(async () => {
          const { busy } = await thread.checkpoint('RESTART');
          if (busy !== 0) restartFrom = performance.now() + RESTART_AGAIN_MS;
        });
      } finally {
        for (const each of snapshots) each.resume();
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      while (isRunning || queue.length > 0) await Bun.sleep(1);
      await durability.settled().catch(() => {});
      for (const each of snapshots) each.suspend();
      await engine.close?.();
      await durability.close();
      engine.reader.close();
      writer.close();
    },
  };
}

/** What the disk does not take is no fault of the change, and may be taken in a moment. */
function asRefusal(error: unknown): unknown {
  const code = String((error as { code?: unknown } | null)?.code);
  if (!DISK_CODES.test(code)) return error;
  return new AppError('unavailable', { hint: DISK_HINT, retryAfterSeconds: RETRY_SECONDS, cause: error });
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}
