/** Metrics of the instance: its version, database, queue lengths and ages, and open streams. */
import { type Clock, SECOND } from '../../core/clock.ts';
import type { GaugeReading, Metrics } from '../../core/metrics.ts';
import type { Database } from '../../db/database.ts';
import { MAIL_PRIORITIES, type MailPriority } from '../../store/mails.ts';
import type { CountedQueues, QueueCounts } from '../health/queue-counts.ts';
import { instanceDatabaseMetrics } from './database-metrics.ts';
import { recentMeasure } from './recent-measure.ts';
import { serverMetrics } from './server-metrics.ts';

export interface InstanceMetricsDependencies {
  readonly metrics: Metrics;
  readonly db: Database;
  readonly clock: Clock;
  readonly version: string;
  readonly queueCounts: QueueCounts;
  readonly streams: Readonly<Record<string, () => number>>;
}

const LANES = Object.keys(MAIL_PRIORITIES) as MailPriority[];

export function instanceMetrics(dependencies: InstanceMetricsDependencies): void {
  const { metrics, version, streams } = dependencies;
  metrics.gauge('gatehouse_build_info', 'Always 1; the version is its label.', () => [[{ version }, 1]]);
  metrics.gauge('gatehouse_streams_open', 'Open event streams, by kind.', () =>
    Object.entries(streams).map(([kind, count]) => [{ kind }, count()] as const),
  );
  const measured = recentMeasure(dependencies.db);
  instanceDatabaseMetrics({ ...dependencies, measured });
  serverMetrics({ ...dependencies, measured });
  queueMetrics(dependencies);
}

function queueMetrics({ metrics, clock, queueCounts }: InstanceMetricsDependencies): void {
  const gauge = (name: string, help: string, read: (queues: CountedQueues, now: number) => GaugeReading) =>
    metrics.gauge(name, help, async () => {
      const queues = await queueCounts.quick();
      return queues && read(queues, clock.now());
    });
  const byLane = (of: (lane: MailPriority) => number) => LANES.map((lane) => [{ lane }, of(lane)] as const);

  gauge('gatehouse_queues_counted_age_seconds', 'Age of the queue counts.', ({ countedAt }, now) =>
    ageSeconds(countedAt, now),
  );
  gauge('gatehouse_mails_waiting', 'Queued mails, by priority.', ({ mails }) => byLane((lane) => mails[lane].count));
  gauge('gatehouse_mails_oldest_due_seconds', 'Age of the oldest due mail, by priority.', ({ mails }, now) =>
    byLane((lane) => ageSeconds(mails[lane].dueAt, now)),
  );
  gauge(
    'gatehouse_deliveries_waiting',
    'Pending webhook deliveries: queued, or held by a quarantine.',
    ({ deliveries }) => [
      [{ state: 'queued' }, deliveries.queued.count],
      [{ state: 'held' }, deliveries.held.count],
    ],
  );
  gauge(
    'gatehouse_deliveries_oldest_due_seconds',
    'Age of the oldest due delivery; held ones are not counted.',
    ({ deliveries }, now) => ageSeconds(deliveries.queued.dueAt, now),
  );
  gauge('gatehouse_long_works', 'Unfinished background tasks.', ({ longWork }) => longWork.count);
  gauge(
    'gatehouse_long_work_stalled_seconds',
    'Longest time since an unfinished background task advanced.',
    ({ longWork }, now) => ageSeconds(longWork.dueAt, now),
  );
  const byKind = (
    name: string,
    help: string,
    of: (kind: CountedQueues['longWorkKinds'][number], now: number) => number,
  ) =>
    gauge(name, help, ({ longWorkKinds }, now) =>
      longWorkKinds.map((one) => [{ kind: one.kind }, of(one, now)] as const),
    );
  byKind('gatehouse_long_work_pending', 'Unfinished background tasks, by kind.', ({ count }) => count);
  byKind(
    'gatehouse_long_work_age_seconds',
    'Age of the oldest unfinished background task, by kind.',
    ({ begunAt }, now) => ageSeconds(begunAt, now),
  );
  byKind(
    'gatehouse_long_work_rows_done',
    'Rows written by unfinished background tasks, by kind.',
    ({ rowsDone }) => rowsDone,
  );
  byKind(
    'gatehouse_long_work_rows_left',
    'Rows left to background tasks whose rows were counted, by kind.',
    ({ rowsLeft }) => rowsLeft,
  );
}

/** Returns 0 if nothing is due yet. */
function ageSeconds(since: number | null, now: number): number {
  return since === null ? 0 : Math.max(0, now - since) / SECOND;
}
