/** Queue lengths and ages, from indexes of pending rows only. Runs in another thread where there is one. */
import type { Reader } from '../db/database.ts';
import { longRead } from '../db/statements.ts';
import { MAIL_PRIORITIES, type MailPriority } from './mails.ts';

export interface Waiting {
  readonly count: number;
  /** When the first entry became or becomes due, in epoch milliseconds; null if the queue has none. */
  readonly dueAt: number | null;
}

const queuedMails = longRead.rows<Waiting & { lane: number }>(
  `SELECT lane, count(*) AS count, min(next_attempt_at) AS "dueAt" FROM mails WHERE status = 'queued' GROUP BY lane`,
);

/** Returns the queued mails by priority. A long read. */
export async function countQueuedMails(reader: Reader): Promise<Record<MailPriority, Waiting>> {
  const rows = await queuedMails(reader);
  const of = (lane: MailPriority): Waiting => {
    const { count, dueAt } = rows.find((row) => row.lane === MAIL_PRIORITIES[lane]) ?? { count: 0, dueAt: null };
    return { count, dueAt };
  };
  return { code: of('code'), notice: of('notice'), bulk: of('bulk') };
}

/** `dueAt` skips endpoints that are sent to in order after a quarantine: their deliveries have long been due. */
const waitingDeliveries = longRead.rows<Waiting & { isActive: boolean }>(
  ({ joinInOrder }) => `SELECT w.status = 'active' AS "isActive", CAST(sum(d.count) AS bigint) AS count,
     min(CASE WHEN w.in_order_until IS NULL THEN d.due_at END) AS "dueAt"
   FROM (SELECT webhook_id, count(*) AS count, min(next_attempt_at) AS due_at FROM deliveries WHERE status = 'pending'
     GROUP BY webhook_id) d
   ${joinInOrder} webhooks w ON w.id = d.webhook_id GROUP BY "isActive"`,
);

/** Returns pending deliveries: queued to be sent, and held for a quarantined or disabled endpoint. A long read. */
export async function countWaitingDeliveries(reader: Reader): Promise<{ queued: Waiting; held: Waiting }> {
  const rows = await waitingDeliveries(reader);
  const of = (isActive: boolean): Waiting => {
    const { count, dueAt } = rows.find((row) => row.isActive === isActive) ?? { count: 0, dueAt: null };
    return { count, dueAt };
  };
  return { queued: of(true), held: of(false) };
}

export interface LongWorkCount {
  readonly kind: string;
  readonly count: number;
  /** The earliest last progress, and the earliest start, of these tasks. */
  readonly dueAt: number;
  readonly begunAt: number;
  readonly rowsDone: number;
  /** Includes only tasks that were counted. */
  readonly rowsLeft: number;
}

const unfinishedWorks = longRead.rows<LongWorkCount>(
  `SELECT kind, count(*) AS count, min(updated_at) AS "dueAt", min(created_at) AS "begunAt", CAST(sum(done) AS bigint) AS "rowsDone",
     CAST(sum(CASE WHEN total > done THEN total - done ELSE 0 END) AS bigint) AS "rowsLeft"
   FROM long_works GROUP BY kind ORDER BY kind`,
);

/** Returns the number of unfinished background tasks and the earliest last progress. */
export async function countLongWorks(reader: Reader): Promise<Waiting & { readonly kinds: readonly LongWorkCount[] }> {
  const kinds = await unfinishedWorks(reader);
  const count = kinds.reduce((sum, { count }) => sum + count, 0);
  return { count, dueAt: count === 0 ? null : Math.min(...kinds.map(({ dueAt }) => dueAt)), kinds };
}
