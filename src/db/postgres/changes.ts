/**
 * Changes in PostgreSQL. Each is a transaction of its own, `SERIALIZABLE` unless no verdict rests on it; one that fails
 * because of concurrent ones runs again.
 */
import type { Clock } from '../../core/clock.ts';
import { type Deadline, deadlineIn } from '../../core/deadline.ts';
import { AppError } from '../../core/error.ts';
import { pool as slotPool } from '../../core/pool.ts';
import type { Random } from '../../core/random.ts';
import type { Author, Unit, WriteOptions } from '../database.ts';
import { isUniqueViolation } from '../errors.ts';
import type { MutableMetrics } from '../metrics.ts';
import { type Committed, NeedsSerializable, openUnit, type UnitState } from '../unit.ts';
import { LOCAL_SETTINGS } from './clients.ts';
import { postgresConnection, type Statements } from './connection.ts';
import type { Run } from './driver.ts';
import { busy, isAway, isConflict, translated } from './errors.ts';
import { type Pipeline, pipelineOn } from './pipeline.ts';
import type { PostgresPool } from './pool.ts';
import { retryGate } from './retry-gate.ts';

export interface ChangeParts {
  readonly pool: PostgresPool;
  readonly statements: Statements;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MutableMetrics;
  /** Wraps each run of statements, such as to time them. */
  readonly observed: (run: Run) => Run;
  /** Behind PgBouncer, where no connection keeps its settings. */
  readonly isBouncer: boolean;
}

/** Longest time of a change, all of its runs included, and the part of it that a further run may begin in. */
const LONGEST_MS = 8000;
const PATIENCE_MS = 5000;
const FIRST_WAIT_MS = 4;
const LONGEST_WAIT_MS = 250;

/** Runs of a change that fails on a unique value: two that add the same row at once fail so, rather than as a conflict. */
const UNIQUE_RUNS = 3;

/** Locks a name until the end of the transaction. Each statement after it sees what its earlier holders have committed. */
function lockOf(name: string): string {
  const key = new DataView(new Bun.CryptoHasher('sha256').update(name).digest().buffer).getBigInt64(0);
  return `SELECT pg_advisory_xact_lock(${key})`;
}

function isSerializableBy({ isolation = 'serializable' }: WriteOptions): boolean {
  return isolation === 'serializable';
}

function beginOf(options: WriteOptions): string {
  const { isDurable = false } = options;
  if (isSerializableBy(options)) return 'BEGIN ISOLATION LEVEL SERIALIZABLE';
  const begin = 'BEGIN ISOLATION LEVEL READ COMMITTED';
  return isDurable ? begin : `${begin}; SET LOCAL synchronous_commit = off`;
}

export function postgresChanges({ pool, statements, clock, random, metrics, observed, isBouncer }: ChangeParts) {
  /** Runs the work once. */
  async function runOnce<Result>(
    author: Author,
    work: (unit: Unit) => Promise<Result>,
    options: WriteOptions,
    deadline: Deadline,
  ): Promise<Committed<Result>> {
    const since = performance.now();
    let workedUntil = since;
    const { lock } = options;
    const beginning = [
      beginOf(options),
      ...(isBouncer ? [LOCAL_SETTINGS] : []),
      ...(lock === undefined || isSerializableBy(options) ? [] : [lockOf(lock)]),
    ];
    let pipeline: Pipeline | undefined;
    const transacted = pool.transaction(
      beginning.join('; '),
      async (transaction) => {
        pipeline = pipelineOn(observed(transaction));
        let state: UnitState | null = null;
        const connection = postgresConnection({
          run: pipeline.run,
          enter: () => state?.enter(),
          statements,
          savepoint: pipeline.savepoint,
          pipelined: pipeline.pipelined,
        });
        const isSerializable = isSerializableBy(options);
        state = openUnit(connection, author, clock.now(), { isAnsweredAtOnce: false, isSerializable });
        try {
          const result = await state.finish(async (unit) => {
            await author.confirm?.(unit);
            return work(unit);
          });
          if (!pipeline.isIdle()) throw new Error('a unit of work ended before all of it was awaited');
          return { result, messages: state.messages };
        } finally {
          state.end();
          workedUntil = performance.now();
        }
      },
      deadline,
    );
    const committed = await transacted.catch((error: unknown) => {
      const failure = pipeline?.failure() ?? null;
      // With a lost connection, `error` may say more: that the outcome of the commit is not known.
      throw failure !== null && !isAway(failure) ? failure : error;
    });
    const ended = performance.now();
    metrics.commits.observe((ended - workedUntil) / 1000);
    metrics.transactions.observe((ended - since) / 1000);
    metrics.changes += 1;
    return committed;
  }

  const gate = retryGate(PATIENCE_MS);
  /** Serializable changes by their lock. */
  const named = slotPool({ perKey: 1, waitMs: PATIENCE_MS, refusal: busy });

  /** Runs the work until it is committed. */
  async function runUntilCommitted<Result>(
    author: Author,
    work: (unit: Unit) => Promise<Result>,
    options: WriteOptions,
    deadline: Deadline,
  ): Promise<Committed<Result>> {
    let uniqueRuns = 0;
    const run = () => runOnce(author, work, options, deadline);
    for (let wait = 0; ; wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS + wait * 2)) {
      try {
        const pause = () => Bun.sleep(wait * (0.5 + random.fraction()));
        if (wait > 0) return await gate.again(deadline, pause, run);
        if (isSerializableBy(options)) await gate.pass(deadline);
        return await run();
      } catch (error) {
        // An `AppError` is an outage that lasts, or a commit whose outcome is unknown: neither may run again.
        const isLostBefore = isAway(error) && !(error instanceof AppError);
        const isTaken = isUniqueViolation(error) && (uniqueRuns += 1) < UNIQUE_RUNS;
        if (!isConflict(error) && !isLostBefore && !isTaken) throw translated(error);
        if (deadline.remainingMs() < LONGEST_MS - PATIENCE_MS)
          throw isConflict(error) ? busy(error) : translated(error);
        if (!isLostBefore) metrics.conflicts += 1;
      }
    }
  }

  return async <Result>(
    author: Author,
    work: (unit: Unit) => Promise<Result>,
    options: WriteOptions = {},
  ): Promise<Committed<Result>> => {
    const deadline = deadlineIn(LONGEST_MS);
    const { lock } = options;
    const run = () => runUntilCommitted(author, work, options, deadline);
    try {
      return await (lock !== undefined && isSerializableBy(options) ? named.run(lock, run) : run());
    } catch (error) {
      if (!(error instanceof NeedsSerializable)) throw error;
      return runUntilCommitted(author, work, {}, deadline);
    }
  };
}
