/** Keeps the search index of members complete; until a member is indexed, a search compares the member's own columns. */
import { batchSize } from '../../core/batches.ts';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { SECOND } from '../../core/clock.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Database } from '../../db/database.ts';
import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { ENTER_MEMBERS, enterMembers, hasMissing, indexMissing } from '../../store/member-index.ts';

const FIRST_BATCH = 50;
const LARGEST_BATCH = 1000;

/** Indexes new and changed members in short batches. */
export function memberIndexJob(db: Database): Job {
  const size = batchSize({ first: FIRST_BATCH, largest: LARGEST_BATCH, longMs: db.batchMs });
  return {
    name: 'member search',
    everyMs: 2 * SECOND,
    isDueAtStart: true,
    isExclusive: true,
    async runOnce() {
      while (await hasMissing(db.reader)) {
        await size.run(
          (limit) => db.write(SYSTEM_ACTOR, (unit) => indexMissing(unit, limit)),
          (done, limit) => done >= limit,
        );
        await yieldToEventLoop();
      }
    },
  };
}

/** Enters the members of an instance that was upgraded. A migration begins it. */
export const enterMembersTask: BackgroundTask = {
  name: ENTER_MEMBERS,
  async step(unit, { cursor }, limit) {
    const { last, rows } = await enterMembers(unit, cursor ?? '', limit);
    return { done: rows, cursor: last, isFinished: rows < limit };
  },
};
