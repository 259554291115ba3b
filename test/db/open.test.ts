/** What opening a database file sees to. */
import { describe, expect, test } from 'bun:test';
import { systemClock } from '@/core/clock.ts';
import { openEngine, openSqlite } from '@/db/open.ts';
import { openTestDatabase } from '../support/database.ts';

const tablesOf = (sqlite: { query(sql: string): { all(): unknown[] } }) =>
  (sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]).map(
    ({ name }) => name,
  );

const open = (path: string) =>
  openEngine(openSqlite(path, { isDurable: false }), path, { clock: systemClock, isDurable: false, isServer: false });

describe('a database that is opened', () => {
  test('loses the statistics that another program has made: a statement’s plan stays the same for ever', async () => {
    const { db, sqlite, path } = await openTestDatabase({ now: () => 1 });
    await db.close();
    sqlite.run("INSERT INTO workspaces VALUES ('wsp_1', 'Acme', 1), ('wsp_2', 'Other', 1)");
    sqlite.run('CREATE INDEX by_name ON workspaces (name)');
    sqlite.run('ANALYZE');
    expect(tablesOf(sqlite)).toContain('sqlite_stat1');
    const again = await open(path);
    expect(tablesOf(sqlite)).not.toContain('sqlite_stat1');
    await again.close();
    const twice = await open(path);
    await twice.close();
  });

  test('says how much of its file later rows will fill, since it does not shrink by itself', async () => {
    const { db, sqlite } = await openTestDatabase({ now: () => 1 });
    const before = await db.measure();
    sqlite.run('CREATE TABLE filler (bytes BLOB)');
    sqlite.run('WITH n (i) AS (SELECT value FROM json_each(?)) INSERT INTO filler SELECT zeroblob(100000) FROM n', [
      JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ]);
    sqlite.run('DELETE FROM filler');
    const after = await db.measure();
    expect(after.reusableBytes - before.reusableBytes).toBeGreaterThan(900_000);
    expect(after.bytes).toBeGreaterThanOrEqual(before.bytes);
  });
});
