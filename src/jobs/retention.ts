/** Deletes expired rows, table by table, by the rules of `retention-rules.ts`. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { batchSize } from '../core/batches.ts';
import { type Clock, DAY, HOUR } from '../core/clock.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';
import type { Database, Unit } from '../db/database.ts';
import { type EventPlace, type Purgeable, purgeEvents, purgeBatch } from '../store/retention.ts';
import { RETENTION_RULES, SENT_RETENTION_MS } from './retention-rules.ts';
import type { Job } from './scheduler.ts';

/** Rows per change. */
const FIRST_BATCH = 100;
const LARGEST_BATCH = 250;

export interface RetentionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly auditDays: number;
}

const SWEEPS = Object.values(RETENTION_RULES).flatMap((rule) =>
  'sweeps' in rule ? (Object.entries(rule.sweeps) as [Purgeable, number | 'audit setting'][]) : [],
);

/** @param auditDays retention of audit records; everything else follows its own rule. */
export function retentionJob({ db, clock, auditDays }: RetentionDependencies): Job {
  const size = batchSize({ first: FIRST_BATCH, largest: LARGEST_BATCH, longMs: db.batchMs });

  /** Runs one change, then yields to the event loop. @param isFull tells whether there may be more. */
  async function change<Result>(
    batch: (unit: Unit, limit: number) => Promise<Result>,
    isFull: (result: Result) => boolean,
  ): Promise<Result> {
    const result = await db.write(SYSTEM_ACTOR, (unit) => size.run((limit) => batch(unit, limit), isFull));
    await yieldToEventLoop();
    return result;
  }

  async function forget(what: Purgeable, keepMs: number): Promise<void> {
    const before = clock.now() - keepMs;
    const forgetMore = async (unit: Unit, limit: number) => (await purgeBatch(unit, what, before, limit)) === limit;
    while (await change(forgetMore, (isMore) => isMore));
  }

  /** Runs last, because an event stays while one of its deliveries does. */
  async function forgetOldEvents(): Promise<void> {
    const before = clock.now() - SENT_RETENTION_MS;
    let after: EventPlace | null = null;
    const forgetMore = (unit: Unit, limit: number) => purgeEvents(unit, { before, after, limit });
    do after = await change(forgetMore, (next) => next !== null);
    while (after !== null);
  }

  return {
    name: 'retention',
    everyMs: HOUR,
    isExclusive: true,
    async runOnce() {
      for (const [what, keepMs] of SWEEPS) await forget(what, keepMs === 'audit setting' ? auditDays * DAY : keepMs);
      await forgetOldEvents();
    },
  };
}
