/** Background task that wipes places and devices from the sessions of a deleted account. */
import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import { forgetSessionPlaces, type SessionPosition } from '../../store/sessions.ts';

export interface ForgottenSessions {
  readonly userId: string;
  /** The person's memberships; deletion prevents new ones. */
  readonly memberIds: readonly string[];
}

interface Cursor {
  /** Index of the current membership in `memberIds`. */
  readonly index: number;
  readonly after: SessionPosition | null;
}

/** Emits no event: `user.deleted` was emitted with the deletion. */
export const forgetSessions: BackgroundTask<ForgottenSessions> = {
  name: 'forget_sessions',
  async step(unit, { data: { memberIds }, cursor }, limit) {
    let { index, after }: Cursor = cursor === null ? { index: 0, after: null } : (JSON.parse(cursor) as Cursor);
    let done = 0;
    // Each membership costs one unit of the budget, even one without sessions.
    for (let budget = limit; budget > 0; budget -= 1) {
      const memberId = memberIds[index];
      if (memberId === undefined) break;
      const positions = await forgetSessionPlaces(unit, memberId, { after, limit: budget });
      done += positions.length;
      const isThrough = positions.length < budget;
      budget -= positions.length;
      after = isThrough ? null : (positions.at(-1) ?? null);
      if (isThrough) index += 1;
    }
    const isFinished = index >= memberIds.length;
    return { done, cursor: JSON.stringify({ index, after } satisfies Cursor), isFinished };
  },
};
