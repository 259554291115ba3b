/** Databases on PostgreSQL for the instances of a test. */
import { systemRandom } from '../../src/core/random.ts';
import { openPostgresEngine } from '../../src/db/postgres/engine.ts';
import { databasePool } from './database-pool.ts';
import { dropPostgresDatabase, freshPostgresDatabase } from './postgres.ts';
import { openRows, type Rows } from './postgres-rows.ts';

/** Few, since every instance has its own; several changes run at once, as on a server. */
const LANES = { lookups: 1, reads: 1, longReads: 1, changes: 3 };

export const postgresDatabases = databasePool<Rows>(async () => {
  const url = await freshPostgresDatabase();
  const rows = openRows(url);
  return {
    name: url,
    connect: () => rows,
    open: (clock) =>
      openPostgresEngine({
        urls: [url],
        tls: undefined,
        isBouncer: false,
        lanes: LANES,
        random: systemRandom,
        clock,
      }),
    wipe() {
      if (rows.isChangedSchema()) return false;
      rows.run('SELECT wipe_for_next_test()');
      return true;
    },
    drop() {
      rows.close();
      return dropPostgresDatabase(url);
    },
  };
});

/** Returns whether the server runs no statement of the running tests. */
export function isQuiet(): boolean {
  return postgresDatabases.rows().every((rows) => rows.query(RUNNING).get() === null);
}

const RUNNING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
  AND pid <> pg_backend_pid() LIMIT 1`;
