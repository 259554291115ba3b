/** The effects of opening a database file. */
import { describe, expect, test } from 'bun:test';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import { openEngine } from '@/db/sqlite/engine.ts';
import { openWriter } from '@/db/sqlite/pragmas.ts';
import { orm } from '@/db/statements.ts';
import { workspaces } from '@/store/schema/workspaces.ts';
import { freshDatabaseFile, openTestDatabase } from '../../support/database.ts';

const tablesOf = (sqlite: { query(sql: string): { all(): unknown[] } }) =>
  (sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]).map(
    ({ name }) => name,
  );

const open = (path: string) =>
  openEngine(openWriter(path, { isDurable: false }), path, { clock: systemClock, isDurable: false, isServer: false });

describe('an opened database', () => {
  test('drops statistics made by another program, so that query plans never change', async () => {
    const { db, sqlite, path } = await openTestDatabase({ now: () => 1 });
    await db.close();
    sqlite.run("INSERT INTO workspaces (id, name, created_at) VALUES ('wsp_1', 'Acme', 1), ('wsp_2', 'Other', 1)");
    sqlite.run('CREATE INDEX by_name ON workspaces (name)');
    sqlite.run('ANALYZE');
    expect(tablesOf(sqlite)).toContain('sqlite_stat1');
    const again = await open(path);
    expect(tablesOf(sqlite)).not.toContain('sqlite_stat1');
    await again.close();
    const twice = await open(path);
    await twice.close();
  });

  test('reports the reusable part of its file, which does not shrink', async () => {
    const { db, sqlite } = await openTestDatabase({ now: () => 1 });
    const before = await db.measure();
    sqlite.run('CREATE TABLE filler (bytes BLOB)');
    sqlite.run('WITH n (i) AS (SELECT value FROM json_each(?)) INSERT INTO filler SELECT zeroblob(100000) FROM n', [
      JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ]);
    sqlite.run('DELETE FROM filler');
    const after = await db.measure();
    expect(after.reusableBytes!).toBeGreaterThan(900_000);
    expect(after.bytes).toBeGreaterThanOrEqual(before.bytes);
  });

  test.each([true, false])('keeps its WAL for Litestream if that copies it, and only then (%p)', async (isCopied) => {
    const path = freshDatabaseFile();
    const copier = join(dirname(path), `.${basename(path)}-litestream`);
    const writer = openWriter(path, { isDurable: false });
    const limit = () => writer.query('PRAGMA journal_size_limit').values()[0]?.[0];
    const db = await openEngine(writer, path, { clock: systemClock, isDurable: false, isServer: true });
    // Litestream starts alongside a running server.
    if (isCopied) mkdirSync(copier);
    await db.write(SYSTEM_ACTOR, async (unit) => {
      await orm(unit).insert(workspaces).values({ id: 'wsp_1', name: 'Acme', createdAt: 1 });
    });
    await db.maintain();
    const frames = writer.query('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number };
    // A server does not truncate a small WAL at a commit.
    expect(limit()).toBe(-1);
    expect([frames.log > 0, frames.checkpointed]).toEqual([true, isCopied ? 0 : frames.log]);
    await db.close();
    if (isCopied) {
      const next = openWriter(path, { isDurable: false });
      expect(next.query('PRAGMA journal_size_limit').values()).toEqual([[-1]]);
      expect(next.query('PRAGMA wal_autocheckpoint').values()).toEqual([[0]]);
      next.close();
      rmSync(copier, { recursive: true });
    }
  });

  test('shrinks its WAL gradually after a burst, once little of it is in use', async () => {
    const path = freshDatabaseFile();
    const writer = openWriter(path, { isDurable: false });
    const db = await openEngine(writer, path, { clock: systemClock, isDurable: true, isServer: true });
    const log = () => statSync(`${path}-wal`).size;
    const add = (id: string, name: string) =>
      db.write(SYSTEM_ACTOR, async (unit) => {
        await orm(unit).insert(workspaces).values({ id, name, createdAt: 1 });
      });
    await add('wsp_1', 'x'.repeat(140 * 2 ** 20));
    await db.maintain();
    const large = log();
    expect(large).toBeGreaterThan(128 * 2 ** 20);
    const sizes: number[] = [];
    for (let at = 2; sizes.at(-1) !== sizes.at(-2) || at < 4; at += 1) {
      await add(`wsp_${at}`, 'Acme');
      await db.maintain();
      sizes.push(log());
    }
    // The first change restarts the WAL; each of the next truncates a little.
    expect(sizes[0]).toBe(large);
    sizes.reduce((before, after) => {
      expect(before - after).toBeLessThanOrEqual(8 * 2 ** 20);
      return after;
    }, large);
    expect(sizes.at(-1)).toBeLessThanOrEqual(128 * 2 ** 20);
    expect(sizes.at(-1)).toBeGreaterThan(100 * 2 ** 20);
    await db.close();
  });
});
