/** Exports the metrics of an instance: counters kept where events happen, and gauges read at each scrape. */
import { isUnavailable } from '../../db/errors.ts';
import type { QueueCounts } from '../health/queue-counts.ts';
import type { Module, ModuleContext } from '../module.ts';
import { metricsGuard } from './access.ts';
import { eventCounters } from './event-counters.ts';
import { instanceMetrics } from './instance-metrics.ts';
import { loopDelay, processMetrics } from './process-metrics.ts';
import { metricsRoute } from './routes.ts';

export interface MetricsSources {
  readonly queueCounts: QueueCounts;
  readonly streams: Readonly<Record<string, () => number>>;
}

export function metricsModule(context: ModuleContext, sources: MetricsSources): Module {
  const { metrics, clock, log } = context;
  instanceMetrics({ ...context, version: context.instance.version, ...sources });
  processMetrics(metrics, clock);
  const delay = loopDelay(metrics);
  return {
    operations: [
      metricsRoute({
        guard: metricsGuard(context),
        families: metrics.families,
        onFailure(name, err) {
          // `gatehouse_database_writable` and the log say so already.
          if (!isUnavailable(err)) log.warn({ err, figure: name }, 'a metric could not be read');
        },
      }),
    ],
    listeners: eventCounters(metrics),
    start: async () => delay.start(),
    stop: async () => delay.stop(),
  };
}
