/** Exports the metrics of an instance: counters kept where events happen, and gauges read at each scrape. */
import type { QueueCounts } from '../health/queue-counts.ts';
import type { Module, World } from '../module.ts';
import { metricsGuard } from './access.ts';
import { happenings } from './happenings.ts';
import { instanceFigures } from './instance-figures.ts';
import { loopDelay, processFigures } from './process-figures.ts';
import { metricsRoute } from './routes.ts';

export interface MetricsSources {
  readonly queueCounts: QueueCounts;
  readonly streams: Readonly<Record<string, () => number>>;
}

export function metricsModule(world: World, sources: MetricsSources): Module {
  const { metrics, clock, log } = world;
  instanceFigures({ ...world, version: world.instance.version, ...sources });
  processFigures(metrics, clock);
  const delay = loopDelay(metrics);
  return {
    operations: [
      metricsRoute({
        guard: metricsGuard(world),
        families: metrics.families,
        onFailure: (name, err) => log.warn({ err, figure: name }, 'a metric could not be read'),
      }),
    ],
    listeners: happenings(metrics),
    start: async () => delay.start(),
    stop: async () => delay.stop(),
  };
}
