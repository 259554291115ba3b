/**
 * Measures a PostgreSQL database and its server through views that every role may read. Columns that need
 * `pg_read_all_stats` are null without it. https://www.postgresql.org/docs/current/monitoring-stats.html
 */
import type { BloatedTable, DatabaseServer, Standby } from '../database-server.ts';
import type { DatabaseSize } from '../database.ts';
import type { Run } from './driver.ts';

const MOST_TABLES = 5;
const MANY_DEAD_ROWS = 50_000;

/** Settings without which a crash of the machine can damage the database. */
const CRASH_SAFETY = ['fsync', 'full_page_writes'];

const SERVER = `
  SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_database() AS database,
    pg_database_size(current_database()) AS bytes,
    current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('synchronous_standby_names') AS "synchronousStandbyNames",
    concat_ws(' ', ${CRASH_SAFETY.map((name) => `CASE current_setting('${name}') WHEN 'off' THEN '${name}' END`).join(', ')}) AS unsafe,
    current_setting('data_checksums') = 'on' AS "hasChecksums", current_setting('autovacuum') = 'on' AS "isAutovacuumOn",
    CAST(current_setting('max_connections') AS bigint)
      - CAST(current_setting('superuser_reserved_connections') AS bigint)
      - CAST(COALESCE(current_setting('reserved_connections', true), '0') AS bigint) AS most,
    (SELECT CAST(age(datfrozenxid) AS bigint) FROM pg_database WHERE datname = current_database()) AS "transactionIdAge"`;

/** Sessions of other roles have no `backend_type` here without the right to see it. */
const SESSIONS = `
  SELECT count(*) AS "all",
    count(*) FILTER (WHERE usename = current_user AND datname = current_database()) AS own,
    count(*) FILTER (WHERE backend_type IS NULL AND datname = current_database()) AS "hiddenSessions",
    CAST(max(extract(epoch FROM clock_timestamp() - xact_start)) FILTER
      (WHERE datname = current_database() AND pid <> pg_backend_pid()) * 1000 AS bigint) AS "oldestTransactionMs"
  FROM pg_stat_activity WHERE datid IS NOT NULL AND COALESCE(backend_type, 'client backend') = 'client backend'`;

const STANDBYS = `
  SELECT application_name AS name, state, sync_state AS "syncState",
    CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS bigint) AS "lagBytes",
    CAST(extract(epoch FROM replay_lag) * 1000 AS bigint) AS "lagMs"
  FROM pg_stat_replication WHERE COALESCE(state, '') <> 'backup' ORDER BY application_name, pid`;

const TABLES = `
  SELECT relname AS "table", n_live_tup AS "liveRows", n_dead_tup AS "deadRows",
    CAST(extract(epoch FROM GREATEST(last_vacuum, last_autovacuum)) * 1000 AS bigint) AS "lastVacuumAt"
  FROM pg_stat_user_tables
  WHERE schemaname = current_schema() AND n_dead_tup > ${MANY_DEAD_ROWS} AND n_dead_tup > n_live_tup
  ORDER BY n_dead_tup DESC, relname LIMIT ${MOST_TABLES}`;

type ServerRow = Omit<DatabaseServer, 'connections' | 'unsafeSettings' | 'host'> & {
  readonly bytes: number;
  readonly unsafe: string;
  readonly most: number;
};
type SessionsRow = Pick<DatabaseServer, 'hiddenSessions' | 'oldestTransactionMs'> &
  Readonly<Record<'all' | 'own', number>>;

/** @param urls of the cluster's servers. */
export async function measurePostgres(run: Run, urls: readonly string[]): Promise<DatabaseSize> {
  const rowsOf = async <Row>(text: string) => (await run(text, [])).rows as Row[];
  const [[server], [sessions], standbys, bloatedTables] = await Promise.all([
    rowsOf<ServerRow>(SERVER) as Promise<[ServerRow]>,
    rowsOf<SessionsRow>(SESSIONS) as Promise<[SessionsRow]>,
    rowsOf<Standby>(STANDBYS),
    rowsOf<BloatedTable>(TABLES),
  ]);
  const { bytes, unsafe, most, ...facts } = server;
  const { all, own, ...transactions } = sessions;
  return {
    bytes,
    reusableBytes: null,
    freeBytes: null,
    server: {
      ...facts,
      ...transactions,
      host: urls.map((url) => new URL(url).host).join(', '),
      connections: { own, all, most },
      standbys,
      unsafeSettings: unsafe.split(' ').filter((name) => name !== ''),
      bloatedTables,
    },
  };
}
