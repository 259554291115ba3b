/**
 * Connections to a PostgreSQL server. Lookups, reads and changes have connections of their own, so that none of them
 * waits for the others. A lost connection replaces all of them: a new one is used only once its server is known to be a
 * primary, since a demoted one would answer with revoked sessions.
 */
import type { ReservedSQL, SQL } from 'bun';
import { type Deadline, waitUntil } from '../../core/deadline.ts';
import type { AppError } from '../../core/error.ts';
import { pool as slotPool } from '../../core/pool.ts';
import type { PoolUse } from '../database.ts';
import type { MutableMetrics } from '../metrics.ts';
import { connectClients, type Clients, type ConnectOptions, type Lane } from './clients.ts';
import { type Bindable, execute, type StatementResult, type Run } from './driver.ts';
import { away, busy, isAway, translated } from './errors.ts';

export interface PostgresPoolOptions extends ConnectOptions {
  readonly metrics: Pick<MutableMetrics, 'statements' | 'connectionWaits'>;
  /** Called when the server is lost, with the reason, and with null once it is back. */
  onOutage(error: unknown): void;
}

export type PostgresPool = Awaited<ReturnType<typeof openPool>>;

/** Longest time of a statement, above the server's own limit: what takes longer has lost its connection. */
const STATEMENT_MS = 7000;
const LONG_STATEMENT_MS = 120_000;

/** Longest wait for a lost server before a call is refused, so that a short loss is not seen. */
const PATIENCE_MS = 1000;

/** Longest wait for a connection that others use. */
const SLOT_MS = 5000;

/** A read whose connection was lost runs again if that was found so soon. */
const SOON_MS = 2000;

const RETRY_MS = 100;
const CHECK_MS = 500;
const LEAVE_SECONDS = 5;

/** A read, or a change with its present statement. */
interface InFlight {
  readonly lane: Lane;
  until: number;
  /** Whether a server that takes until then is taken for lost; otherwise the change has no more time. */
  isLostThen: boolean;
  readonly fail: (error: unknown) => void;
}

