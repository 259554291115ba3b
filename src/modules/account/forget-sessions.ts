/** Wipes where the sessions of a deleted account were and on what, however many there are. */
import type { LongWorkKind } from '../../jobs/long-work.ts';
import { forgetSessionPlaces, type SessionPosition } from '../../store/sessions.ts';

/** Whose sessions are wiped. */
export interface ForgottenSessions {
  readonly userId: string;
  /** The person's memberships; none comes after their deletion. */
  readonly memberIds: readonly string[];
}

interface Cursor {
  /** Which membership is being gone through. */
  readonly index: number;
  readonly after: SessionPosition | null;
}

/** Nothing is told of it: that the account is deleted has been. */
export const forgetSessions: LongWorkKind<ForgottenSessions> = {
  name: 'forget_sessions',
  async step(unit, { data: { memberIds }, cursor }, limit) {
    let { index, after }: Cursor = cursor === null ? { index: 0, after: null } : (JSON.parse(cursor) as Cursor);
    let done = 0;
    // A membership without a session is work too.
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
