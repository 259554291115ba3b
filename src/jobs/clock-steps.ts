/** Detects a clock that went back: makes planned work due, and keeps expired what had expired. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { type Clock, SECOND } from '../core/clock.ts';
import type { Database, Unit } from '../db/database.ts';
import {
  bringDeliveryForward,
  listDeliveriesPlannedAhead,
  PLANNED_READ,
  type PlannedDelivery,
} from '../store/deliveries.ts';
import { bringMailsForward, MAIL_PRIORITIES, type MailPriority } from '../store/mails.ts';
import { expireAgain, type ShortLived, shortenToLifetime } from '../store/expiry-correction.ts';
import type { Job } from './scheduler.ts';

const BATCH = 100;
/** Smaller corrections of the clock are ignored. */
const LEAST_STEP_MS = SECOND;
/** Expired rows may seem valid again for this long; a check costs next to nothing. */
const LOOK_EVERY_MS = 200;

export interface ClockSteps {
  readonly job: Job;
  /** Corrects what was planned before a stop, during which the clock may have gone back. */
  start(): Promise<void>;
}

export interface ClockStepDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** Longest delay of a mail's retry, in milliseconds. */
  readonly longestMailWaitMs: number;
  readonly lifetimes: Readonly<Record<ShortLived, number>>;
}

/** Compares the clock with its value at the previous check. */
export function clockSteps(dependencies: ClockStepDependencies): ClockSteps {
  const { db, clock, log, longestMailWaitMs, lifetimes } = dependencies;
  const shortLived = Object.entries(lifetimes) as [ShortLived, number][];
  let latest = clock.now();

  /** Changes rows in batches, by an index. @param change one batch; returns its number of rows. */
  async function inSlices(change: (unit: Unit, limit: number) => Promise<number>): Promise<void> {
    while ((await db.write(SYSTEM_ACTOR, (unit) => change(unit, BATCH))) === BATCH);
  }

  async function bringDeliveriesForward(): Promise<void> {
    const now = clock.now();
    let planned: PlannedDelivery[];
    let last: PlannedDelivery | undefined;
    do {
      planned = await listDeliveriesPlannedAhead(db.reader, now, last);
      for (let from = 0; from < planned.length; from += BATCH)
        await db.write(SYSTEM_ACTOR, async (unit) => {
          for (const delivery of planned.slice(from, from + BATCH)) await bringDeliveryForward(unit, delivery);
        });
      last = planned.at(-1);
    } while (planned.length === PLANNED_READ);
  }

  /** Applies the corrections that are valid regardless of the previous clock time. Idempotent. */
  async function setRight(): Promise<void> {
    for (const [what, lifetimeMs] of shortLived)
      await inSlices((unit, limit) => shortenToLifetime(unit, what, lifetimeMs, limit));
    for (const lane of Object.keys(MAIL_PRIORITIES) as MailPriority[])
      await inSlices((unit, limit) => bringMailsForward(unit, lane, longestMailWaitMs, limit));
    await bringDeliveriesForward();
  }

  return {
    start: setRight,
    job: {
      name: 'clock',
      everyMs: LOOK_EVERY_MS,
      async runOnce() {
        const now = clock.now();
        const backMs = latest - now;
        if (backMs >= LEAST_STEP_MS) {
          log.warn({ backMs }, 'the clock went back; what was planned by the old time is due now');
          for (const [what] of shortLived) await inSlices((unit, limit) => expireAgain(unit, what, latest, limit));
          await setRight();
        }
        // Set last, so that a failed run is repeated.
        latest = now;
      },
    },
  };
}