/** Opens the connections. @throws the driver's error where no server of the list is a primary that answers. */
export async function openPool(options: PostgresPoolOptions) {
  const { onOutage, lanes } = options;
  const { statements, connectionWaits } = options.metrics;
  const inFlight = new Set<InFlight>();
  const changes = slotPool({ total: lanes.changes, waitMs: SLOT_MS, refusal: busy });
  let clients: Clients | null = await connect();
  let lostAt = 0;
  let recovered: Promise<void> = Promise.resolve();
  let isClosed = false;
  /** Reason why nothing may run for now, though the server answers. */
  let refusal: AppError | null = null;
  let watch: Timer | undefined;

  function connect(): Promise<Clients> {
    const made = connectClients(options, () => void made.then(lose).catch(() => {}));
    return made;
  }

  /** Leaves all connections for new ones. Statements that still run on healthy ones may end. */
  function lose(lost: Clients): void {
    if (isClosed || clients !== lost) return;
    clients = null;
    lostAt = performance.now();
    leave(lost);
    recovered = recover();
  }

  async function recover(): Promise<void> {
    let isAnnounced = false;
    while (!isClosed) {
      try {
        const made = await connect();
        if (isClosed) return leave(made);
        clients = made;
        if (isAnnounced) onOutage(null);
        return;
      } catch (failure) {
        if (!isAnnounced) onOutage(failure);
        isAnnounced = true;
        await Bun.sleep(RETRY_MS);
      }
    }
  }

  /** Returns the connections, after a short wait where they are being replaced. @throws {AppError} unavailable */
  async function current(): Promise<Clients> {
    if (clients === null && !isClosed) {
      const left = lostAt + PATIENCE_MS - performance.now();
      if (left > 0) await waitUntil({ remainingMs: () => left }, recovered);
    }
    if (clients === null || isClosed) throw away();
    return clients;
  }

  /**
   * Fails a statement that hangs, and leaves its connections: a network that was cut answers nothing.
   *
   * @param work begins the statements; each one sets the time until which it may run.
   */
  async function watched<Result>(
    lane: Lane,
    on: Clients,
    limitMs: number,
    work: (one: InFlight) => Promise<Result>,
  ): Promise<Result> {
    const { promise, reject } = Promise.withResolvers<never>();
    const one: InFlight = { lane, until: performance.now() + limitMs, isLostThen: true, fail: reject };
    inFlight.add(one);
    watch ??= setInterval(failOverdue, CHECK_MS);
    try {
      return await Promise.race([work(one), promise]);
    } catch (error) {
      if (isAway(error)) lose(on);
      throw error;
    } finally {
      inFlight.delete(one);
    }
  }

  /** Takes a connection for a change. The server may still be busy with what a former one has given up. */
  async function reserved(on: Clients, limitMs: number): Promise<ReservedSQL> {
    const reserving = on.changes.reserve();
    try {
      return await watched('changes', on, limitMs, (one) => {
        one.isLostThen = false;
        return reserving;
      });
    } catch (error) {
      void reserving.then((late) => late.release()).catch(() => {});
      throw error;
    }
  }

  function failOverdue(): void {
    const now = performance.now();
    for (const { until, isLostThen, fail } of inFlight) if (until <= now) fail(isLostThen ? away() : busy());
    if (inFlight.size > 0) return;
    clearInterval(watch);
    watch = undefined;
  }

  function requireAllowed(): void {
    if (refusal) throw refusal;
  }

  async function read(lane: Lane, limitMs: number, text: string, values: readonly Bindable[], isList?: boolean) {
    const on = await current();
    count(lane);
    return watched(lane, on, limitMs, () => execute(on[lane], text, values, isList));
  }

  function count(lane: Lane): void {
    statements.set(lane, (statements.get(lane) ?? 0) + 1);
  }

  return {
    /** Runs a read; one whose connection was lost runs once more. @throws {AppError} unavailable */
    async read(
      lane: Exclude<Lane, 'changes'>,
      text: string,
      values: readonly Bindable[],
      isList?: boolean,
    ): Promise<StatementResult> {
      const limitMs = lane === 'longReads' ? LONG_STATEMENT_MS : STATEMENT_MS;
      requireAllowed();
      const since = performance.now();
      try {
        return await read(lane, limitMs, text, values, isList);
      } catch (error) {
        if (!isAway(error) || performance.now() - since > SOON_MS) throw translated(error);
        return read(lane, limitMs - SOON_MS, text, values, isList).catch((failure: unknown) => {
          throw translated(failure);
        });
      }
    },
    /**
     * Runs a transaction, which is rolled back where `work` throws.
     *
     * @param begin statement that begins it. @param deadline of the whole.
     * @throws the driver's error; {AppError} unavailable where the outcome of the commit is not known.
     */
    transaction<Result>(begin: string, work: (run: Run) => Promise<Result>, deadline: Deadline): Promise<Result> {
      const since = performance.now();
      const left = (longestMs: number) => Math.min(longestMs, deadline.remainingMs());
      const inConnection = async () => {
        requireAllowed();
        const on = await current();
        const connection = await reserved(on, left(SLOT_MS));
        connectionWaits.observe((performance.now() - since) / 1000);
        let isCommitting = false;
        let ending: Promise<unknown> | null = null;
        try {
          return await watched('changes', on, left(STATEMENT_MS), async (one) => {
            const run: Run = (text, values, isList) => {
              count('changes');
              one.until = performance.now() + left(STATEMENT_MS);
              one.isLostThen = deadline.remainingMs() > STATEMENT_MS;
              return execute(connection, text, values, isList);
            };
            // Not awaited: the first statement follows it at once, and fails if it fails.
            const begun = run(begin, []);
            begun.catch(() => {});
            const result = await work(run).catch((error: unknown) =>
              // After it has failed, the server says of others only that the transaction was aborted.
              begun.then(() => Promise.reject(error)),
            );
            await begun;
            isCommitting = true;
            const { command } = await run('COMMIT', []);
            // PostgreSQL answers so to the commit of a transaction in which a statement has failed.
            if (command === 'ROLLBACK') throw new Error('a change went on after a statement of it had failed');
            return result;
          });
        } catch (error) {
          const isOver = deadline.remainingMs() <= 0;
          if (isCommitting) throw isAway(error) || isOver ? away(error) : error;
          ending = watched('changes', on, STATEMENT_MS, () => execute(connection, 'ROLLBACK', [])).catch(() => {});
          // A lost connection answers no rollback, and the server may still run a statement that took too long.
          if (!isAway(error) && !isOver) await ending;
          throw error;
        } finally {
          if (ending) void ending.then(() => connection.release());
          else connection.release();
        }
      };
      return changes.run('', inConnection, left(SLOT_MS));
    },
    /** Runs a short read even while others are refused. */
    ask: (text: string) => read('reads', STATEMENT_MS, text, []),
    /** Refuses all other statements with this error; null ends it. */
    refuse(error: AppError | null): void {
      refusal = error;
    },
    isAway: () => clients === null,
    /** Transactions that wait for a connection. */
    waiting: () => changes.waiting,
    /** Reads share their connections, so more of them than connections may be in flight. */
    use(): PoolUse {
      const inUse = { lookups: 0, reads: 0, longReads: 0 };
      for (const { lane } of inFlight) if (lane !== 'changes') inUse[lane] += 1;
      const laneUse = (lane: keyof typeof inUse) => ({ size: lanes[lane], inUse: Math.min(lanes[lane], inUse[lane]) });
      return {
        lookups: laneUse('lookups'),
        reads: laneUse('reads'),
        longReads: laneUse('longReads'),
        changes: { size: lanes.changes, inUse: changes.used },
      };
    },
    async close(deadline: Deadline): Promise<void> {
      if (isClosed) return;
      while (inFlight.size > 0 && deadline.remainingMs() > 0) await Bun.sleep(1);
      isClosed = true;
      clearInterval(watch);
      if (clients) leave(clients, 0);
      clients = null;
    },
  };

  function leave({ lookups, reads, longReads, changes: writers }: Clients, timeout = LEAVE_SECONDS): void {
    for (const client of new Set<SQL>([lookups, reads, longReads, writers]))
      void client.close({ timeout }).catch(() => {});
  }
}
