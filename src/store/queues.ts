/** How much waits to be done, and since when. Counted by indexes of what waits alone, in another thread where there is one. */
import type { Reader } from '../db/database.ts';
import { longRead } from '../db/statements.ts';
import { MAIL_LANES, type MailLane } from './mails.ts';

/** What waits of one kind. */
export interface Waiting {
  readonly count: number;
  /** Since when the first of them is due, in epoch milliseconds; null where none is. */
  readonly dueAt: number | null;
}

const queuedMails = longRead<Waiting & { lane: number }, []>(
  `SELECT lane, count(*) AS count, min(next_attempt_at) AS "dueAt" FROM mails WHERE status = 'queued' GROUP BY lane`,
);

/** By lane. A long read. */
export async function countQueuedMails(reader: Reader): Promise<Record<MailLane, Waiting>> {
  const rows = await queuedMails(reader);
  const of = (lane: MailLane): Waiting => {
    const { count, dueAt } = rows.find((row) => row.lane === MAIL_LANES[lane]) ?? { count: 0, dueAt: null };
    return { count, dueAt };
  };
  return { code: of('code'), notice: of('notice'), bulk: of('bulk') };
}

/** In their order after a quarantine, deliveries are due since long before they can be sent. */
const waitingDeliveries = longRead<Waiting & { isActive: 0 | 1 }, []>(
  `SELECT w.status = 'active' AS "isActive", sum(d.count) AS count,
     min(CASE WHEN w.in_order_until IS NULL THEN d.due_at END) AS "dueAt"
   FROM (SELECT webhook_id, count(*) AS count, min(next_attempt_at) AS due_at FROM deliveries WHERE status = 'pending'
     GROUP BY webhook_id) d
   CROSS JOIN webhooks w ON w.id = d.webhook_id GROUP BY "isActive"`,
);

/** To be sent, and held because their endpoint is in quarantine or switched off. A long read. */
export async function countWaitingDeliveries(reader: Reader): Promise<{ queued: Waiting; held: Waiting }> {
  const rows = await waitingDeliveries(reader);
  const of = (isActive: 0 | 1): Waiting => {
    const { count, dueAt } = rows.find((row) => row.isActive === isActive) ?? { count: 0, dueAt: null };
    return { count, dueAt };
  };
  return { queued: of(1), held: of(0) };
}

/** Long works of one kind. */
export interface LongWorkCount {
  readonly kind: string;
  readonly count: number;
  /** When the first of them came on last, and when it was begun. */
  readonly dueAt: number;
  readonly begunAt: number;
  readonly rowsDone: number;
  /** Of those that were counted. */
  readonly rowsLeft: number;
}

const unfinishedWorks = longRead<LongWorkCount, []>(
  `SELECT kind, count(*) AS count, min(updated_at) AS "dueAt", min(created_at) AS "begunAt", sum(done) AS "rowsDone",
     sum(CASE WHEN total > done THEN total - done ELSE 0 END) AS "rowsLeft"
   FROM long_works GROUP BY kind ORDER BY kind`,
);

/** Long works, and when the first of them came on last. */
export async function countLongWorks(reader: Reader): Promise<Waiting & { readonly kinds: readonly LongWorkCount[] }> {
  const kinds = await unfinishedWorks(reader);
  const count = kinds.reduce((sum, { count }) => sum + count, 0);
  return { count, dueAt: count === 0 ? null : Math.min(...kinds.map(({ dueAt }) => dueAt)), kinds };
}
