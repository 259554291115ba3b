/** Metrics of the database that each instance counts by itself. An engine omits those that it does not have. */
import type { Histogram, Metrics } from '../../core/metrics.ts';
import type { Database, DatabaseStatus } from '../../db/database.ts';
import type { MeasureNow } from './recent-measure.ts';

export interface DatabaseMetricsParts {
  readonly metrics: Metrics;
  readonly db: Database;
  readonly measured: MeasureNow;
}

/** Writes a name such as `longReads` as a label's value. */
const labelOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function instanceDatabaseMetrics({ metrics, db, measured }: DatabaseMetricsParts): void {
  const { metrics: figures } = db;
  const hasLog = () => db.status().logBytes !== null;
  const hasPool = () => db.status().pool !== null;
  const status = (name: string, help: string, read: (status: DatabaseStatus) => number | null) =>
    metrics.gauge(name, help, () => read(db.status()));
  const counter = (name: string, help: string, read: () => number, isKept = () => true) =>
    metrics.add({
      name,
      help,
      type: 'counter',
      read: () => (isKept() ? [{ labels: {}, value: read() }] : []),
    });
  const histogram = (name: string, help: string, values: Histogram, isKept = () => true) =>
    metrics.add({ name, help, type: 'histogram', read: () => (isKept() ? values.samples() : []) });
  const pool = (name: string, help: string, part: 'size' | 'inUse') =>
    metrics.gauge(name, help, () =>
      Object.entries(db.status().pool ?? {}).map(([lane, use]) => [{ lane: labelOf(lane) }, use[part]] as const),
    );

  metrics.gauge(
    'gatehouse_database_bytes',
    'Size of the database without its log.',
    async () => (await measured())?.bytes ?? null,
  );
  metrics.gauge(
    'gatehouse_database_disk_free_bytes',
    'Free bytes on its disk.',
    async () => (await measured())?.freeBytes ?? null,
  );
  status('gatehouse_database_wal_bytes', 'Size of its write-ahead log.', ({ logBytes }) => logBytes);
  status('gatehouse_database_writable', '1 while changes are taken.', ({ outage }) => (outage === null ? 1 : 0));
  status('gatehouse_database_changes_waiting', 'Changes that wait for their turn.', ({ queued }) => queued);
  counter('gatehouse_database_changes_total', 'Changes that were committed.', () => figures.changes);
  counter(
    'gatehouse_database_conflicts_total',
    'Runs of changes that failed because of concurrent ones, and were repeated.',
    () => figures.conflicts,
  );
  histogram(
    'gatehouse_database_transaction_duration_seconds',
    'Whole transactions; in SQLite each contains several changes.',
    figures.transactions,
  );
  histogram(
    'gatehouse_database_commit_duration_seconds',
    'Commits alone, without their statements.',
    figures.commits,
    hasLog,
  );
  histogram(
    'gatehouse_database_flush_duration_seconds',
    'fdatasync of the log, off the event loop.',
    figures.flushes,
    hasLog,
  );
  counter('gatehouse_database_refusals_total', 'Changes that the disk refused.', () => figures.refusals, hasLog);
  counter(
    'gatehouse_database_flush_failures_total',
    'Flushes that the disk refused.',
    () => figures.flushFailures,
    hasLog,
  );
  counter(
    'gatehouse_database_slow_statements_total',
    'Statements that took longer than GATEHOUSE_SLOW_STATEMENT_MS.',
    () => figures.slowStatements,
  );
  metrics.add({
    name: 'gatehouse_database_statements_total',
    help: 'Statements sent to the database server, by kind.',
    type: 'counter',
    read: () => [...figures.statements].map(([lane, value]) => ({ labels: { lane: labelOf(lane) }, value })),
  });
  histogram(
    'gatehouse_database_lookup_batch_size',
    'Lookups that one statement carried to the database server.',
    figures.lookupBatches,
    hasPool,
  );
  histogram(
    'gatehouse_database_connection_wait_seconds',
    'Waits of changes for a connection.',
    figures.connectionWaits,
    hasPool,
  );
  pool('gatehouse_database_pool_connections', 'Connections of this instance, by kind of statement.', 'size');
  pool('gatehouse_database_pool_connections_in_use', 'Those in use; reads share theirs.', 'inUse');
}
