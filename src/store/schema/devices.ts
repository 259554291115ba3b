/** Device authorization grants (RFC 8628): from the code a device shows to the key it is given. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { apiKeys } from './credentials.ts';
import { applicationUsers } from './users.ts';

export const DEVICE_GRANT_STATUSES = ['pending', 'approved', 'denied', 'redeemed'] as const;

export const deviceGrants = sqliteTable('device_grants', {
  id: text().primaryKey(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  deviceCodeHash: blob('device_code_hash', { mode: 'buffer' }).notNull(),
  userCodeDigest: blob('user_code_digest', { mode: 'buffer' }).notNull(),
  status: text({ enum: DEVICE_GRANT_STATUSES }).notNull(),
  deviceName: text('device_name'),
  /** The device's client address, shown to the person who approves. */
  ip: text(),
  ipCountry: text('ip_country'),
  userAgent: text('user_agent'),
  /** Grows by 5 s with every poll that comes too early, permanently (RFC 8628 §3.5). */
  intervalSeconds: integer('interval_seconds').notNull(),
  lastPolledAt: integer('last_polled_at'),
  /** The only session that may decide; of one person's sessions, the one that last opened the request. */
  claimedSessionId: text('claimed_session_id'),
  /** The membership that decided. */
  applicationUserId: text('application_user_id').references(() => applicationUsers.id),
  apiKeyId: text('api_key_id').references(() => apiKeys.id),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  decidedAt: integer('decided_at'),
  applicationEpoch: integer('application_epoch').notNull().default(0),
  /** Days after which its key ends; 0 for never, null for the client's default. */
  keyDays: integer('key_days'),
});

export type DeviceGrant = typeof deviceGrants.$inferSelect;
