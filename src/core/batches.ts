/**
 * Batches of background work. The size of a batch adapts to the duration of the previous one, since others wait for a
 * long one: a batch takes about as long on any machine.
 */

const SMALLEST = 10;

export interface BatchLimits {
  /** Rows of the first batch. */
  readonly first: number;
  readonly largest: number;
  /** Duration without the commit, above which the next batch is half as large; below half of it, twice as large. */
  readonly longMs: number;
}

export interface BatchSize {
  /** Runs one batch. The next adapts to its duration if `isFull`: a partial batch does not tell a full one's. */
  run<Result>(
    batch: (limit: number) => Promise<Result>,
    isFull: (result: Result, limit: number) => boolean,
  ): Promise<Result>;
}

export function batchSize({ first, largest, longMs }: BatchLimits): BatchSize {
  let limit = first;
  return {
    async run(batch, isFull) {
      const startedAt = performance.now();
      const result = await batch(limit);
      const tookMs = performance.now() - startedAt;
      if (tookMs > longMs) limit = Math.max(SMALLEST, Math.floor(limit / 2));
      else if (tookMs < longMs / 2 && isFull(result, limit)) limit = Math.min(largest, limit * 2);
      return result;
    },
  };
}
