/** What happened in applications, in numbers. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const dailyCounts = sqliteTable(
  'daily_counts',
  {
    applicationId: text('application_id').notNull(),
    metric: text().notNull(),
    /** The time at which the day begins, or the week or month where that is counted. */
    day: integer().notNull(),
    /** What the metric is told apart by; empty where it is one number. */
    label: text().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.metric, table.day, table.label] })],
);
