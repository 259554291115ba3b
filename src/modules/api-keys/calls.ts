import { isoTime } from '../../core/clock.ts';
import type { TimeSeries } from '../../core/time-series.ts';
import type { Reader } from '../../db/database.ts';
import { countsOver } from '../../store/hourly-counts.ts';
import { CALL_METRICS, type CallMetric } from '../stats/key-calls.ts';
import type { KeyCalls } from './model.ts';

/** Returns a key's calls over time. */
export async function callsOf(reader: Reader, keyId: string, series: TimeSeries): Promise<KeyCalls> {
  const counts = await countsOver(reader, { subject: keyId, metrics: CALL_METRICS }, series);
  const of = (metric: CallMetric, at: number) => counts.get(at)?.get(metric) ?? 0;
  return {
    unit: series.unit,
    points: series.starts.map((at) => ({
      at: isoTime(at),
      accepted: of('accepted', at),
      refused: of('refused', at),
    })),
  };
}
