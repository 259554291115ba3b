/** Workspaces, the owners of applications. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const workspaces = sqliteTable('workspaces', {
  id: text().primaryKey(),
  name: text().notNull(),
  createdAt: integer('created_at').notNull(),
  /** The account whose shared budgets this workspace uses; null if no account created it. */
  createdByUserId: text('created_by_user_id'),
});
