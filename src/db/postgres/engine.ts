/** PostgreSQL engine: reads at the primary, and changes as serializable transactions that run concurrently. */
import type { Clock } from '../../core/clock.ts';
import { NO_DEADLINE, waitUntil } from '../../core/deadline.ts';
import type { Random } from '../../core/random.ts';
import { commitListeners } from '../commit-listeners.ts';
import { CONNECTION, type Database } from '../database.ts';
import { databaseMetrics, type SlowStatements, slowStatementMonitor } from '../metrics.ts';
import { postgresChanges } from './changes.ts';
import { postgresConnection, sharedStatements } from './connection.ts';
import type { Run } from './driver.ts';
import { away } from './errors.ts';
import { measurePostgres } from './measure.ts';
import { type NewsOptions, openNews } from './news.ts';
import { openPool, type PostgresPoolOptions } from './pool.ts';
import { POSTGRES_SCHEMA_VERSION } from './schema-version.ts';
import { schemaWatch } from './schema-watch.ts';

export interface PostgresEngineOptions extends Omit<PostgresPoolOptions, 'onOutage' | 'metrics'> {
  readonly clock: Clock;
  readonly random: Random;
  /** Monitor of slow statements; without it none is timed. */
  readonly slow?: SlowStatements;
  readonly events?: Pick<PostgresPoolOptions, 'onOutage'> & Pick<NewsOptions, 'onSilence'>;
}

/** A batch holds its own rows alone, and waits for answers of the server most of the time. */
const BATCH_MS = 50;

/** Opens the engine on a migrated schema. @throws the driver's error where no primary answers. */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<Database> {
  const { slow, events = { onOutage() {}, onSilence() {} } } = options;
  const metrics = databaseMetrics();
  const pool = await openPool({ ...options, metrics, onOutage: events.onOutage });
  const listeners = commitListeners();
  const onStatement = slow && slowStatementMonitor(slow, metrics);
  const observed = onStatement ? timed(onStatement) : (run: Run) => run;
  const reads = observed((...statement) => pool.read('reads', ...statement));
  const statements = sharedStatements();
  const reader = postgresConnection({
    statements,
    run: reads,
    runLong: observed((...statement) => pool.read('longReads', ...statement)),
    runLookup: observed((...statement) => pool.read('lookups', ...statement)),
    onLookups: metrics.lookupBatches.observe,
  });
  const change = postgresChanges({ ...options, pool, statements, metrics, observed });
  const news = openNews({
    ...options,
    instanceId: options.random.bytes(12).toHex(),
    onMessages: listeners.notifyOfNews,
    onMissed: listeners.notifyOfMissed,
    onSilence: events.onSilence,
  });
  const schema = schemaWatch(pool);
  let isClosed = false;

  return {
    engine: 'postgres',
    batchMs: BATCH_MS,
    reader: { [CONNECTION]: reader },
    metrics,
    async write(author, work, writeOptions) {
      if (isClosed) throw away();
      const { result, messages } = await change(author, work, writeOptions);
      news.publish(messages);
      listeners.notify(messages);
      return result;
    },
    onCommit: listeners.add,
    onNewsMissed: listeners.addMissed,
    status: () => ({
      queued: pool.waiting(),
      logBytes: null,
      pool: pool.use(),
      outage: isClosed || pool.isAway() ? 'database_away' : schema.outage(),
      damage: null,
    }),
    async probeDisk() {},
    schemaVersion: POSTGRES_SCHEMA_VERSION,
    isSchemaCurrent: schema.check,
    measure: () => measurePostgres(reads, options.urls),
    // The server checks its own pages, where its data checksums are on.
    checkIntegrity: null,
    maintain: schema.checkNowAndThen,
    async close(deadline = NO_DEADLINE) {
      isClosed = true;
      await waitUntil(deadline, news.close());
      await pool.close(deadline);
    },
  };
}

function timed(onStatement: (sql: string, durationMs: number) => void): (run: Run) => Run {
  return (run) => async (text, values, isList) => {
    const since = performance.now();
    const rows = await run(text, values, isList);
    onStatement(text, performance.now() - since);
    return rows;
  };
}
