/** Shares streams among budgets: at the maximum, the largest budget loses its oldest stream, which can be reopened. */
import { AppError } from '../core/error.ts';

export interface BudgetStream {
  readonly budgetId: string;
}

export interface StreamShares<Stream extends BudgetStream> {
  /** Counts a new stream. @throws {AppError} unavailable at the maximum, if no budget would have more than this one. */
  add(stream: Stream): void;
  /** Idempotent. */
  remove(stream: Stream): void;
  of(budgetId: string): number;
  count(): number;
}

/** @param max streams in all. @param close ends an evicted stream; it calls `remove`. */
export function streamShares<Stream extends BudgetStream>(
  max: number,
  close: (stream: Stream) => void,
): StreamShares<Stream> {
  /** Streams by budget, the oldest first. */
  const open = new Map<string, Set<Stream>>();
  let total = 0;

  const countOf = (budgetId: string) => open.get(budgetId)?.size ?? 0;

  function oldestOfLargest(): Stream | undefined {
    let largest: Set<Stream> | undefined;
    for (const streams of open.values()) if (streams.size > (largest?.size ?? 0)) largest = streams;
    return largest?.values().next().value;
  }

  return {
    add(stream) {
      const { budgetId } = stream;
      if (total >= max) {
        const spare = oldestOfLargest();
        if (!spare || countOf(spare.budgetId) <= countOf(budgetId) + 1)
          throw new AppError('unavailable', { hint: 'too_many_streams' });
        close(spare);
      }
      const streams = open.get(budgetId) ?? new Set();
      open.set(budgetId, streams.add(stream));
      total += 1;
    },
    remove(stream) {
      const streams = open.get(stream.budgetId);
      if (!streams?.delete(stream)) return;
      total -= 1;
      if (streams.size === 0) open.delete(stream.budgetId);
    },
    of: countOf,
    count: () => total,
  };
}
