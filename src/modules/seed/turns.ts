/**
 * One after the other in a workspace, so that what two want is made once. Few wait at a time: each holds a document of up to
 * a megabyte, and a workspace must not fill the memory that all share.
 */
import { AppError } from '../../core/error.ts';

const MOST_WAITING = 8;
const RETRY_AFTER_SECONDS = 2;

/** Rejects as the work does, or where too many wait. */
export type Turns = <Result>(workspaceId: string, work: () => Promise<Result>) => Promise<Result>;

interface Line {
  last: Promise<unknown>;
  /** Whoever has its turn as well. */
  count: number;
}

export function workspaceTurns(): Turns {
  const lines = new Map<string, Line>();

  return async (workspaceId, work) => {
    const line = lines.get(workspaceId) ?? { last: Promise.resolve(), count: 0 };
    if (line.count > MOST_WAITING)
      throw new AppError('rate_limited', { hint: 'too_many_applied', retryAfterSeconds: RETRY_AFTER_SECONDS });
    const mine = line.last.then(work, work);
    line.last = mine;
    line.count += 1;
    lines.set(workspaceId, line);
    try {
      return await mine;
    } finally {
      line.count -= 1;
      if (line.count === 0) lines.delete(workspaceId);
    }
  };
}
