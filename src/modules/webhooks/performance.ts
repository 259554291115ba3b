/** Presents an endpoint's success and latency over time, from hourly counts. */
import { isoTime } from '../../core/clock.ts';
import type { TimeSeries } from '../../core/time-series.ts';
import type { Reader } from '../../db/database.ts';
import { countsOver } from '../../store/hourly-counts.ts';
import { LATENCY_METRICS, latencyPercentile } from './latency.ts';
import type { WebhookPerformance } from './model.ts';

type Counts = ReadonlyMap<string, number>;

export async function performanceOf(
  reader: Reader,
  webhookId: string,
  series: TimeSeries,
): Promise<WebhookPerformance> {
  const counts = await countsOver(
    reader,
    { subject: webhookId, metrics: ['delivered', 'failed', ...LATENCY_METRICS] },
    series,
  );
  return {
    unit: series.unit,
    total: presented(summed([...counts.values()])),
    points: series.starts.map((at) => ({ at: isoTime(at), ...presented(counts.get(at) ?? new Map()) })),
  };
}

function presented(counts: Counts) {
  return {
    delivered: counts.get('delivered') ?? 0,
    failed: counts.get('failed') ?? 0,
    p50Ms: latencyPercentile(counts, 0.5),
    p95Ms: latencyPercentile(counts, 0.95),
  };
}

function summed(all: readonly Counts[]): Counts {
  const sums = new Map<string, number>();
  for (const counts of all) for (const [metric, count] of counts) sums.set(metric, (sums.get(metric) ?? 0) + count);
  return sums;
}
