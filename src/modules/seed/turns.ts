/**
 * Serializes applies per budget, so that two documents that want one thing create it once. Few may wait: each holds up
 * to a megabyte of the memory that all tenants share.
 */
import { AppError } from '../../core/error.ts';

const MOST_WAITING = 8;
const RETRY_AFTER_SECONDS = 2;

/** Rejects as the work does, or if too many calls wait. */
export type Turns = <Result>(budgetId: string, work: () => Promise<Result>) => Promise<Result>;

interface Line {
  last: Promise<unknown>;
  /** Includes the running call. */
  count: number;
}

export function budgetTurns(): Turns {
  const lines = new Map<string, Line>();

  return async (budgetId, work) => {
    const line = lines.get(budgetId) ?? { last: Promise.resolve(), count: 0 };
    if (line.count > MOST_WAITING)
      throw new AppError('rate_limited', { hint: 'too_many_applied', retryAfterSeconds: RETRY_AFTER_SECONDS });
    const mine = line.last.then(work, work);
    line.last = mine;
    line.count += 1;
    lines.set(budgetId, line);
    try {
      return await mine;
    } finally {
      line.count -= 1;
      if (line.count === 0) lines.delete(budgetId);
    }
  };
}
