/** Writes down which keys have ended by time, so that no clock that goes back brings one to life again, nor a restart. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../db/database.ts';
import { endKeysByTime, isAnyKeyPastItsTime } from '../store/api-keys.ts';
import type { Job } from './scheduler.ts';

/** Keys written in one transaction. */
const BATCH = 250;

export function keyExpiryJob({ db, clock }: { readonly db: Database; readonly clock: Clock }): Job {
  return {
    name: 'key expiry',
    everyMs: 5000,
    async runOnce() {
      while (await isAnyKeyPastItsTime(db.reader, clock.now()))
        await db.write(SYSTEM_ACTOR, (unit) => endKeysByTime(unit, BATCH));
    },
  };
}
