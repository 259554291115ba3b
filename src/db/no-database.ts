/** Stands in for a database where the product is described without one; any use of it is a mistake. */
import { CONNECTION, type Database } from './database.ts';
import { databaseMetrics } from './metrics.ts';

function refuse(): never {
  throw new Error('there is no database here');
}

export const NO_DATABASE: Database = {
  engine: 'sqlite',
  batchMs: 0,
  reader: {
    get [CONNECTION]() {
      return refuse();
    },
  },
  write: async () => refuse(),
  onCommit() {},
  onNewsMissed() {},
  status: () => ({ queued: 0, logBytes: 0, pool: null, outage: 'database_not_writable', damage: null }),
  metrics: databaseMetrics(),
  measure: async () => refuse(),
  async maintain() {},
  async probeDisk() {},
  schemaVersion: 0,
  isSchemaCurrent: async () => refuse(),
  checkIntegrity: null,
  async close() {},
};
