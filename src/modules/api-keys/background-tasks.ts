/** Background task of a key's revocation: ends every other key of the same principal. */
import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import { endSharedKeys } from '../../store/api-keys.ts';

export interface KeyEnding {
  /** The principal's membership. It is banned, so none of its keys is accepted while the task runs. */
  readonly memberId: string;
}

/** Needs no cursor: ended keys are not found again. */
export const keyEndings: BackgroundTask<KeyEnding> = {
  name: 'end_keys',
  async step(unit, { data: { memberId } }, limit) {
    const done = await endSharedKeys(unit, { memberId, limit });
    return { done, cursor: null, isFinished: done < limit };
  },
};
