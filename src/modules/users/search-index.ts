/** Keeps the search index of members complete; until a member is indexed, a search compares the member's own columns. */
import type { Database } from '../../db/database.ts';
import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { searchIndexJob } from '../../jobs/search-index.ts';
import { ENTER_MEMBERS, enterMembers, hasMissing, indexMissing } from '../../store/member-index.ts';

/** Indexes new and changed members in short batches. */
export function memberIndexJob(db: Database): Job {
  return searchIndexJob(db, { name: 'member search', hasMissing, indexMissing });
}

/** Enters the members of an instance that was upgraded. A migration begins it. */
export const enterMembersTask: BackgroundTask = {
  name: ENTER_MEMBERS,
  async step(unit, { cursor }, limit) {
    const { last, rows } = await enterMembers(unit, cursor ?? '', limit);
    return { done: rows, cursor: last, isFinished: rows < limit };
  },
};
