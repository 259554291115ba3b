/** Migrates a PostgreSQL database to this binary's schema in one transaction, however many instances start at once. */
import type { SQL } from 'bun';
import { StartupError } from '../../core/startup-error.ts';
import { serverError, startupErrorOf } from './migrate-errors.ts';
import { POSTGRES_MIGRATIONS, type PostgresMigration } from './migrations.ts';
import { type SchemaVersion, findSchemaVersion, refuseUnreadable, VERSION_TABLE } from './schema-version.ts';
import { requireServer } from './server-facts.ts';

export interface MigrateOptions {
  /** Recorded with each migration. */
  readonly binaryVersion: string;
  readonly migrations?: readonly PostgresMigration[];
  /** Called before each step, from 1. */
  readonly begin?: (step: number, steps: number) => void;
  readonly times?: MigrationTimes;
}

export interface MigrationTimes {
  /** How long an instance waits for another that migrates. */
  readonly turnMs: number;
  /** How long a step waits for a lock. Whoever needs the table after it waits as long. */
  readonly lockMs: number;
  /** How long one statement may take, while it blocks the instances that serve. */
  readonly statementMs: number;
  /** How often a migration begins again when a reader holds a table, and the pause before that. */
  readonly attempts: number;
  readonly pauseMs: number;
}

const TIMES: MigrationTimes = {
  turnMs: 300_000,
  lockMs: 2000,
  statementMs: 300_000,
  attempts: 30,
  pauseMs: 2000,
};

/** Key of the advisory lock: "gatehous" in ASCII. Locks of one database do not concern another. */
export const MIGRATION_LOCK = '7449363237540164979';

const LOCK_NOT_AVAILABLE = '55P03';

/** Locks that others hold, and a deadlock with them: the migration is undone and begins again. */
const AGAIN = [LOCK_NOT_AVAILABLE, '40P01'];

const CREATE_VERSION_TABLE = `CREATE TABLE IF NOT EXISTS ${VERSION_TABLE} (
  version bigint PRIMARY KEY,
  readable_from bigint NOT NULL,
  binary_version text COLLATE "C" NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/** Ends a statement, and with it the migration, within a second of its client's death. Windows has no such setting. */
const NOTICE_A_DEAD_CLIENT = `DO $$ BEGIN SET LOCAL client_connection_check_interval = 1000;
  EXCEPTION WHEN invalid_parameter_value THEN NULL; END $$`;

/**
 * Runs pending migrations, all or nothing. Concurrent calls wait for each other, and only the first migrates. A newer
 * schema is left as it is, as long as this binary can read it.
 *
 * @returns the version found.
 * @throws {StartupError} with the database unchanged.
 */
export async function migratePostgres(sql: SQL, options: MigrateOptions): Promise<number> {
  const { migrations = POSTGRES_MIGRATIONS, times = TIMES } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await findSchemaVersion(sql);
      if (pendingAfter(found, migrations).length === 0) return found.version;
      return await sql.begin('isolation level read committed', (transaction) =>
        migrateInTurn(transaction, { ...options, migrations, times }),
      );
    } catch (error) {
      if (!AGAIN.includes(serverError(error) ?? '') || attempt === times.attempts) throw startupErrorOf(error);
      await Bun.sleep(times.pauseMs);
    }
  }
}

async function migrateInTurn(
  sql: SQL,
  { migrations, times, binaryVersion, begin }: MigrateOptions & Required<Pick<MigrateOptions, 'migrations' | 'times'>>,
): Promise<number> {
  await waitForTurn(sql, times);
  const found = await findSchemaVersion(sql);
  const pending = pendingAfter(found, migrations);
  if (pending.length === 0) return found.version;
  await requireServer(sql);
  await sql.unsafe(CREATE_VERSION_TABLE);
  for (const [at, { version, sql: text, readableFrom }] of pending.entries()) {
    begin?.(at + 1, pending.length);
    await sql.unsafe(text);
    await sql.unsafe(`INSERT INTO ${VERSION_TABLE} (version, readable_from, binary_version) VALUES ($1, $2, $3)`, [
      version,
      readableFrom,
      binaryVersion,
    ]);
  }
  return found.version;
}

/** @throws {StartupError} when a newer binary has migrated the database to a schema that this one cannot read. */
function pendingAfter(found: SchemaVersion, migrations: readonly PostgresMigration[]) {
  refuseUnreadable(found, migrations.at(-1)?.version ?? 0);
  return migrations.filter(({ version }) => version > found.version);
}

/** Takes the lock until the transaction ends; that of a killed process ends within seconds. */
async function waitForTurn(sql: SQL, { turnMs, lockMs, statementMs }: MigrationTimes): Promise<void> {
  await sql.unsafe(`${NOTICE_A_DEAD_CLIENT};
    SET LOCAL idle_in_transaction_session_timeout = 60000;
    SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = ${turnMs}`);
  try {
    await sql.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  } catch (error) {
    if (serverError(error) !== LOCK_NOT_AVAILABLE) throw error;
    throw new StartupError('Another instance is still migrating the database. Start again when it is ready.', {
      cause: error,
    });
  }
  await sql.unsafe(`SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs}`);
}
