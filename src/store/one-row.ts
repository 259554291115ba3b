/** Changes of one row that return it. A missing row is a defect and throws. */
import { eq } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteInsertValue, SQLiteTable, SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core';
import { onlyOne } from '../core/required.ts';
import type { Unit } from '../db/database.ts';
import { ormFor, orm } from '../db/statements.ts';

export async function insertOne<Table extends SQLiteTable>(
  unit: Unit,
  table: Table,
  row: SQLiteInsertValue<Table>,
): Promise<Table['$inferSelect']> {
  return onlyOne(await orm(unit).insert(table).values(row).returning());
}

export async function updateOne<Table extends SQLiteTable & { readonly id: SQLiteColumn }>(
  unit: Unit,
  table: Table,
  id: string,
  columns: SQLiteUpdateSetSource<Table>,
): Promise<Table['$inferSelect']> {
  return onlyOne(await ormFor(unit, [id]).update(table).set(columns).where(eq(table.id, id)).returning());
}
