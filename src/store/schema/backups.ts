/** Backup runs of the server. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const backupRuns = sqliteTable('backup_runs', {
  id: text().primaryKey(),
  cause: text({ enum: ['schedule', 'manual'] }).notNull(),
  status: text({ enum: ['running', 'succeeded', 'failed', 'interrupted'] }).notNull(),
  /** The destination, whether or not the backup was written. */
  place: text().notNull(),
  isEncrypted: integer('is_encrypted', { mode: 'boolean' }).notNull(),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
  bytes: integer(),
  rowCount: integer('row_count'),
  sha256: text(),
  /** Cause of the failure and its remedy; null on success. */
  error: text(),
});
