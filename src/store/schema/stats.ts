/** Daily metrics of applications, and hourly ones of applications, API keys and webhook endpoints. */
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

export const hourlyCounts = sqliteTable(
  'hourly_counts',
  {
    /** Id of an application, API key or webhook endpoint. */
    subject: text().notNull(),
    metric: text().notNull(),
    /** Start of the UTC hour in epoch milliseconds. */
    hour: integer().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.metric, table.hour] })],
);
