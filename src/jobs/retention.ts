/** Forgets what has outlived its use: sessions, codes, sent mail, events and deliveries after 30 days, audit when configured. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { DAY, HOUR, type WorldClock } from '../core/clock.ts';
import type { Database, Unit } from '../db/database.ts';
import { type EventPlace, type Forgettable, forgetEvents, forgetSome } from '../store/retention.ts';
import type { Job } from './scheduler.ts';

/** Rows of one change: halved where that took too long, doubled where it was short, so that no request waits behind it. */
const FIRST_SLICE = 100;
const LARGEST_SLICE = 250;
const SMALLEST_SLICE = 10;
const LONG_SLICE_MS = 5;
const SHORT_SLICE_MS = 2;

/** What was sent: mails, events and their deliveries. People are told of it when they delete their account. */
export const SENT_KEPT_MS = 30 * DAY;

const RULES: readonly (readonly [what: Forgettable, keepMs: number])[] = [
  ['expiredSessions', 30 * DAY],
  ['revokedSessions', 30 * DAY],
  ['expiredCodes', 30 * DAY],
  // Made at every look at a sign-in page, and good for nothing afterwards.
  ['expiredPasskeyChallenges', DAY],
  ['expiredProviderStates', DAY],
  ['expiredEmailChanges', 30 * DAY],
  ['expiredDeviceGrants', 30 * DAY],
  // What still sends one after that is asked for by nobody.
  ['retiredKeyTokens', 90 * DAY],
  // A pause of up to a day goes by the day before the last wrong code.
  ['codeFailures', 2 * DAY],
  ['finishedMails', SENT_KEPT_MS],
  ['finishedDeliveries', SENT_KEPT_MS],
  // Twice the longest range that is asked for, since each is shown beside the one before.
  ['dailyCounts', 750 * DAY],
];

/** For an endpoint in quarantine, or one that is switched off; its owners were told when that began. */
const HELD_KEPT_MS = 90 * DAY;

export interface RetentionDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly auditDays: number;
}

/** @param auditDays how long audit records are kept. All else goes by its own rule. */
export function retentionJob({ db, clock, auditDays }: RetentionDependencies): Job {
  let size = FIRST_SLICE;

  /** One change, after which others have their turn. */
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

  /** Last, because an event stays while one of its deliveries does. */
  async function forgetOldEvents(): Promise<void> {
    const [before, heldBefore] = [clock.now() - SENT_KEPT_MS, clock.now() - HELD_KEPT_MS];
    let after: EventPlace | null = null;
    const forgetMore = (unit: Unit, limit: number) =>
      forgetEvents(unit, { before, heldBefore, realNow: clock.real(), after, limit });
    do after = await slice(forgetMore);
    while (after !== null);
  }

  return {
    name: 'retention',
    everyMs: HOUR,
    async runOnce() {
      for (const [what, keepMs] of RULES) await forget(what, keepMs);
      await forgetOldEvents();
      await forget('auditRecords', auditDays * DAY);
    },
  };
}
