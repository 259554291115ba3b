/** Latency of attempts in ranges: percentiles over any time need one counter a range, not every attempt. */

/** Upper ends of the ranges in milliseconds; an attempt that takes longer counts as the last. */
const RANGES = [
  5, 10, 25, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 15_000,
];
const LONGEST = 15_000;

/** Returns the metric that counts an attempt of this duration. */
export const latencyMetric = (durationMs: number): string =>
  metricOf(RANGES.find((end) => durationMs <= end) ?? LONGEST);

export const LATENCY_METRICS: readonly string[] = RANGES.map(metricOf);

function metricOf(end: number): string {
  return `within_${end}`;
}

/**
 * Returns a percentile in milliseconds, interpolated within its range; null without attempts.
 *
 * @param share such as 0.95.
 */
export function latencyPercentile(counts: ReadonlyMap<string, number>, share: number): number | null {
  const ranges = RANGES.map((end, index) => ({
    start: RANGES[index - 1] ?? 0,
    end,
    count: counts.get(metricOf(end)) ?? 0,
  }));
  const total = ranges.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  let rank = share * total;
  for (const { start, end, count } of ranges) {
    if (rank <= count && count > 0) return Math.round(start + ((end - start) * rank) / count);
    rank -= count;
  }
  return LONGEST;
}
