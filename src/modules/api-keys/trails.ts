/** The trail of a key's revocation: every other key that shares its principal ends for good. */
import type { LongWorkKind } from '../../jobs/long-work.ts';
import { endSharedKeys } from '../../store/api-keys.ts';

/** Whose keys end. */
export interface KeyEnding {
  /** The principal's membership. It is banned, so none of its keys is accepted meanwhile. */
  readonly memberId: string;
}

/** Repeatable without a cursor: ended keys are not found again. */
export const keyEndings: LongWorkKind<KeyEnding> = {
  name: 'end_keys',
  async step(unit, { data: { memberId } }, limit) {
    const done = await endSharedKeys(unit, memberId, limit);
    return { done, cursor: null, isFinished: done < limit };
  },
};
