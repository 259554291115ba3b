/**
 * Databases for the instances of a test, each with the product's engine. One is used again once its test or file has
 * ended: an engine that is connected runs the statements of a start in a fifth of the time.
 */
import type { Clock } from '../../src/core/clock.ts';
import { deadlineIn } from '../../src/core/deadline.ts';
import { AppError } from '../../src/core/error.ts';
import { systemRandom } from '../../src/core/random.ts';
import { CONNECTION, type Database } from '../../src/db/database.ts';
import { openPostgresEngine } from '../../src/db/postgres/engine.ts';
import { dropPostgresDatabase, freshPostgresDatabase } from './postgres.ts';
import { openRows, type Rows } from './postgres-rows.ts';

/** Few, since every instance has its own; several changes run at once, as on a server. */
const LANES = { lookups: 1, reads: 1, longReads: 1, changes: 3 };
const CLOSING_MS = 2000;

interface Engine {
  readonly db: Database;
  clock: Clock;
}

interface Pooled {
  readonly url: string;
  readonly rows: Rows;
  /** One for each instance on the database. */
  readonly engines: Engine[];
}

interface Lease extends Pooled {
  readonly isOfTest: boolean;
  readonly ends: (() => Promise<void>)[];
}

const idle: Pooled[] = [];
let leases: Lease[] = [];
let isInTest = false;

/** Opens a database without rows, for the running test or file. */
export async function leaseDatabase(clock: Clock): Promise<{ db: Database; rows: Rows; url: string }> {
  const isOfTest = isInTest;
  let pooled = idle.pop();
  if (pooled === undefined) {
    const url = await freshPostgresDatabase();
    pooled = { url, rows: openRows(url), engines: [] };
  }
  const lease = { ...pooled, isOfTest, ends: [] };
  leases.push(lease);
  return { db: await leaseEngine(lease, clock), rows: lease.rows, url: lease.url };
}

/** Opens a further engine on a leased database, as another instance does. */
export function leaseBeside(url: string, clock: Clock): Promise<Database> {
  const lease = leases.find((one) => one.url === url);
  if (!lease) throw new Error('the database belongs to no running test');
  return leaseEngine(lease, clock);
}

async function leaseEngine({ url, engines, ends }: Lease, clock: Clock): Promise<Database> {
  const at = ends.length;
  const engine = (engines[at] ??= await openEngine(url, clock));
  engine.clock = clock;
  const { db, end } = untilEnd(engine.db, () => void engines.splice(engines.indexOf(engine), 1));
  ends.push(end);
  return db;
}

async function openEngine(url: string, clock: Clock): Promise<Engine> {
  const engine = { clock };
  const now = () => engine.clock.now();
  const random = systemRandom;
  const db = await openPostgresEngine({
    urls: [url],
    tls: undefined,
    isBouncer: false,
    lanes: LANES,
    random,
    clock: { now },
  });
  return Object.assign(engine, { db });
}

/** Returns an engine that refuses everything once its test has ended. @param onClose called if the test closes it. */
function untilEnd(db: Database, onClose: () => void): { db: Database; end(): Promise<void> } {
  let isEnded = false;
  const running = new Set<Promise<unknown>>();
  const leased: Database = {
    ...db,
    reader: {
      get [CONNECTION]() {
        if (isEnded) throw new AppError('unavailable');
        return db.reader[CONNECTION];
      },
    },
    async write(...change) {
      if (isEnded) throw new AppError('unavailable');
      const result = db.write(...change);
      running.add(result);
      return result.finally(() => running.delete(result));
    },
    onCommit: (topic, listener) => db.onCommit(topic, (messages) => !isEnded && listener(messages)),
    close(deadline) {
      onClose();
      return db.close(deadline);
    },
  };
  return {
    db: leased,
    async end() {
      isEnded = true;
      await Promise.allSettled(running);
    },
  };
}

/** Returns whether the server runs no statement of the present leases. */
export function isQuiet(): boolean {
  return leases.every(({ rows }) => rows.query(RUNNING).get() === null);
}

const RUNNING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
  AND pid <> pg_backend_pid() LIMIT 1`;

export function beginTest(): void {
  isInTest = true;
}

/** Takes back what the last test leased, or everything. */
export async function endLeases(of: 'test' | 'file'): Promise<void> {
  isInTest = false;
  const ended = leases.filter(({ isOfTest }) => isOfTest || of === 'file');
  leases = leases.filter((lease) => !ended.includes(lease));
  for (const lease of ended) await endLease(lease);
}

async function endLease({ url, rows, engines, ends }: Lease): Promise<void> {
  for (const end of ends) await end();
  if (rows.isChangedSchema()) {
    for (const { db } of engines) await db.close(deadlineIn(CLOSING_MS));
    rows.close();
    await dropPostgresDatabase(url);
    return;
  }
  rows.run('SELECT wipe_for_next_test()');
  idle.push({ url, rows, engines });
}
