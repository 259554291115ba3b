/**
 * Decides which instance does a piece of work. On PostgreSQL it holds a lease that ends by time, so that another
 * instance takes over within half a minute of a kill. On SQLite the only instance holds everything.
 * A holder that stalls for longer than its lease may work at the same time as its successor, so the changes of leased
 * work must stand each other, as those of any two callers.
 */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { SECOND, type WorldClock } from '../core/clock.ts';
import { CLAIMING, type Database, type Unit } from '../db/database.ts';
import { isOutage } from '../db/errors.ts';
import { releaseAllWorkLeases, releaseWorkLeases, setWorkLeaseEnd, takeWorkLeases } from '../store/work-leases.ts';

/** In real time. A clock that differs from another by more than the rest after a renewal ends its leases early. */
const LEASE_MS = 30 * SECOND;
export const RENEW_EVERY_MS = 10 * SECOND;

/** Releasing never fails: a lease that the database does not hear of ends by time. */
export interface HeldLease {
  /** Stops renewing. @param restMs how long no other instance may begin the same work, from now. */
  end(restMs?: number): Promise<void>;
}

export interface WorkLeases {
  /** Takes or renews leases for half a minute. @returns the names that this instance holds. */
  take(names: readonly string[]): Promise<readonly string[]>;
  release(names: readonly string[]): Promise<void>;
  /** Takes a lease and renews it until its end. @returns null where another instance holds it. */
  begin(name: string): Promise<HeldLease | null>;
  /** Releases everything, for a clean stop. */
  releaseAll(): Promise<void>;
}

export interface WorkLeaseDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly leaseHolder: string;
  readonly log: Logger;
}

const LEASES: Readonly<Record<Database['engine'], (dependencies: WorkLeaseDependencies) => WorkLeases>> = {
  sqlite: soleInstance,
  postgres: sharedLeases,
};

export function workLeases(dependencies: WorkLeaseDependencies): WorkLeases {
  return LEASES[dependencies.db.engine](dependencies);
}

function soleInstance(): WorkLeases {
  const held: HeldLease = { end: async () => {} };
  return {
    take: async (names) => names,
    release: async () => {},
    begin: async () => held,
    releaseAll: async () => {},
  };
}

/** The leases of one of several instances. */
export function sharedLeases({ db, clock, leaseHolder: holder, log }: WorkLeaseDependencies): WorkLeases {
  const write = <Result>(work: (unit: Unit) => Promise<Result>) => db.write(SYSTEM_ACTOR, work, CLAIMING);

  async function take(names: readonly string[]): Promise<readonly string[]> {
    if (names.length === 0) return [];
    const realNow = clock.real();
    return write((unit) => takeWorkLeases(unit, { names, holder, realNow, until: realNow + LEASE_MS }));
  }

  async function tryTo(work: (unit: Unit) => Promise<unknown>): Promise<void> {
    await write(work).catch((err: unknown) => {
      if (!isOutage(err)) log.warn({ err }, 'a lease could not be released; it ends within half a minute');
    });
  }

  async function release(names: readonly string[]): Promise<void> {
    if (names.length > 0) await tryTo((unit) => releaseWorkLeases(unit, { names, holder }));
  }

  return {
    take,
    release,
    async begin(name) {
      if ((await take([name])).length === 0) return null;
      const renewal = setInterval(() => {
        take([name]).catch((err: unknown) => {
          if (!isOutage(err)) log.error({ err, work: name }, 'a lease could not be renewed; it will be tried again');
        });
      }, RENEW_EVERY_MS).unref();
      return {
        async end(restMs = 0) {
          clearInterval(renewal);
          const until = clock.real() + restMs;
          await (restMs > 0 ? tryTo((unit) => setWorkLeaseEnd(unit, { name, holder, until })) : release([name]));
        },
      };
    },
    releaseAll: () => tryTo((unit) => releaseAllWorkLeases(unit, holder)),
  };
}
