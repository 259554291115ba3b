/** Notices a clock that has gone back, and makes due what would otherwise wait until the clock is there again. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { type Clock, SECOND } from '../core/clock.ts';
import type { Database, Unit } from '../db/database.ts';
import type { Job } from './scheduler.ts';

/** Rows of one change. */
const SLICE = 250;
/** A clock that is set right by less is not worth a look. */
const LEAST_STEP_MS = SECOND;

/** Brings a slice of what was planned in the future forward to the change's time. @returns how many rows that were. */
export type BringForward = (unit: Unit, limit: number) => Promise<number>;

export interface ClockSteps {
  readonly job: Job;
  /** For what was planned before a stop, during which the clock may have gone back. */
  start(): Promise<void>;
}

/** The clock is compared with where it was at the last look. */
export function clockSteps(
  { db, clock, log }: { readonly db: Database; readonly clock: Clock; readonly log: Logger },
  kinds: readonly BringForward[],
): ClockSteps {
  let latest = clock.now();

  async function bringForward(): Promise<void> {
    for (const kind of kinds) while ((await db.write(SYSTEM_ACTOR, (unit) => kind(unit, SLICE))) === SLICE);
  }

  return {
    start: bringForward,
    job: {
      name: 'clock',
      everyMs: SECOND,
      async runOnce() {
        const now = clock.now();
        const backMs = latest - now;
        if (backMs >= LEAST_STEP_MS) {
          log.warn({ backMs }, 'the clock went back; what was planned by the old time is due now');
          await bringForward();
        }
        // Only now: where it failed, it is done at the next run.
        latest = now;
      },
    },
  };
}
