/** Warnings about a database server, for those who run the instance. */
import { HOUR, MINUTE } from '../../core/clock.ts';
import { bytesText, counted, lasting } from '../../core/quantities.ts';
import type { DatabaseServer, Standby } from '../../db/database-server.ts';

export const SERVER_WARNING_CODES = [
  'database_unsafe',
  'transaction_ids_scarce',
  'connections_scarce',
  'synchronous_standby_missing',
  'standby_late',
  'transaction_open',
  'autovacuum_off',
  'tables_bloated',
] as const;

export interface ServerWarning {
  readonly code: (typeof SERVER_WARNING_CODES)[number];
  readonly message: string;
  readonly remedy: string;
}

const MOST_CONNECTIONS = 0.8;
const LATE_BYTES = 64 * 2 ** 20;
const LATE_MS = MINUTE;
const LONG_TRANSACTION_MS = HOUR;
/** Half of what the server allows, and five times the age at which autovacuum freezes by default. */
const OLD_TRANSACTION_ID = 1_000_000_000;
const OF_ALL_IDS = 2_146_000_000;

/** Returns warnings in order of urgency. */
export function serverWarnings(server: DatabaseServer): ServerWarning[] {
  const { unsafeSettings, transactionIdAge, oldestTransactionMs, isAutovacuumOn, bloatedTables } = server;
  const { own, all, most } = server.connections;
  const late = server.standbys.filter(isLate);
  const found: (ServerWarning | false)[] = [
    unsafeSettings.length > 0 && {
      code: 'database_unsafe',
      message: `PostgreSQL runs with ${unsafeSettings.join(' and ')} off: a power failure can destroy the database.`,
      remedy: `Set ${unsafeSettings.map((name) => `${name} = on`).join(' and ')} in postgresql.conf, and reload the server.`,
    },
    transactionIdAge > OLD_TRANSACTION_ID && {
      code: 'transaction_ids_scarce',
      message: `${Math.round((transactionIdAge / OF_ALL_IDS) * 100)} % of PostgreSQL’s transaction ids are used up: at 100 % it takes no changes.`,
      remedy: 'End old transactions and unused replication slots, then run VACUUM (FREEZE) in the database.',
    },
    all >= most * MOST_CONNECTIONS && {
      code: 'connections_scarce',
      message: `${all} of PostgreSQL’s ${most} connections are in use, ${own} of them by Gatehouse.`,
      remedy: 'Lower GATEHOUSE_DATABASE_POOL, use PgBouncer, or raise max_connections.',
    },
    isSynchronousMissing(server) && {
      code: 'synchronous_standby_missing',
      message: 'No synchronous standby is connected: changes wait for one, and time out.',
      remedy: 'Bring the standby back, or change synchronous_standby_names and reload the server.',
    },
    late.length > 0 && {
      code: 'standby_late',
      message: `${late.map(lagText).join('; ')}. A failover to it would lose, or wait for, these changes.`,
      remedy: 'Check the standby’s disk, its network and long queries on it (pg_stat_replication).',
    },
    oldestTransactionMs !== null &&
      oldestTransactionMs > LONG_TRANSACTION_MS && {
        code: 'transaction_open',
        message: `A transaction has been open for ${lasting(oldestTransactionMs)}: dead rows cannot be removed meanwhile.`,
        remedy: 'Find it in pg_stat_activity by xact_start, and end it: SELECT pg_terminate_backend(pid).',
      },
    !isAutovacuumOn && {
      code: 'autovacuum_off',
      message: 'PostgreSQL runs with autovacuum off: tables grow, and transaction ids run out.',
      remedy: 'Set autovacuum = on in postgresql.conf, and reload the server.',
    },
    bloatedTables.length > 0 && {
      code: 'tables_bloated',
      message: `More dead than live rows: ${bloatedTables.map(({ table, deadRows }) => `${table} (${counted(deadRows, 'dead row')})`).join(', ')}.`,
      remedy: 'Run VACUUM on them; end transactions and replication slots that keep autovacuum from it.',
    },
  ];
  return found.filter((warning) => warning !== false);
}

function isLate({ lagBytes, lagMs }: Standby): boolean {
  return (lagBytes !== null && lagBytes > LATE_BYTES) || (lagMs !== null && lagMs > LATE_MS);
}

/** Returns the lag of a standby in a phrase. */
export function lagText({ name, lagBytes, lagMs }: Standby): string {
  const parts = [lagBytes !== null && bytesText(lagBytes), lagMs !== null && lagMs >= 1000 && lasting(lagMs)];
  const lag = parts.filter((part) => part !== false).join(', ');
  return `standby ${name ?? 'without a visible name'} is ${lag === '' ? 'an unknown time' : lag} behind`;
}

/** Returns whether changes wait for a standby that is not there. False where this role may not see the standbys. */
function isSynchronousMissing({ synchronousStandbyNames, synchronousCommit, standbys }: DatabaseServer): boolean {
  const isAwaited = synchronousStandbyNames !== '' && !['off', 'local'].includes(synchronousCommit);
  return isAwaited && standbys.every(({ syncState }) => syncState === 'async' || syncState === 'potential');
}
