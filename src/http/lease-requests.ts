/** Requests for uses of a rate limit: those of one turn of the event loop reach the database as one statement. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { CLAIMING, type Database } from '../db/database.ts';
import { type LeasedUses, leaseUses, type WantedUses } from '../store/rate-leases.ts';

export type LeaseWindow = Omit<WantedUses, 'quota' | 'wanted'>;

export interface LeaseAnswer {
  readonly isAllowed: boolean;
  /** Uses leased by all instances. */
  readonly count: number;
  /** Uses granted beyond those that callers waited for; only one of them is given these. */
  readonly spare: number;
  /** End of the window that was asked for: a later one for a caller who waited past its end. */
  readonly endsAt: number;
}

interface Request {
  window: LeaseWindow;
  limit: number;
  readonly callers: PromiseWithResolvers<LeaseAnswer>[];
}

/** Statements at a time. Requests during them wait for the next one, so that a slow database gets larger batches. */
const AT_ONCE = 3;
const ROWS_PER_STATEMENT = 500;

export function leaseRequests(db: Database) {
  const requests = new Map<string, Request>();
  /** The last unanswered request of each subject. */
  const pending = new Map<string, Promise<LeaseAnswer>>();
  let running = 0;
  let isScheduled = false;

  const keyOf = ({ bucket, subject }: Pick<LeaseWindow, 'bucket' | 'subject'>) => `${bucket} ${subject}`;

  async function run(batch: readonly Request[]): Promise<void> {
    running += 1;
    try {
      const rows = batch.map(({ window, limit, callers }) => ({ ...window, quota: limit, wanted: callers.length }));
      // Durable: a lease that a crash of the database forgot would be granted to another instance again.
      const leased = await db.write(SYSTEM_ACTOR, (unit) => leaseUses(unit, rows), CLAIMING);
      const byKey = new Map(leased.map((lease) => [keyOf(lease), lease]));
      for (const request of batch) answer(request, byKey.get(keyOf(request.window)));
    } catch (error) {
      for (const { callers } of batch) for (const { reject } of callers) reject(error);
    } finally {
      running -= 1;
      schedule();
    }
  }

  function start(): void {
    isScheduled = false;
    while (requests.size > 0 && running < AT_ONCE) {
      const batch = [...requests].slice(0, ROWS_PER_STATEMENT);
      for (const [key] of batch) requests.delete(key);
      void run(batch.map(([, request]) => request));
    }
  }

  function schedule(): void {
    if (isScheduled || requests.size === 0 || running >= AT_ONCE) return;
    isScheduled = true;
    setImmediate(start);
  }

  return {
    /** Asks for one use, and a block for those to come. @throws {AppError} unavailable */
    async ask(window: LeaseWindow, limit: number): Promise<LeaseAnswer> {
      const key = keyOf(window);
      const request: Request = requests.get(key) ?? { window, limit, callers: [] };
      requests.set(key, request);
      if (window.endsAt > request.window.endsAt) request.window = window;
      request.limit = limit;
      const caller = Promise.withResolvers<LeaseAnswer>();
      request.callers.push(caller);
      pending.set(key, caller.promise);
      schedule();
      try {
        return await caller.promise;
      } finally {
        if (pending.get(key) === caller.promise) pending.delete(key);
      }
    },
    isPending: (window: Pick<LeaseWindow, 'bucket' | 'subject'>) => pending.has(keyOf(window)),
    /** Waits until the database has answered the requests for a subject, or refused to. */
    async settled(window: Pick<LeaseWindow, 'bucket' | 'subject'>): Promise<void> {
      await pending.get(keyOf(window))?.catch(() => {});
    },
  };
}

function answer({ window: { endsAt }, callers }: Request, lease: LeasedUses | undefined): void {
  const { count, granted } = lease ?? { count: 0, granted: 0 };
  for (const [index, { resolve }] of callers.entries()) {
    const spare = index === 0 ? Math.max(0, granted - callers.length) : 0;
    resolve({ isAllowed: index < granted, count, spare, endsAt });
  }
}
