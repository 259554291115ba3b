/** A PostgreSQL server tells an ordinary role about itself; the rest is unknown. */
import { afterAll, describe, expect, test } from 'bun:test';
import { emptyDatabases } from '../../support/empty-postgres.ts';
import { execute } from '@/db/postgres/driver.ts';
import { measurePostgres } from '@/db/postgres/measure.ts';
import type { DatabaseServer } from '@/db/database-server.ts';

const databases = await emptyDatabases();
afterAll(() => databases.drop());

async function scene() {
  const database = await databases.create();
  const owner = database.client();
  const superuser = database.client('superuser');
  const measure = () => measurePostgres((text, values) => execute(owner, text, values), [database.url]);
  return { database, owner, superuser, measure };
}

const serverOf = async (measured: ReturnType<typeof measurePostgres>) => (await measured).server as DatabaseServer;

describe('the measure of a PostgreSQL database', () => {
  test('has size, version, place without the password, settings and connections as numbers', async () => {
    const { database, measure } = await scene();
    const { bytes, reusableBytes, freeBytes, server } = await measure();
    expect(bytes).toBeGreaterThan(1_000_000);
    expect([reusableBytes, freeBytes]).toEqual([null, null]);
    const { version, connections, isAutovacuumOn, hasChecksums, transactionIdAge, synchronousCommit, ...rest } =
      server as DatabaseServer;
    expect(rest).toEqual({
      host: new URL(database.url).host,
      database: database.name,
      synchronousStandbyNames: '',
      standbys: [],
      bloatedTables: [],
      oldestTransactionMs: null,
      hiddenSessions: 0,
      // The server of the tests has no need to survive a crash.
      unsafeSettings: ['fsync', 'full_page_writes'],
    });
    expect(version).toMatch(/^\d+(?:\.\d+)?$/);
    expect([isAutovacuumOn, hasChecksums].map((value) => typeof value)).toEqual(['boolean', 'boolean']);
    expect([typeof transactionIdAge, typeof synchronousCommit]).toEqual(['number', 'string']);
    const { own, all, most } = connections;
    expect(own).toBeGreaterThan(0);
    expect(all).toBeGreaterThanOrEqual(own);
    expect(most).toBeGreaterThan(all);
  });

  test('finds the age of an open transaction of its own role, and counts sessions that it may not see', async () => {
    const { database, superuser, measure } = await scene();
    const other = database.client();
    await other.begin(async (transaction) => {
      await transaction.unsafe('SELECT 1');
      await superuser.unsafe('SELECT 1');
      const server = await serverOf(measure());
      expect(server.oldestTransactionMs).toBeGreaterThanOrEqual(0);
      expect(server.hiddenSessions).toBe(1);
    });
    expect((await serverOf(measure())).oldestTransactionMs).toBeNull();
  });
});
