/** Slow statements are logged by their text, never with bound values, and in a bounded number. */
import { expect, test } from 'bun:test';
import { eq, sql } from 'drizzle-orm';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import { openEngine } from '@/db/sqlite/engine.ts';
import { openWriter } from '@/db/sqlite/pragmas.ts';
import { change, orm, prepared, query } from '@/db/statements.ts';
import { workspaces } from '@/store/schema/workspaces.ts';
import { freshDatabaseFile } from '../support/database.ts';

const insert = change<{ id: string; name: string }>(`INSERT INTO workspaces (id, name,
  created_at) VALUES (:id, :name, 1)`);
const find = query.rows<{ id: string }, string>('SELECT id FROM workspaces WHERE name = :name');

const findBuilt = prepared((db) =>
  db
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.name, sql.placeholder('name')))
    .prepare(),
);

async function open(thresholdMs: number) {
  const path = freshDatabaseFile();
  const told: { sql: string; durationMs: number }[] = [];
  const slow = { thresholdMs, report: (sql: string, durationMs: number) => void told.push({ sql, durationMs }) };
  const db = await openEngine(openWriter(path), path, { clock: systemClock, isDurable: false, isServer: false, slow });
  return { db, told };
}

test('slow changes and reads are logged in one line without values, raw and built ones', async () => {
  const { db, told } = await open(0);
  await db.write(SYSTEM_ACTOR, (unit) => insert(unit, { id: 'wsp_1', name: 'secret' }));
  await find(db.reader, 'secret');
  await orm(db.reader).select({ id: workspaces.id }).from(workspaces);
  expect(told.map(({ sql }) => sql)).toEqual([
    'INSERT INTO workspaces (id, name, created_at) VALUES (:id, :name, 1)',
    'SELECT id FROM workspaces WHERE name = +:name',
    'select "id" from "workspaces"',
  ]);
  for (const { durationMs } of told) expect(durationMs).toBeGreaterThanOrEqual(0);
  expect(db.metrics.slowStatements).toBe(3);
  await db.close();
});

test('prepared builders run under a plan that does not depend on the bound value, as raw statements do', async () => {
  const { db, told } = await open(0);
  await findBuilt(db.reader, { name: 'Ada' });
  expect(told.map((one) => one.sql)).toEqual(['select "id" from "workspaces" where "workspaces"."name" = +?']);
  await db.close();
});

test('quick statements are not logged; of very many slow ones all are counted and twenty logged', async () => {
  const quick = await open(10_000);
  await find(quick.db.reader, 'Ada');
  expect([quick.told.length, quick.db.metrics.slowStatements]).toEqual([0, 0]);
  await quick.db.close();

  const { db, told } = await open(0);
  for (let time = 0; time < 50; time += 1) await find(db.reader, 'Ada');
  expect([told.length, db.metrics.slowStatements]).toEqual([20, 50]);
  await db.close();
});
