/** Credentials: sessions, API keys, one-time codes and setup links. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { applications } from './applications.ts';
import { applicationUsers, users } from './users.ts';
import { workspaces } from './workspaces.ts';

export const sessions = sqliteTable('sessions', {
  id: text().primaryKey(),
  tokenHash: blob('token_hash', { mode: 'buffer' }).notNull(),
  applicationUserId: text('application_user_id')
    .notNull()
    .references(() => applicationUsers.id),
  method: text().notNull(),
  ip: text(),
  ipCountry: text('ip_country'),
  userAgent: text('user_agent'),
  lastSeenAt: integer('last_seen_at').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  revokedAt: integer('revoked_at'),
  revokedReason: text('revoked_reason'),
  expiryReportedAt: integer('expiry_reported_at'),
  /** Sum of the application's and the membership's epoch at creation. */
  epoch: integer().notNull().default(0),
  /** When the holder last re-authenticated. */
  provedAt: integer('proved_at'),
  /** The passkey or provider identity that the session depends on; null for other methods or if unknown. */
  credentialId: text('credential_id'),
  /** Hash of the page cookie's secret; equal to `tokenHash` if no application was given a token. */
  pageTokenHash: blob('page_token_hash', { mode: 'buffer' }),
  /** When the holder of the page cookie last re-authenticated. */
  pageProvedAt: integer('page_proved_at'),
  /** When the person proved who they are, if the session continues another; null for `createdAt`. */
  authenticatedAt: integer('authenticated_at'),
});

export const KEY_ACCESS = ['read', 'full'] as const;

export const apiKeys = sqliteTable('api_keys', {
  id: text().primaryKey(),
  tokenHash: blob('token_hash', { mode: 'buffer' }).notNull(),
  prefix: text().notNull(),
  name: text().notNull(),
  access: text({ enum: KEY_ACCESS }).notNull(),
  workspaceId: text('workspace_id')
    .notNull()
    .references(() => workspaces.id),
  /** Null for a workspace key. */
  applicationId: text('application_id').references(() => applications.id),
  /** Applications that a workspace key is limited to; null for the whole workspace. */
  applicationIds: text('application_ids', { mode: 'json' }).$type<string[]>(),
  /** The membership of the key's synthetic principal, or of a personal key's owner. */
  applicationUserId: text('application_user_id')
    .notNull()
    .references(() => applicationUsers.id),
  source: text().notNull(),
  perMinute: integer('per_minute').notNull(),
  perDay: integer('per_day').notNull(),
  expiresAt: integer('expires_at'),
  revokedAt: integer('revoked_at'),
  rotatedToId: text('rotated_to_id'),
  gracePeriodEndsAt: integer('grace_period_ends_at'),
  lastUsedAt: integer('last_used_at'),
  /** When the key was found expired or past its grace period: final, even if the clock goes back. */
  endedAt: integer('ended_at'),
  /** For personal keys: the application's epoch at creation. */
  epoch: integer().notNull().default(0),
  /** The personal key that created this key, directly or through another key. This key ends with it. */
  deviceKeyId: text('device_key_id'),
  createdByUserId: text('created_by_user_id').references(() => users.id),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Tokens that a rotation replaced without a grace period. */
export const retiredKeyTokens = sqliteTable('retired_key_tokens', {
  tokenHash: blob('token_hash', { mode: 'buffer' }).primaryKey(),
  apiKeyId: text('api_key_id')
    .notNull()
    .references(() => apiKeys.id),
  retiredAt: integer('retired_at').notNull(),
});

export const codeChallenges = sqliteTable('code_challenges', {
  id: text().primaryKey(),
  purpose: text().notNull(),
  applicationId: text('application_id')
    .notNull()
    .references(() => applications.id),
  email: text().notNull(),
  codeDigest: blob('code_digest', { mode: 'buffer' }).notNull(),
  wrongTries: integer('wrong_tries').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  consumedAt: integer('consumed_at'),
  droppedAt: integer('dropped_at'),
  /** Payload of the code where the purpose alone is not enough. */
  data: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  /** The only session that may redeem the code; null if any may. */
  sessionId: text('session_id'),
  applicationEpoch: integer('application_epoch').notNull().default(0),
});

export const codeFailures = sqliteTable('code_failures', {
  id: integer().primaryKey(),
  applicationId: text('application_id').notNull(),
  email: text().notNull(),
  purpose: text().notNull(),
  failedAt: integer('failed_at').notNull(),
  addressBlock: text('address_block'),
  /** The browser that had recognized the person; null if none had. */
  browser: text(),
});

export const setupLinks = sqliteTable('setup_links', {
  tokenHash: blob('token_hash', { mode: 'buffer' }).primaryKey(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  consumedAt: integer('consumed_at'),
});
