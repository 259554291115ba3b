/**
 * Batches of background work. A batch holds the writer and the event loop, so its size adapts to the duration of the
 * previous one: a batch takes a few milliseconds on any machine.
 */

/** Duration of a batch without its commit, above which the next one is half as large. */
const LONG_MS = 4;
/** Duration below which a full batch is followed by one twice as large. */
const SHORT_MS = 2;
const SMALLEST = 10;

export interface BatchSize {
  /** Runs one batch. The next adapts to its duration if `isFull`: a partial batch does not tell a full one's. */
  run<Result>(
    batch: (limit: number) => Promise<Result>,
    isFull: (result: Result, limit: number) => boolean,
  ): Promise<Result>;
}

export function batchSize(first: number, largest: number): BatchSize {
  let limit = first;
  return {
    async run(batch, isFull) {
      const startedAt = performance.now();
      const result = await batch(limit);
      const tookMs = performance.now() - startedAt;
      if (tookMs > LONG_MS) limit = Math.max(SMALLEST, Math.floor(limit / 2));
      else if (tookMs < SHORT_MS && isFull(result, limit)) limit = Math.min(largest, limit * 2);
      return result;
    },
  };
}
