/** Metrics of a database server, the same from every instance on it. A data folder has none of them. */
import { SECOND } from '../../core/clock.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { DatabaseServer } from '../../db/database-server.ts';
import type { MeasureNow } from './recent-measure.ts';

export interface ServerMetricsParts {
  readonly metrics: Metrics;
  readonly measured: MeasureNow;
}

export function serverMetrics({ metrics, measured }: ServerMetricsParts): void {
  const gauge = (name: string, help: string, read: (server: DatabaseServer) => number | null) =>
    metrics.gauge(name, help, async () => {
      const size = await measured();
      return size === null || size.server === null ? null : read(size.server);
    });

  gauge(
    'gatehouse_database_server_connections',
    'Connections to the database server, of all its clients.',
    ({ connections }) => connections.all,
  );
  gauge(
    'gatehouse_database_server_connections_max',
    'Number of connections that ordinary roles may have.',
    ({ connections }) => connections.most,
  );
  gauge('gatehouse_database_standbys', 'Connected standbys.', ({ standbys }) => standbys.length);
  gauge('gatehouse_database_standby_lag_bytes', 'Log not yet replayed by the standby furthest behind.', (server) =>
    longest(server.standbys.map(({ lagBytes }) => lagBytes)),
  );
  gauge('gatehouse_database_standby_lag_seconds', 'Replay lag of the standby furthest behind.', ({ standbys }) => {
    const lagMs = longest(standbys.map((standby) => standby.lagMs ?? (standby.lagBytes === 0 ? 0 : null)));
    return lagMs === null ? null : lagMs / SECOND;
  });
  gauge(
    'gatehouse_database_oldest_transaction_seconds',
    'Age of the oldest open transaction that this role may see.',
    ({ oldestTransactionMs }) => (oldestTransactionMs ?? 0) / SECOND,
  );
  gauge(
    'gatehouse_database_transaction_id_age',
    'Age of the oldest transaction id; the server takes no changes from about 2.1e9 on.',
    ({ transactionIdAge }) => transactionIdAge,
  );
}

/** Returns null where none is known. */
function longest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
