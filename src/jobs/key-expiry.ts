/** Records which keys have expired, so that neither a clock that goes back nor a restart revives one. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../db/database.ts';
import { endKeysByTime, isAnyKeyPastItsTime } from '../store/api-keys.ts';
import type { Job } from './scheduler.ts';

/** Keys per transaction. */
const BATCH = 250;

export function keyExpiryJob({ db, clock }: { readonly db: Database; readonly clock: Clock }): Job {
  return {
    name: 'key expiry',
    everyMs: 5000,
    isExclusive: true,
    async runOnce() {
      while (await isAnyKeyPastItsTime(db.reader, clock.now()))
        await db.write(SYSTEM_ACTOR, (unit) => endKeysByTime(unit, BATCH));
    },
  };
}
