/** The backups that the server makes by itself. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const backupRuns = sqliteTable('backup_runs', {
  id: text().primaryKey(),
  cause: text({ enum: ['schedule', 'manual'] }).notNull(),
  status: text({ enum: ['running', 'succeeded', 'failed', 'interrupted'] }).notNull(),
  /** Where it lies, or was to lie. */
  place: text().notNull(),
  isEncrypted: integer('is_encrypted', { mode: 'boolean' }).notNull(),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
  bytes: integer(),
  rowCount: integer('row_count'),
  sha256: text(),
  /** What kept it from being made, with the remedy; null where nothing did. */
  error: text(),
});
