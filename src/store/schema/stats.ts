/** Daily metrics of applications. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const dailyCounts = sqliteTable(
  'daily_counts',
  {
    applicationId: text('application_id').notNull(),
    metric: text().notNull(),
    /** Start of the day in epoch milliseconds; of the week or month for weekly and monthly metrics. */
    day: integer().notNull(),
    /** The metric's dimension; empty if it has none. */
    label: text().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.applicationId, table.metric, table.day, table.label] })],
);
