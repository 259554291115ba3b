/** Webhook endpoints, their deliveries, and every delivery attempt. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { events } from './records.ts';

export const WEBHOOK_STATUSES = ['active', 'disabled', 'quarantined'] as const;
/** `held` is a pending delivery of a quarantined endpoint; it is never stored. */
export const DELIVERY_STATUSES = ['pending', 'held', 'delivered', 'failed'] as const;

/** An endpoint is sent events, or logout tokens (OpenID Connect Back-Channel Logout 1.0). */
export const WEBHOOK_KINDS = ['events', 'logout'] as const;

export const webhooks = sqliteTable('webhooks', {
  id: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  url: text().notNull(),
  description: text(),
  /** Event types, or only `*` for all. */
  events: text({ mode: 'json' }).$type<string[]>().notNull(),
  status: text({ enum: WEBHOOK_STATUSES }).notNull(),
  sealedSecret: text('sealed_secret').notNull(),
  /** Also signs until `previousSecretEndsAt`. */
  previousSealedSecret: text('previous_sealed_secret'),
  previousSecretEndsAt: integer('previous_secret_ends_at'),
  quarantinedAt: integer('quarantined_at'),
  quarantineReason: text('quarantine_reason'),
  /** After a release, held deliveries are sent one by one in id order, up to this id. Null once each was tried. */
  inOrderUntil: text('in_order_until'),
  /** Last id tried in that order; empty at the beginning. */
  inOrderAfter: text('in_order_after'),
  /** When the owners were warned of dropped deliveries; reset when the endpoint stops or resumes receiving. */
  dropNoticeAt: integer('drop_notice_at'),
  /** Hides the endpoint; the row goes with its last delivery. */
  removedAt: integer('removed_at'),
  kind: text({ enum: WEBHOOK_KINDS }).notNull().default('events'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export type Webhook = typeof webhooks.$inferSelect;

export const deliveries = sqliteTable('deliveries', {
  id: text().primaryKey(),
  webhookId: text('webhook_id')
    .notNull()
    .references(() => webhooks.id, { onDelete: 'cascade' }),
  eventId: text('event_id')
    .notNull()
    .references(() => events.id),
  eventType: text('event_type').notNull(),
  status: text({ enum: DELIVERY_STATUSES }).notNull(),
  attempts: integer().notNull(),
  nextAttemptAt: integer('next_attempt_at').notNull(),
  leasedUntil: integer('leased_until'),
  /** Counts while `leasedUntil` is set. */
  leaseHolder: text('lease_holder'),
  createdAt: integer('created_at').notNull(),
  finishedAt: integer('finished_at'),
});

export type Delivery = typeof deliveries.$inferSelect;

export const deliveryAttempts = sqliteTable(
  'delivery_attempts',
  {
    deliveryId: text('delivery_id')
      .notNull()
      .references(() => deliveries.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    startedAt: integer('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    statusCode: integer('status_code'),
    errorClass: text('error_class'),
    requestHeaders: text('request_headers', { mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** At most 1 KiB. */
    responseExcerpt: text('response_excerpt'),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);
