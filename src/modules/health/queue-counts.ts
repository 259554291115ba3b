/** Queue lengths, counted on demand every few seconds at most, shared by instance health and metrics. */
import { type Clock, SECOND } from '../../core/clock.ts';
import type { Database, Reader } from '../../db/database.ts';
import { countLongWorks, countQueuedMails, countWaitingDeliveries, type LongWorkCount } from '../../store/queues.ts';
import type { Queues } from './queue-warnings.ts';

export interface CountedQueues extends Queues {
  /** Epoch milliseconds. */
  readonly countedAt: number;
  readonly longWorkKinds: readonly LongWorkCount[];
}

/** Counts on another thread. */
export interface QueueCounts {
  recent(): Promise<CountedQueues>;
  /** Returns recent counts if quick, else the previous ones or null: callers never wait for a slow query. */
  quick(): Promise<CountedQueues | null>;
}

/** Counts all queues now: slow queries. */
export async function countQueues(reader: Reader) {
  const [mails, deliveries, longWork] = await Promise.all([
    countQueuedMails(reader),
    countWaitingDeliveries(reader),
    countLongWorks(reader),
  ]);
  return { mails, deliveries, longWork } satisfies Queues;
}

/** Minimum interval between counts, for all callers together. */
const COUNTED_EVERY_MS = 5 * SECOND;
const PATIENCE_MS = 20;

export function queueCounter({ db, clock }: { readonly db: Database; readonly clock: Clock }): QueueCounts {
  let asked: { readonly at: number; readonly queues: Promise<CountedQueues> } | undefined;
  let latest: CountedQueues | undefined;

  async function count(countedAt: number): Promise<CountedQueues> {
    const { longWork: all, ...queues } = await countQueues(db.reader);
    const { kinds: longWorkKinds, ...longWork } = all;
    return (latest = { ...queues, longWork, longWorkKinds, countedAt });
  }

  function recent(): Promise<CountedQueues> {
    const now = clock.now();
    if (asked && Math.abs(now - asked.at) < COUNTED_EVERY_MS) return asked.queues;
    const queues = count(now);
    asked = { at: now, queues };
    queues.catch(() => (asked = undefined));
    return queues;
  }

  return {
    recent,
    quick: () => Promise.race([recent(), Bun.sleep(PATIENCE_MS).then(() => latest ?? null)]),
  };
}
