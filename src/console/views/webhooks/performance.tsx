/** Success and latency of an endpoint over time. */
import { useState } from 'preact/hooks';
import { Chart, useChartPreload } from '../../components/chart.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { count } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { Range } from '../../components/range.tsx';
import { useLoaded } from '../../data.ts';
import { useLiveEvents } from '../../shell/live.tsx';
import { successWords } from './delivery-words.ts';
import { STATS_DAYS, type WebhookCalls } from './webhook-calls.ts';

interface PerformanceProps {
  readonly webhookId: string;
  readonly calls: WebhookCalls;
}

/** Counts are written every few seconds. */
const LIVE_MS = 6000;

const milliseconds = (value: number) => `${count(value)} ms`;

export function Performance({ webhookId, calls }: PerformanceProps) {
  useChartPreload();
  const [days, setDays] = useState(STATS_DAYS);
  const loaded = useLoaded(() => calls.performance(webhookId, days), [webhookId, days]);
  useLiveEvents(LIVE_MS, loaded.reload);
  const range = <Range id="performance-range" days={days} onChoose={setDays} />;
  if (!loaded.data)
    return (
      <Panel title="Latency" action={range}>
        {loaded.failure ? (
          <FailureNote failure={loaded.failure} onRetry={loaded.reload} />
        ) : (
          <div class="drawing skeleton" aria-hidden="true" />
        )}
      </Panel>
    );
  const { unit, total, points } = loaded.data;
  const times = points.map(({ at }) => at);
  const share = successWords({ delivered: total.delivered, failedAttempts: total.failed });
  const latency =
    total.p50Ms === null || total.p95Ms === null
      ? 'no attempts'
      : `half within ${milliseconds(total.p50Ms)}, 95 % within ${milliseconds(total.p95Ms)}`;
  return (
    <div class="panels" id="performance">
      <Panel title="Latency" lead={`Of all attempts: ${latency}.`} action={range}>
        <Chart
          id="latency"
          label="Latency of attempts"
          summary={latency}
          times={times}
          isHourly={unit === 'hour'}
          format={milliseconds}
          series={[
            { name: '95 % within', values: points.map(({ p95Ms }) => p95Ms) },
            { name: 'Half within', values: points.map(({ p50Ms }) => p50Ms) },
          ]}
        />
      </Panel>
      <Panel
        title="Attempts"
        lead={share ? `${share} of ${count(total.delivered + total.failed)} accepted.` : 'None in this time.'}
      >
        <Chart
          id="attempts"
          label="Attempts"
          times={times}
          isHourly={unit === 'hour'}
          series={[
            { name: 'Accepted', values: points.map(({ delivered }) => delivered) },
            { name: 'Failed', values: points.map(({ failed }) => failed) },
          ]}
        />
      </Panel>
    </div>
  );
}
