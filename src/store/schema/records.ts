/** Side records of a transaction: audit log, event outbox, queued mail, background tasks, rate counters. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Actor } from '../../core/actor.ts';

export const auditRecords = sqliteTable('audit_records', {
  id: text().primaryKey(),
  applicationId: text('application_id'),
  workspaceId: text('workspace_id'),
  kind: text().notNull(),
  ok: integer({ mode: 'boolean' }).notNull(),
  /** The person the record is about. */
  userId: text('user_id'),
  email: text(),
  actorType: text('actor_type').notNull(),
  actorUserId: text('actor_user_id'),
  actorApiKeyId: text('actor_api_key_id'),
  /** The object the record is about, if not a person. */
  targetId: text('target_id'),
  requestId: text('request_id'),
  ip: text(),
  ipCountry: text('ip_country'),
  detail: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  createdAt: integer('created_at').notNull(),
});

/** Distinct addresses of a workspace's records and mails; store/address-search.ts. Triggers insert and delete the rows. */
export const addressSearch = sqliteTable('address_search', {
  entry: integer().primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  address: text().notNull(),
  /** Null while the row is to be indexed. */
  tokens: text(),
});

export const events = sqliteTable('events', {
  id: text().primaryKey(),
  applicationId: text('application_id').notNull(),
  type: text().notNull(),
  data: text({ mode: 'json' }).$type<object>().notNull(),
  createdAt: integer('created_at').notNull(),
});

export const mails = sqliteTable('mails', {
  id: text().primaryKey(),
  recipient: text().notNull(),
  /** Emptied together with the bodies once a mail server has accepted the message: they contain codes. */
  subject: text().notNull(),
  text: text(),
  html: text(),
  code: text(),
  status: text({ enum: ['queued', 'sent', 'captured', 'failed'] }).notNull(),
  attempts: integer().notNull(),
  nextAttemptAt: integer('next_attempt_at').notNull(),
  leasedUntil: integer('leased_until'),
  /** Counts while `leasedUntil` is set. */
  leaseHolder: text('lease_holder'),
  expiresAt: integer('expires_at').notNull(),
  lastError: text('last_error'),
  createdAt: integer('created_at').notNull(),
  sentAt: integer('sent_at'),
  /** Priority; see MAIL_PRIORITIES. */
  lane: integer().notNull().default(1),
  /** The sender; null for the console's own mails and for rows older than this column. */
  applicationId: text('application_id'),
  workspaceId: text('workspace_id'),
  /** Display name; null for mails of the server itself, which have the configured one. */
  senderName: text('sender_name'),
  replyTo: text('reply_to'),
});

/** Background tasks: row updates that a tenant-wide state change still has to write. */
export const longWorks = sqliteTable('long_works', {
  id: text().primaryKey(),
  kind: text().notNull(),
  applicationId: text('application_id'),
  actor: text({ mode: 'json' }).$type<Actor>().notNull(),
  data: text({ mode: 'json' }).$type<object>().notNull(),
  cursor: text(),
  done: integer().notNull(),
  total: integer(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const rateCounters = sqliteTable(
  'rate_counters',
  {
    bucket: text().notNull(),
    subject: text().notNull(),
    windowStartedAt: integer('window_started_at').notNull(),
    windowEndsAt: integer('window_ends_at').notNull(),
    count: integer().notNull(),
    quota: integer(),
    wanted: integer(),
    granted: integer(),
  },
  (table) => [primaryKey({ columns: [table.bucket, table.subject] })],
);

export const workLeaseRows = sqliteTable('work_leases', {
  name: text().primaryKey(),
  holder: text().notNull(),
  leasedUntil: integer('leased_until').notNull(),
});

export const instances = sqliteTable('instances', {
  id: text().primaryKey(),
  version: text().notNull(),
  baseUrl: text('base_url').notNull(),
  host: text().notNull(),
  startedAt: integer('started_at').notNull(),
  seenAt: integer('seen_at').notNull(),
  clockOffsetMs: integer('clock_offset_ms').notNull(),
});
