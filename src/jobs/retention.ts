/** Deletes expired rows, table by table, by the rules of `kept.ts`. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { type Clock, DAY, HOUR } from '../core/clock.ts';
import type { Database, Unit } from '../db/database.ts';
import { type EventPlace, type Forgettable, forgetEvents, forgetSome } from '../store/retention.ts';
import { KEPT, SENT_KEPT_MS } from './kept.ts';
import type { Job } from './scheduler.ts';

/** Rows per change: halved after a slow one, doubled after a fast one, so that no request waits behind it. */
const FIRST_SLICE = 100;
const LARGEST_SLICE = 250;
const SMALLEST_SLICE = 10;
const LONG_SLICE_MS = 5;
const SHORT_SLICE_MS = 2;

export interface RetentionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly auditDays: number;
}

const SWEEPS = Object.values(KEPT).flatMap((rule) =>
  'sweeps' in rule ? (Object.entries(rule.sweeps) as [Forgettable, number | 'audit setting'][]) : [],
);

/** @param auditDays retention of audit records; everything else follows its own rule. */
export function retentionJob({ db, clock, auditDays }: RetentionDependencies): Job {
  let size = FIRST_SLICE;

  /** Runs one change, then yields to the event loop. */
  async function slice<Result>(work: (unit: Unit, limit: number) => Promise<Result>): Promise<Result> {
    let tookMs = 0;
    const result = await db.write(SYSTEM_ACTOR, async (unit) => {
      const began = performance.now();
      const done = await work(unit, size);
      tookMs = performance.now() - began;
      return done;
    });
    if (tookMs > LONG_SLICE_MS) size = Math.max(SMALLEST_SLICE, Math.floor(size / 2));
    else if (tookMs < SHORT_SLICE_MS) size = Math.min(LARGEST_SLICE, size * 2);
    await Bun.sleep(0);
    return result;
  }

  async function forget(what: Forgettable, keepMs: number): Promise<void> {
    const before = clock.now() - keepMs;
    let isMore = true;
    while (isMore) isMore = await slice(async (unit, limit) => (await forgetSome(unit, what, before, limit)) === limit);
  }

  /** Runs last, because an event stays while one of its deliveries does. */
  async function forgetOldEvents(): Promise<void> {
    const before = clock.now() - SENT_KEPT_MS;
    let after: EventPlace | null = null;
    const forgetMore = (unit: Unit, limit: number) => forgetEvents(unit, { before, after, limit });
    do after = await slice(forgetMore);
    while (after !== null);
  }

  return {
    name: 'retention',
    everyMs: HOUR,
    async runOnce() {
      for (const [what, keepMs] of SWEEPS) await forget(what, keepMs === 'audit setting' ? auditDays * DAY : keepMs);
      await forgetOldEvents();
    },
  };
}
