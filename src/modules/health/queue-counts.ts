/** How much waits to be done, counted now and then for all who look: the health of an instance, and its figures. */
import { type Clock, SECOND } from '../../core/clock.ts';
import type { Database, Reader } from '../../db/database.ts';
import { countLongWorks, countQueuedMails, countWaitingDeliveries, type LongWorkCount } from '../../store/queues.ts';
import type { Queues } from './warnings.ts';

export interface CountedQueues extends Queues {
  /** In epoch milliseconds. */
  readonly countedAt: number;
  readonly longWorkKinds: readonly LongWorkCount[];
}

/** Counts in another thread. */
export interface QueueCounts {
  /** Of the last seconds. */
  recent(): Promise<CountedQueues>;
  /** The same where that is quick, else those of the time before, if any: whoever looks waits for nobody's long read. */
  quick(): Promise<CountedQueues | null>;
}

/** All that waits, as of now: long reads. */
export async function countQueues(reader: Reader) {
  const [mails, deliveries, longWork] = await Promise.all([
    countQueuedMails(reader),
    countWaitingDeliveries(reader),
    countLongWorks(reader),
  ]);
  return { mails, deliveries, longWork } satisfies Queues;
}

/** What waits is counted so often at the most, however many look. */
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
