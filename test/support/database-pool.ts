/**
 * Databases for the instances of a test, each with the product's engine. One is used again once its test or file has
 * ended: an engine that is connected runs the statements of a start in a fifth of the time.
 */
import type { Clock } from '../../src/core/clock.ts';
import { deadlineIn } from '../../src/core/deadline.ts';
import { AppError } from '../../src/core/error.ts';
import { CONNECTION, type Database, type Topic } from '../../src/db/database.ts';

const CLOSING_MS = 2000;

/** A database of one of the engines. */
export interface PooledDatabase<Rows> {
  /** Its URL, or the path of its file. */
  readonly name: string;
  /** Opens the test's own connection. */
  connect(): Rows;
  /** Opens the product's engine on it, as an instance does. */
  open(clock: Clock): Promise<Database>;
  /** Deletes all rows, and closes the test's connection. @returns whether another test can use it. */
  wipe(rows: Rows, engines: readonly Database[]): boolean;
  /** Deletes it once it was wiped in vain and its engines are closed. */
  drop(): Promise<void> | void;
}

interface Engine {
  readonly db: Database;
  readonly listeners: Listeners;
  clock: Clock;
}

interface Pooled<Rows> {
  readonly database: PooledDatabase<Rows>;
  /** One for each instance on the database. */
  readonly engines: Engine[];
}

interface Lease<Rows> extends Pooled<Rows> {
  readonly rows: Rows;
  readonly isOfTest: boolean;
  readonly ends: (() => Promise<void>)[];
}

export interface LeasedDatabase<Rows> {
  readonly db: Database;
  readonly rows: Rows;
  readonly name: string;
}

/** @param create creates a database with the current schema and no rows. */
export function databasePool<Rows>(create: () => Promise<PooledDatabase<Rows>>) {
  const idle: Pooled<Rows>[] = [];
  let leases: Lease<Rows>[] = [];
  let isInTest = false;

  async function endLease({ database, rows, engines, ends }: Lease<Rows>): Promise<void> {
    for (const end of ends) await end();
    const opened = engines.map(({ db }) => db);
    if (database.wipe(rows, opened)) {
      idle.push({ database, engines });
      return;
    }
    for (const db of opened) await db.close(deadlineIn(CLOSING_MS)).catch(() => {});
    await database.drop();
  }

  return {
    /** Opens a database without rows, for the running test or file. */
    async lease(clock: Clock): Promise<LeasedDatabase<Rows>> {
      const pooled = idle.pop() ?? { database: await create(), engines: [] };
      const rows = pooled.database.connect();
      const lease = { ...pooled, rows, isOfTest: isInTest, ends: [] };
      leases.push(lease);
      return { db: await leaseEngine(lease, clock), rows, name: pooled.database.name };
    },
    /** Opens a further engine on a leased database, as another instance does. */
    leaseBeside(name: string, clock: Clock): Promise<Database> {
      const lease = leases.find(({ database }) => database.name === name);
      if (!lease) throw new Error('the database belongs to no running test');
      return leaseEngine(lease, clock);
    },
    /** Connections of the running tests. */
    rows: () => leases.map(({ rows }) => rows),
    beginTest(): void {
      isInTest = true;
    },
    /** Takes back what the last test leased, or everything. */
    async endLeases(of: 'test' | 'file'): Promise<void> {
      isInTest = false;
      const ended = leases.filter(({ isOfTest }) => isOfTest || of === 'file');
      leases = leases.filter((lease) => !ended.includes(lease));
      for (const lease of ended) await endLease(lease);
    },
  };
}

async function leaseEngine<Rows>({ database, engines, ends }: Lease<Rows>, clock: Clock): Promise<Database> {
  const at = ends.length;
  const engine = (engines[at] ??= await openEngine(database, clock));
  engine.clock = clock;
  const { db, end } = untilEnd(engine, () => void engines.splice(engines.indexOf(engine), 1));
  ends.push(end);
  return db;
}

async function openEngine<Rows>(database: PooledDatabase<Rows>, first: Clock): Promise<Engine> {
  const opened: { clock: Clock } = { clock: first };
  const db = await database.open({ now: () => opened.clock.now() });
  return Object.assign(opened, { db, listeners: listenersOf(db) });
}

type Listeners = ReturnType<typeof listenersOf>;

/** Returns listeners that a test's end removes; the engine itself keeps those it has. */
function listenersOf(db: Database) {
  const ofTopics = new Map<unknown, ((messages: readonly never[]) => void)[]>();
  const ofMissed: (() => void)[] = [];
  db.onNewsMissed(() => ofMissed.forEach((listener) => listener()));
  return {
    add<Message>(topic: Topic<Message>, listener: (messages: readonly Message[]) => void): void {
      let known = ofTopics.get(topic);
      if (known === undefined) {
        const added: ((messages: readonly never[]) => void)[] = [];
        ofTopics.set(topic, (known = added));
        db.onCommit(topic, (messages) => added.forEach((each) => each(messages as never[])));
      }
      known.push(listener as (messages: readonly never[]) => void);
    },
    addMissed: (listener: () => void): void => void ofMissed.push(listener),
    clear(): void {
      for (const listeners of ofTopics.values()) listeners.length = 0;
      ofMissed.length = 0;
    },
  };
}

/** Returns an engine that refuses everything once its test has ended. @param onClose called if the test closes it. */
function untilEnd({ db, listeners }: Engine, onClose: () => void): { db: Database; end(): Promise<void> } {
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
    onCommit: listeners.add,
    onNewsMissed: listeners.addMissed,
    close(deadline) {
      onClose();
      return db.close(deadline);
    },
  };
  return {
    db: leased,
    async end() {
      isEnded = true;
      listeners.clear();
      await Promise.allSettled(running);
    },
  };
}
